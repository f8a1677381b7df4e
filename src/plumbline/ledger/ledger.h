// SPDX-License-Identifier: Apache-2.0
// The ledger: runs are added and read; nothing in it is changed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/ledger/connection.h"
#include "plumbline/ledger/record.h"
#include "plumbline/table/kernel_table.h"

namespace plumbline::ledger {

/// Runs to be added together, with the documents that they name.
struct Batch {
  std::vector<RunRecord> runs;
  std::map<std::string, std::string> documents;  ///< hash → content
  /// Documents that were collected where the runs come from: hash → bytes.
  std::map<std::string, std::int64_t> collected;

  /// Keeps `content` and gives its hash.
  std::string put(std::string content);
};

/// Where the runs of a batch went.
struct Added {
  std::vector<std::int64_t> ids;  ///< of each run, in order
  std::size_t already = 0;        ///< runs that were there before
};

/// A run as it stands in a list.
struct RunLine {
  std::int64_t id = 0;
  std::string ident;
  std::string card;
  std::string made_at;
  std::string name;
  std::string outcome;
  std::int64_t series = 0;
  std::int64_t code = 0;
  std::optional<double> gate, raw_ratio, raw_low, raw_high, credited_ratio, student_ms, ref_ms;
  std::optional<std::int64_t> corrects;
  std::optional<std::int64_t> corrected_by;
  std::optional<std::int64_t> student_table;  ///< part
  std::string note;
};

/// A whole run.
struct StoredRun {
  std::int64_t id = 0;
  std::int64_t series = 0;
  std::int64_t code = 0;
  RunRecord record;
  std::optional<std::int64_t> corrected_by;
  std::string digest;  ///< as it was written: 32 bytes
};

/// A large document.
struct Document {
  std::string hash;
  std::int64_t bytes = 0;
  bool collected = false;              ///< gc has taken its content
  std::optional<std::string> content;  ///< none when collected or damaged
};

/// Which runs.
struct RunFilter {
  std::string card;     ///< "" for every card
  std::string outcome;  ///< "" for every outcome
  std::optional<std::int64_t> series;
  std::optional<std::int64_t> code;
  std::optional<std::int64_t> before;  ///< ids below this
  bool readings_only = false;          ///< measured and not corrected by a later row
  std::size_t most = 20;               ///< the last so many
};

/// One kernel of a banked table.
struct BankedKernel {
  std::string identity;
  std::int64_t launches = 0;
  double ns = 0;  ///< of one call where the table knows its calls
};

/// An open ledger.
class Ledger {
 public:
  /// A file, or the URL of a PostgreSQL database; with Access::write it is made or migrated. Errors: those of
  /// the connection; ledger-newer, ledger-older, ledger-foreign.
  static Parsed<Ledger> open(const std::string& where, Access access);

  /// Adds all of it in one transaction, or nothing. A run that is there already is counted and left.
  /// Errors: ledger-run-differs, ledger-run-missing (one that is corrected), ledger-part-missing.
  Parsed<Added> add(const Batch& batch);

  /// The runs, newest first.
  Parsed<std::vector<RunLine>> list(const RunFilter& filter);
  /// A run by its number, ident (or its beginning), name, or "last". `card` narrows names and "last".
  /// Errors: ledger-run-missing, ledger-run-ambiguous.
  Parsed<StoredRun> find(const std::string& what, const std::string& card = {});
  Parsed<StoredRun> load(std::int64_t id);
  /// The documents of a run: those of kParts by kind, files by "code:PATH".
  Parsed<Document> document(const std::string& hash);
  /// The kernels of a table, longest first.
  Parsed<std::vector<BankedKernel>> kernels(std::int64_t table_part, std::size_t most = 1000);
  Parsed<std::vector<Reading>> readings(std::int64_t run);
  Parsed<Series> series(std::int64_t id);
  /// Runs of a card by series, most first, without the series `except`. From 100,000 on they are not counted
  /// further.
  struct SeriesCount {
    std::int64_t series = 0;
    std::int64_t runs = 0;
  };
  Parsed<std::vector<SeriesCount>> series_of(const std::string& card, std::int64_t except = 0);

  /// The numbers of all runs above `after`, ascending, at most `most`.
  Parsed<std::vector<std::int64_t>> ids_after(std::int64_t after, std::size_t most);
  Parsed<std::int64_t> count();

  Connection& connection() { return *connection_; }
  const std::string& where() const { return where_; }

 private:
  explicit Ledger(std::unique_ptr<Connection> connection, std::string where)
      : connection_(std::move(connection)), where_(std::move(where)) {}

  std::int64_t intern(const std::string& key, const char* select, const char* insert,
                      std::initializer_list<Param> values);
  std::int64_t part_id(const std::string& hash);
  bool put_documents(const Batch& batch, const std::map<std::string, std::string>& packed);
  void put_kernels(std::int64_t part, const std::string& content);
  std::int64_t code_id(const Code& code);
  std::optional<std::int64_t> insert_run(const RunRecord& record, Added& added);
  Diagnostics failed_now();

  std::unique_ptr<Connection> connection_;
  std::string where_;
  std::unordered_map<std::string, std::int64_t> known_;  ///< what was interned, for this process
};

/// A path or a URL as it may be shown: a URL without its password.
std::string shown_place(const std::string& where);

}  // namespace plumbline::ledger
