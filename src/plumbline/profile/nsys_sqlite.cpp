// SPDX-License-Identifier: Apache-2.0
// Nsight Systems' SQLite export, schemas 2.9 to 3.x, streamed. nsys_ranges says which launches count; this
// file reads the kernels, the copies, and what the profiler says it lost.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/profile/collect.h"
#include "plumbline/profile/database.h"
#include "plumbline/profile/graph_replays.h"
#include "plumbline/profile/importers.h"
#include "plumbline/profile/nsys_ranges.h"

namespace plumbline::profile {
namespace {

constexpr const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
class NsysReader {
 public:
  NsysReader(const std::string& path, const ImportOptions& options, Database database)
      : path_(path),
        options_(options),
        db_(std::move(database)),
        collector_("nsys-sqlite", path, options),
        ranges_(path, options) {
    collector_.set_sees_copies(true);
  }

  Parsed<KernelTable> read() {
    if (!check_schema()) return {std::nullopt, std::move(diagnostics_)};
    if (auto problem = ranges_.read(db_, collector_)) return failed<KernelTable>(std::move(*problem));
    read_devices();
    if (!read_kernels()) return {std::nullopt, std::move(diagnostics_)};
    read_graphs();
    read_copies("CUPTI_ACTIVITY_KIND_MEMCPY", &Group::memcpy);
    read_copies("CUPTI_ACTIVITY_KIND_MEMSET", &Group::memset);
    const bool complete = report_absence();
    read_losses(complete);
    if (collector_.account().rows == 0) {
      return failed<KernelTable>(
          diagnose("import-no-kernels", "the export holds no CUDA kernels: was --trace=cuda on?", {path_}));
    }
    Parsed<KernelTable> table = collector_.finish();
    table.diagnostics.insert(table.diagnostics.begin(), diagnostics_.begin(), diagnostics_.end());
    return table;
  }

 private:
  bool fail(Diagnostic diagnostic) {
    diagnostics_.push_back(std::move(diagnostic));
    return false;
  }

  bool check_schema() {
    std::string table = db_.has_table("META_DATA_EXPORT") ? "META_DATA_EXPORT" : "EXPORT_META_DATA";
    if (db_.has_table("StringTable") && db_.has_table("Version")) {
      return fail(
          diagnose("nsys-schema",
                   "a profile of nvprof or the Visual Profiler: print it first (nvprof --import-profile FILE "
                   "--print-gpu-trace --csv)",
                   {path_}));
    }
    if (!db_.has_table("StringIds") || (!db_.has_table(table) && !db_.has_table(kKernels))) {
      return fail(diagnose("nsys-schema", "an SQLite file, but no export of Nsight Systems", {path_}));
    }
    if (!db_.has_table(table)) {
      collector_.note("the export lacks its metadata: its schema is taken for one of 2.x or 3.x");
      return true;
    }
    auto rows = db_.query("SELECT value FROM " + table + " WHERE name = 'EXPORT_SCHEMA_VERSION'");
    const std::string version = rows && rows->next() ? std::string(rows->text(0)) : std::string();
    const auto major = parse_int(version.substr(0, version.find('.')));
    if (!major || *major < 2 || *major > 3) {
      return fail(diagnose(
          "nsys-schema",
          fmt::format("schema version \"{}\"; this version reads 2.x and 3.x", printable(version)), {path_}));
    }
    return true;
  }

  void read_devices() {
    if (!db_.has_table("TARGET_INFO_GPU")) return;
    std::map<std::int64_t, std::int64_t> cuda_ids;  // of a GPU; a process may number them otherwise
    if (db_.has_table("TARGET_INFO_CUDA_DEVICE")) {
      auto rows = db_.query("SELECT gpuId, cudaId FROM TARGET_INFO_CUDA_DEVICE");
      while (rows && rows->next()) cuda_ids.emplace(rows->integer(1), rows->integer(0));
    }
    std::map<std::int64_t, std::string> names;
    auto rows = db_.query("SELECT id, name FROM TARGET_INFO_GPU");
    while (rows && rows->next()) names.emplace(rows->integer(0), printable(rows->text(1)));
    for (const auto& [id, name] : names) {
      if (cuda_ids.empty()) collector_.set_device_name(id, name);
    }
    for (const auto& [cuda, gpu] : cuda_ids) {
      const auto name = names.find(gpu);
      if (name != names.end()) collector_.set_device_name(cuda, name->second);
    }
  }

  std::string string_of(std::int64_t id) {
    auto rows = db_.query("SELECT value FROM StringIds WHERE id = ?");
    if (!rows) return {};
    rows->restart(id);
    return rows->next() ? std::string(rows->text(0)) : std::string();
  }

  std::optional<std::uint32_t> name_of(std::int64_t id) {
    const auto [it, fresh] = names_.try_emplace(id);
    if (fresh) {
      const std::string text = string_of(id);
      if (!text.empty()) it->second = collector_.name_id(text);
    }
    return it->second;
  }

  bool read_kernels() {
    if (!db_.has_table(kKernels)) return true;
    const std::set<std::string> have = db_.columns(kKernels);
    const char* name = have.count("demangledName") != 0 ? "demangledName" : "shortName";
    for (const char* column : {"start", "end", "deviceId", "streamId", name}) {
      if (have.count(column) == 0)
        return fail(diagnose("nsys-schema", fmt::format("{} has no column {}", kKernels, column), {path_}));
    }
    const auto column_or_null = [&](const char* column) { return have.count(column) != 0 ? column : "NULL"; };
    auto rows = db_.query(fmt::format("SELECT start, end, deviceId, streamId, {}, {}, {}, {} FROM {}", name,
                                      column_or_null("globalPid"), column_or_null("correlationId"),
                                      column_or_null("graphNodeId"), kKernels));
    if (!rows)
      return fail(db_.error().value_or(diagnose("nsys-schema", "the kernels cannot be read", {path_})));
    const auto all = static_cast<std::uint64_t>(db_.row_count(kKernels));
    Group* group = nullptr;
    std::pair<std::int64_t, std::int64_t> key{INT64_MIN, INT64_MIN};
    RowAccount& account = collector_.account();
    while (rows->next()) {
      if ((++account.rows & 0xFFFF) == 0 && options_.progress)
        options_.progress(static_cast<std::uint64_t>(account.rows), all);
      const std::int64_t start = rows->integer(0);
      std::int64_t duration = 0;
      const std::pair own(rows->is_integer(5) ? nsys_process(rows->integer(5)) : kUnknownId,
                          rows->integer(2));
      if (rows->is_integer(6)) ranges_.ran(own.first, rows->integer(6));
      if (!ranges_.counts(own.first, rows->integer(6))) {
        ++account.ignored;
        continue;
      }
      if (rows->is_integer(7) && rows->integer(7) != 0)
        graphs_.ran(own.first, rows->integer(6), rows->integer(7));
      const auto kernel = name_of(rows->integer(4));
      if (!kernel || !rows->is_integer(0) || !rows->is_integer(1) ||
          __builtin_sub_overflow(rows->integer(1), start, &duration) || duration < 0 ||
          duration > kLongestNs) {
        drop(account.rows, kernel ? "no end, or one before its start" : "its name is not in StringIds");
        continue;
      }
      if (own != key) {
        key = own;
        group = &collector_.group(own.first, own.second);
        if (group->timeline.empty()) group->timeline.reserve(std::min<std::uint64_t>(all, 1U << 22));
      }
      Launch launch;
      launch.name = *kernel;
      launch.time_ps = duration * 1000;
      launch.stream = rows->integer(3);
      if (!collector_.add_timed(*group, launch, start, duration)) {
        drop(account.rows, "a sum of durations is over 100 days");
        continue;
      }
      ++group->kept_rows;
      ++account.kept;
    }
    if (const auto error = db_.error()) return fail(*error);
    if (const std::string partial = graphs_.describe_partial(); !partial.empty()) collector_.doubt(partial);
    ranges_.describe(collector_);
    return true;
  }

  void drop(std::int64_t row, const char* why) {
    collector_.drop(
        diagnose("import-row-dropped", fmt::format("row {} of {}: {}", row, kKernels, why), {path_}));
  }

  /// Graphs that were traced as a whole: their kernels ran and are not in the file.
  void read_graphs() {
    constexpr const char* kGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
    if (!db_.has_table(kGraphs)) return;
    const std::set<std::string> have = db_.columns(kGraphs);
    const bool joined = have.count("correlationId") != 0 && have.count("globalPid") != 0;
    auto rows =
        db_.query(fmt::format("SELECT {} FROM {}", joined ? "globalPid, correlationId" : "0, 0", kGraphs));
    std::int64_t graphs = 0;
    while (rows && rows->next()) {
      ++graphs;
      if (joined) ranges_.ran(nsys_process(rows->integer(0)), rows->integer(1));
    }
    if (graphs == 0) return;
    collector_.account().rows += graphs;
    collector_.account().ignored += graphs;
    collector_.lost(fmt::format(
        "{} launches of CUDA graphs were traced as a whole, their kernels are not in the file: record with "
        "--cuda-graph-trace=node",
        graphs));
  }

  void read_copies(const char* table, CopySums Group::*member) {
    if (!db_.has_table(table)) return;
    const bool has_process = db_.columns(table).count("globalPid") != 0;
    auto rows = db_.query(fmt::format("SELECT end - start, deviceId, {}, correlationId FROM {}",
                                      has_process ? "globalPid" : "NULL", table));
    while (rows && rows->next()) {
      ++collector_.account().rows;
      ++collector_.account().ignored;
      const std::int64_t process = rows->is_integer(2) ? nsys_process(rows->integer(2)) : kUnknownId;
      const std::int64_t duration = rows->integer(0);
      ranges_.ran(process, rows->integer(3));
      if (duration < 0 || duration > kLongestNs || !ranges_.counts(process, rows->integer(3))) continue;
      add_copy(collector_.group(process, rows->integer(1)).*member, duration);
    }
  }

  /// Launches without kernels, and kernels without launches, of the processes that have kernels. True when
  /// every launch has its kernel: a general warning then says nothing more.
  bool report_absence() {
    bool known = false;
    bool complete = true;
    for (const auto& [process, records] : ranges_.records()) {
      const LaunchRecords::Absent absent = records.absent();
      if (options_.process && *options_.process != process) continue;
      known = known || (absent.launches > 0 && collector_.has_process(process));
      if (const std::string missing = describe_missing(absent); !missing.empty()) {
        collector_.lost(missing);
        complete = false;
      }
      if (const std::string early = describe_early(absent); !early.empty() && options_.range.empty())
        collector_.doubt(early);
    }
    return known && complete;
  }

  /// What the profiler says of itself. Lost events of a process without kernels do not matter.
  void read_losses(bool complete) {
    if (!db_.has_table("DIAGNOSTIC_EVENT")) return;
    const bool has_process = db_.columns("DIAGNOSTIC_EVENT").count("globalPid") != 0;
    auto rows = db_.query(
        fmt::format("SELECT severity, text, {} FROM DIAGNOSTIC_EVENT", has_process ? "globalPid" : "NULL"));
    std::set<std::string> reported;
    while (rows && rows->next()) {
      const std::string text(rows->text(1));
      const std::string lower = to_lower(text);
      const auto has = [&](std::string_view word) { return lower.find(word) != std::string::npos; };
      const bool missing = has("not all") || has("lost") || has("dropped") || has("discarded");
      const bool cuda = has("cuda") || has("cupti") || has("gpu");
      const bool nvtx = has("nvtx") && !options_.range.empty();
      if (!missing || (!cuda && !nvtx) || rows->integer(0) == 1) continue;
      if (const auto process = rows->maybe_integer(2);
          process && !collector_.has_process(nsys_process(*process)))
        continue;
      const bool general = has("might") || has(" may ");
      if (!reported.insert(text).second) continue;
      if (general && complete && !nvtx) {
        collector_.note("Nsight Systems warned (" + printable(cut_middle(text, 160)) +
                        "); every launch has its kernel");
        continue;
      }
      collector_.lost("Nsight Systems said: " + printable(cut_middle(text, 160)));
    }
  }

  const std::string& path_;
  const ImportOptions& options_;
  Database db_;
  Collector collector_;
  Diagnostics diagnostics_;
  NsysRanges ranges_;
  GraphReplays graphs_;
  std::unordered_map<std::int64_t, std::optional<std::uint32_t>> names_;
};

/// Any database that is not another importer's: what it lacks is said then.
bool detect(std::string_view head, const std::string& path) {
  return head.starts_with(kSqliteMagic) && !sqlite_holds(head, path, "rocpd_");
}

Parsed<KernelTable> parse(const std::string& path, const ImportOptions& options) {
  auto database = Database::open(path);
  if (!database.ok()) return {std::nullopt, std::move(database.diagnostics)};
  return NsysReader(path, options, std::move(*database.value)).read();
}

}  // namespace

const Importer kNsysSqlite = {"nsys-sqlite", "Nsight Systems SQLite export (nsys export --type sqlite)",
                              detect, parse, true};

}  // namespace plumbline::profile
