// SPDX-License-Identifier: Apache-2.0
// Rows of a table of launches, or of a summary by kernel, however the table is printed: where its columns
// stand, what a row gives, and what must hold between its fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "plumbline/profile/cells.h"
#include "plumbline/profile/collect.h"

namespace plumbline::profile {

/// Where the columns of a table stand; kAbsent for what it lacks.
struct TableColumns {
  static constexpr std::size_t kAbsent = std::numeric_limits<std::size_t>::max();
  std::size_t fields = 0;  ///< a row has as many
  std::size_t name = kAbsent;
  std::size_t start = kAbsent, end = kAbsent, duration = kAbsent;                     ///< of one launch
  std::size_t total = kAbsent, calls = kAbsent, average = kAbsent;                    ///< of all of a kernel
  std::size_t low = kAbsent, high = kAbsent, share = kAbsent;                         ///< share in percent
  std::size_t device = kAbsent, process = kAbsent, stream = kAbsent, kind = kAbsent;  ///< as text
  std::size_t id = kAbsent;        ///< of a launch, in its process
  std::size_t grid = kAbsent;      ///< a summary with it has a kernel's rows by grid
  std::string_view kernels;        ///< what `kind` says of a kernel; rows of another are ignored
  bool one_row_an_id = false;      ///< a launch's id stands once: a second row of it is another file's
  bool rows_of_counters = false;   ///< a launch has a row a counter: the first one stands for it
  bool grouped = false;            ///< commas group thousands (tables printed for people)
  std::optional<Unit> clock_unit;  ///< of start and end
  std::optional<Unit> time_unit;   ///< of the others
  std::optional<Unit> average_unit, low_unit, high_unit;  ///< where they have units of their own
  bool shares_of_kernels = false;  ///< the shares of the kernels sum to 100 %, not those of all rows

  bool launches() const {
    return name != kAbsent && start != kAbsent && (duration != kAbsent || end != kAbsent);
  }
  bool summary() const { return name != kAbsent && total != kAbsent && calls != kAbsent; }
};

/// "Total Time (ns)" is the column "Total Time" in "ns".
struct TitledColumn {
  std::string_view title;
  std::string_view unit;
};
TitledColumn titled_column(std::string_view header);

/// Whole numbers seen so far; about a byte each where they follow each other.
class IdSet {
 public:
  /// False when `id` was inserted before.
  bool insert(std::int64_t id);

 private:
  std::unordered_map<std::int64_t, std::uint64_t> chunks_;  ///< 64 ids, one bit each
  std::int64_t last_ = std::numeric_limits<std::int64_t>::min();
  std::uint64_t* last_chunk_ = nullptr;
};

/// Takes the rows of one table into a Collector, each kept, dropped or ignored.
class TableRows {
 public:
  TableRows(Collector& collector, const std::string& path) : collector_(collector), path_(path) {}

  /// The columns from here on. Errors: unit-unknown (its times have no unit of time).
  std::optional<Diagnostic> begin(const TableColumns& columns, int line);

  /// One row. `process` is the table's, where its rows do not name one. Errors: csv-fields (a field too few,
  /// one that cannot be, fields that contradict each other), number-locale, import-rows-twice.
  std::optional<Diagnostic> take(std::span<const std::string_view> fields, int line,
                                 std::int64_t process = kUnknownId);

  /// What only the whole table tells: shares that do not sum to 100 %, a last row that is cut (`open_end`: no
  /// line end stands behind it), a clock too coarse for busy time.
  void finish(bool open_end, int line);

 private:
  /// When a launch ran, as far as its row says.
  struct Times {
    std::optional<std::int64_t> start;        ///< ns
    std::optional<std::int64_t> duration_ps;  ///< negative or absent: the row is dropped
  };
  std::optional<Diagnostic> read_times(std::span<const std::string_view> fields, int line, Times& times);
  std::optional<Diagnostic> thousands_or_fraction(int line) const;
  std::optional<Diagnostic> keep(Group& group, const Launch& launch, bool added, int line);
  std::optional<Diagnostic> take_launch(std::span<const std::string_view> fields, int line,
                                        std::int64_t process);
  std::optional<Diagnostic> take_sums(std::span<const std::string_view> fields, int line,
                                      std::int64_t process);
  std::optional<Diagnostic> wrong(std::string what, int line) const;
  /// A number with a decimal dot, times 10^power, as a whole one.
  std::optional<std::int64_t> scaled(std::string_view cell, int power) const;
  std::optional<std::int64_t> clock(std::string_view cell);  ///< in ns
  /// In ps; `unit` where the column has its own.
  std::optional<std::int64_t> duration(std::string_view cell, const std::optional<Unit>& unit = {});
  void take_share(std::span<const std::string_view> fields);
  void check_shares(int line);
  std::optional<double> plain(std::string_view cell) const;
  std::int64_t process_of(std::span<const std::string_view> fields, std::int64_t process);
  std::int64_t device_of(std::span<const std::string_view> fields);
  /// The fields of a row whose last one is a name with commas that nobody quoted: "f(int, int)".
  std::span<const std::string_view> joined(std::span<const std::string_view> fields);
  bool seen_before(std::span<const std::string_view> fields, std::int64_t process);
  std::string_view cell(std::span<const std::string_view> fields, std::size_t column) const;

  Collector& collector_;
  const std::string& path_;
  TableColumns columns_;
  std::vector<std::string_view> joined_;
  int clock_power_ = 0;  ///< of ten: the clock's unit in ns
  int time_power_ = 0;   ///< of ten: the times' unit in ps
  bool open_ = false;    ///< a time of this row may be thousands or a fraction
  std::map<std::string, std::int64_t, std::less<>> devices_;
  std::unordered_set<std::string> rows_;  ///< of a summary: kernel and grid
  std::map<std::int64_t, IdSet> ids_;     ///< of launches, by process
  std::optional<std::uint32_t> last_;     ///< name id of the last row
  double shares_ = 0;
  std::int64_t shared_rows_ = 0;
  std::optional<int> lacking_;  ///< digits that the finest start lacks to the nanosecond
};

}  // namespace plumbline::profile
