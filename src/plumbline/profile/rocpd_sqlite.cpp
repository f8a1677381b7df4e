// SPDX-License-Identifier: Apache-2.0
// rocprofv3's databases (rocpd, *_results.db): dispatches joined to their kernels' symbols. Each process's
// tables end in its own id ("rocpd_kernel_dispatch_0000…"). Schema 3 has the times in the dispatch, schema 4
// in rocpd_timestamp.
#include <fmt/format.h>

#include <set>
#include <unordered_map>

#include "plumbline/base/text.h"
#include "plumbline/profile/collect.h"
#include "plumbline/profile/database.h"
#include "plumbline/profile/importers.h"

namespace plumbline::profile {
namespace {

constexpr std::string_view kDispatches = "rocpd_kernel_dispatch";

/// What the tables of a database end in, one a process.
std::vector<std::string> suffixes(const Database& db) {
  std::vector<std::string> out;
  for (const std::string& table : db.tables()) {
    if (table.starts_with(kDispatches)) out.push_back(table.substr(kDispatches.size()));
  }
  return out;
}

class RocpdReader {
 public:
  RocpdReader(const std::string& path, const ImportOptions& options, Database database)
      : path_(path), options_(options), db_(std::move(database)), collector_("rocpd", path, options) {
    collector_.set_sees_copies(true);
  }

  Parsed<KernelTable> read() {
    if (!options_.range.empty()) {
      return failed<KernelTable>(diagnose(
          "import-no-ranges", "the ranges of a rocpd database are not read: leave out --range", {path_}));
    }
    for (const std::string& suffix : suffixes(db_)) {
      if (auto problem = read_process(suffix)) return failed<KernelTable>(std::move(*problem));
    }
    if (collector_.account().kept == 0 && collector_.account().dropped == 0) {
      return failed<KernelTable>(
          diagnose("import-no-kernels",
                   "the database holds no kernel dispatches: was rocprofv3 --kernel-trace on?", {path_}));
    }
    return collector_.finish();
  }

 private:
  Diagnostic schema(const std::string& what) const { return diagnose("rocpd-schema", what, {path_}); }

  std::optional<Diagnostic> read_process(const std::string& suffix) {
    const std::string dispatches = std::string(kDispatches) + suffix;
    const std::string symbols = "rocpd_info_kernel_symbol" + suffix;
    if (!db_.has_table(symbols)) return schema(fmt::format("{} is missing", symbols));
    const std::set<std::string> have = db_.columns(dispatches);
    const auto known = db_.columns(symbols);
    // The demangled name is the display name; of an old schema only the symbol.
    const char* name = known.count("display_name") != 0 ? "display_name" : "kernel_name";
    if (known.count(name) == 0 || have.count("kernel_id") == 0) return schema("the kernels have no names");
    read_names(symbols, name);
    read_devices(suffix);
    const bool timed = have.count("start") != 0 && have.count("end") != 0;
    const std::string stamps = "rocpd_timestamp" + suffix;
    const std::string tracks = "rocpd_track" + suffix;
    const auto own = [&](const char* column) {
      return have.count(column) != 0 ? fmt::format("d.\"{}\"", column) : std::string("NULL");
    };
    std::string query;
    if (timed) {
      query = fmt::format("SELECT d.start, d.\"end\", d.kernel_id, {}, {}, {} FROM \"{}\" d", own("pid"),
                          own("agent_id"), have.count("stream_id") != 0 ? own("stream_id") : own("queue_id"),
                          dispatches);
    } else if (db_.has_table(stamps) && db_.has_table(tracks) && have.count("start_id") != 0 &&
               have.count("track_id") != 0) {
      const std::set<std::string> of_track = db_.columns(tracks);
      const auto track = [&](const char* column) {
        return of_track.count(column) != 0 ? fmt::format("t.\"{}\"", column) : std::string("NULL");
      };
      query = fmt::format(
          "SELECT b.value, e.value, d.kernel_id, {}, {}, {} FROM \"{}\" d LEFT JOIN \"{}\" b ON b.id = "
          "d.start_id LEFT "
          "JOIN \"{}\" e ON e.id = d.end_id LEFT JOIN \"{}\" t ON t.id = d.track_id",
          track("pid"), track("agent_id"),
          of_track.count("stream_id") != 0 ? track("stream_id") : track("queue_id"), dispatches, stamps,
          stamps, tracks);
    } else {
      return schema("the dispatches have no times; schemas 3 and 4 are read");
    }
    if (auto problem = read_dispatches(query, dispatches)) return problem;
    read_copies("rocpd_memory_copy" + suffix);
    return std::nullopt;
  }

  void read_names(const std::string& table, const char* column) {
    names_.clear();
    auto rows = db_.query(fmt::format("SELECT id, \"{}\" FROM \"{}\"", column, table));
    while (rows && rows->next()) {
      if (!rows->text(1).empty()) names_.emplace(rows->integer(0), collector_.name_id(rows->text(1)));
    }
  }

  /// Agents by id: "name" is the chip ("gfx942"), "product_name" the card.
  void read_devices(const std::string& suffix) {
    const std::string table = "rocpd_info_agent" + suffix;
    if (!db_.has_table(table)) return;
    const std::set<std::string> have = db_.columns(table);
    const char* name = have.count("product_name") != 0 ? "product_name" : "name";
    if (have.count(name) == 0) return;
    auto rows = db_.query(fmt::format("SELECT id, \"{}\" FROM \"{}\"", name, table));
    while (rows && rows->next()) collector_.set_device_name(rows->integer(0), printable(rows->text(1)));
  }

  std::optional<Diagnostic> read_dispatches(const std::string& query, const std::string& table) {
    auto rows = db_.query(query);
    if (!rows) return db_.error().value_or(schema("the dispatches cannot be read"));
    const auto all = static_cast<std::uint64_t>(db_.row_count(table));
    RowAccount& account = collector_.account();
    std::int64_t row = 0;
    while (rows->next()) {
      ++account.rows;
      if ((++row & 0xFFFF) == 0 && options_.progress) options_.progress(static_cast<std::uint64_t>(row), all);
      const auto name = names_.find(rows->integer(2));
      const auto start = rows->maybe_integer(0);
      const auto end = rows->maybe_integer(1);
      std::int64_t duration = -1;
      if (name == names_.end() || !start || !end || __builtin_sub_overflow(*end, *start, &duration) ||
          duration < 0 || duration > kLongestNs) {
        collector_.drop(diagnose("import-row-dropped",
                                 fmt::format("row {} of {}: {}", row, table,
                                             name == names_.end() ? "its kernel has no symbol"
                                                                  : "no end, or one before its start"),
                                 {path_}));
        continue;
      }
      Launch launch;
      launch.name = name->second;
      launch.time_ps = duration * 1000;
      launch.stream = rows->maybe_integer(5);
      Group& group = collector_.group(rows->maybe_integer(3).value_or(kUnknownId),
                                      rows->maybe_integer(4).value_or(kUnknownId));
      if (!collector_.add_timed(group, launch, *start, duration)) {
        collector_.drop(diagnose("import-row-dropped", "a sum of durations is over 100 days", {path_}));
        continue;
      }
      ++group.kept_rows;
      ++account.kept;
    }
    return db_.error();
  }

  void read_copies(const std::string& table) {
    if (!db_.has_table(table)) return;
    const std::set<std::string> have = db_.columns(table);
    if (have.count("start") == 0 || have.count("end") == 0 || have.count("pid") == 0 ||
        have.count("dst_agent_id") == 0)
      return;
    auto rows = db_.query(fmt::format("SELECT \"end\" - start, pid, dst_agent_id FROM \"{}\"", table));
    while (rows && rows->next()) {
      ++collector_.account().rows;
      ++collector_.account().ignored;
      const std::int64_t duration = rows->integer(0);
      if (duration < 0 || duration > kLongestNs) continue;
      add_copy(collector_.group(rows->integer(1), rows->integer(2)).memcpy, duration);
    }
  }

  const std::string& path_;
  const ImportOptions& options_;
  Database db_;
  Collector collector_;
  std::unordered_map<std::int64_t, std::uint32_t> names_;  ///< of a process's kernels
};

bool detect(std::string_view head, const std::string& path) { return sqlite_holds(head, path, kDispatches); }

Parsed<KernelTable> parse(const std::string& path, const ImportOptions& options) {
  auto database = Database::open(path);
  if (!database.ok()) return {std::nullopt, std::move(database.diagnostics)};
  if (suffixes(*database.value).empty()) {
    return failed<KernelTable>(
        diagnose("rocpd-schema", "an SQLite file, but no database of rocprofv3", {path}));
  }
  return RocpdReader(path, options, std::move(*database.value)).read();
}

}  // namespace

const Importer kRocpdSqlite = {"rocpd", "rocprofv3's database (rocpd, *_results.db)", detect, parse, true};

}  // namespace plumbline::profile
