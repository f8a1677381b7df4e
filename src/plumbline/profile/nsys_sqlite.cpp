// SPDX-License-Identifier: Apache-2.0
// Nsight Systems' SQLite export, schemas 2.9 to 3.x, streamed. A little over the usual length: one format,
// one file.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/profile/collect.h"
#include "plumbline/profile/database.h"
#include "plumbline/profile/importers.h"

namespace plumbline::profile {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* kRuntime = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr const char* kProfilerApi =
    "cudaProfilerApi";  ///< --range of this name: between profiler start and stop
constexpr std::int64_t kPushPop = 59;
constexpr std::int64_t kStartEnd = 60;
constexpr std::int64_t kDomain = 75;

/// Serialized ids hold the process in bits 24 to 47 and the thread below.
std::int64_t process_of(std::int64_t global_id) { return global_id / 0x1000000 % 0x1000000; }

/// A stretch in which launches count.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t process = kUnknownId;
  std::int64_t thread = kUnknownId;  ///< global id of the thread of a push/pop range; kUnknownId: any thread
};

/// A launch inside a range: its process, its correlation id, and the range's number.
struct InRange {
  std::int64_t process;
  std::int64_t correlation;
  std::size_t range;
  bool operator<(const InRange& other) const {
    return process != other.process ? process < other.process : correlation < other.correlation;
  }
};

class NsysReader {
 public:
  NsysReader(const std::string& path, const ImportOptions& options, Database database)
      : path_(path), options_(options), db_(std::move(database)), collector_("nsys-sqlite", path, options) {
    collector_.set_sees_copies(true);
  }

  Parsed<KernelTable> read() {
    if (!check_schema() || !read_ranges()) return {std::nullopt, std::move(diagnostics_)};
    read_devices();
    if (!read_kernels()) return {std::nullopt, std::move(diagnostics_)};
    read_graphs();
    read_copies("CUPTI_ACTIVITY_KIND_MEMCPY", &Group::memcpy);
    read_copies("CUPTI_ACTIVITY_KIND_MEMSET", &Group::memset);
    read_losses();
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
    if (!db_.has_table(table) || !db_.has_table("StringIds")) {
      return fail(diagnose("nsys-schema", "an SQLite file, but no export of Nsight Systems", {path_}));
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

  /// Finds the ranges that the options ask for, and the launches inside them.
  bool read_ranges() {
    const bool profiler = options_.range == kProfilerApi;
    if (options_.range.empty() || profiler) {
      read_profiler_calls();
      if (profiler && ranges_.empty()) {
        return fail(
            diagnose("import-no-such-range", "the export holds no call of cudaProfilerStart", {path_}));
      }
      collector_.set_region("profiler");
      if (ranges_.empty()) return true;
    } else if (!read_nvtx()) {
      return false;
    }
    return read_launches();
  }

  /// The stretches between cudaProfilerStart and cudaProfilerStop, when the whole program was recorded.
  void read_profiler_calls() {
    if (!db_.has_table(kRuntime)) return;
    auto rows = db_.query(fmt::format(
        "SELECT r.start, r.end, r.globalTid, s.value LIKE '%Start%' FROM {} r JOIN StringIds s ON s.id = "
        "r.nameId "
        "WHERE r.nameId IN (SELECT id FROM StringIds WHERE value LIKE 'cudaProfilerSt%' OR value LIKE "
        "'cuProfilerSt%') ORDER BY r.start",
        kRuntime));
    while (rows && rows->next()) {
      const std::int64_t process = process_of(rows->integer(2));
      const auto open = std::find_if(ranges_.rbegin(), ranges_.rend(), [&](const Range& range) {
        return range.process == process && range.end == INT64_MAX;
      });
      if (rows->integer(3) != 0) {
        if (open == ranges_.rend()) ranges_.push_back({rows->integer(1), INT64_MAX, process, kUnknownId});
      } else if (open != ranges_.rend()) {
        open->end = rows->integer(0);
      }
    }
    profiler_region_ = !ranges_.empty();
  }

  bool read_nvtx() {
    const std::size_t split = options_.range.rfind('@');
    const bool has_domain = split != std::string::npos && split > 0;
    const std::string wanted = options_.range.substr(0, has_domain ? split : std::string::npos);
    const std::string domain = has_domain ? options_.range.substr(split + 1) : std::string();
    if (!db_.has_table("NVTX_EVENTS"))
      return fail(diagnose("import-no-ranges", "the export holds no NVTX events", {path_}));
    std::map<std::pair<std::int64_t, std::int64_t>, std::string> domains;  // (process, domain id)
    auto rows = db_.query(
        fmt::format("SELECT e.start, e.end, e.eventType, coalesce(e.text, s.value), e.globalTid, e.domainId "
                    "FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId "
                    "WHERE e.eventType IN ({}, {}, {}) ORDER BY e.eventType = {} DESC, e.start",
                    kPushPop, kStartEnd, kDomain, kDomain));
    if (!rows)
      return fail(db_.error().value_or(diagnose("nsys-schema", "NVTX_EVENTS lacks columns", {path_})));
    std::set<std::string> known;
    std::int64_t open_ended = 0;
    while (rows->next()) {
      const std::int64_t process = process_of(rows->integer(4));
      const std::string text(rows->text(3));
      if (rows->integer(2) == kDomain) {
        domains[{process, rows->integer(5)}] = text;
        continue;
      }
      if (known.size() < 100) known.insert(text);
      if (text != wanted) continue;
      if (has_domain) {
        const auto name = domains.find({process, rows->integer(5)});
        const std::string own = name != domains.end() ? name->second : rows->integer(5) == 0 ? "default" : "";
        if (own != domain) continue;
      }
      const auto end = rows->maybe_integer(1);
      if (!end) {
        ++open_ended;
        continue;
      }
      ranges_.push_back(
          {rows->integer(0), *end, process, rows->integer(2) == kPushPop ? rows->integer(4) : kUnknownId});
    }
    if (const auto error = db_.error()) return fail(*error);
    if (open_ended > 0) {
      collector_.note(fmt::format(
          "{} instances of the range were still open when the recording stopped: left out", open_ended));
    }
    if (ranges_.empty()) {
      std::string list;
      for (const std::string& name : known) {
        if (list.size() < 300) list += (list.empty() ? "" : ", ") + printable(cut_middle(name, 60));
      }
      return fail(known.empty() ? diagnose("import-no-ranges", "the export holds no NVTX ranges", {path_})
                                : diagnose("import-no-such-range",
                                           fmt::format("no NVTX range \"{}\"; the export has {}",
                                                       printable(options_.range), list),
                                           {path_}));
    }
    collector_.set_region("nvtx:" + options_.range);
    return true;
  }

  /// Kernels belong to the range in which they were launched; they run later. A push/pop range is its
  /// thread's.
  bool read_launches() {
    if (!db_.has_table(kRuntime)) {
      return fail(diagnose("import-no-ranges",
                           "the export holds no CUDA API calls, so that no kernel can be placed in a range",
                           {path_}));
    }
    std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    std::vector<std::int64_t> reach;
    for (const Range& range : ranges_)
      reach.push_back(reach.empty() ? range.end : std::max(reach.back(), range.end));
    auto rows = db_.query(fmt::format(
        "SELECT start, globalTid, correlationId FROM {} WHERE correlationId IS NOT NULL", kRuntime));
    while (rows && rows->next()) {
      const std::int64_t at = rows->integer(0);
      const std::int64_t thread = rows->integer(1);
      const auto behind =
          std::upper_bound(ranges_.begin(), ranges_.end(), at,
                           [](std::int64_t t, const Range& range) { return t < range.begin; });
      bool elsewhere = false;
      for (auto i = static_cast<std::size_t>(behind - ranges_.begin()); i > 0 && at < reach[i - 1]; --i) {
        const Range& range = ranges_[i - 1];
        if (at >= range.end || range.process != process_of(thread)) continue;
        if (range.thread != kUnknownId && range.thread != thread) {
          elsewhere = true;
          continue;
        }
        in_range_.push_back({process_of(thread), rows->integer(2), i - 1});
        elsewhere = false;
        break;
      }
      other_threads_ += elsewhere ? 1 : 0;
    }
    if (const auto error = db_.error()) return fail(*error);
    std::sort(in_range_.begin(), in_range_.end());
    entered_.assign(ranges_.size(), 0);
    return true;
  }

  /// Whether a kernel counts; marks the range that it belongs to.
  bool counts(std::int64_t process, std::int64_t correlation) {
    if (ranges_.empty()) return true;
    const InRange key{process, correlation, 0};
    const auto it = std::lower_bound(in_range_.begin(), in_range_.end(), key);
    if (it == in_range_.end() || key < *it) return false;
    entered_[it->range] = 1;
    return true;
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
    auto rows =
        db_.query(fmt::format("SELECT start, end, deviceId, streamId, {}, {}, {} FROM {}", name,
                              column_or_null("globalPid"), column_or_null("correlationId"), kKernels));
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
      const std::pair own(rows->is_integer(5) ? process_of(rows->integer(5)) : kUnknownId, rows->integer(2));
      if (!counts(own.first, rows->integer(6))) {
        ++account.ignored;
        continue;
      }
      const auto kernel = name_of(rows->integer(4));
      if (!kernel || !rows->is_integer(0) || !rows->is_integer(1) ||
          __builtin_sub_overflow(rows->integer(1), start, &duration) || duration < 0 ||
          duration > 8'640'000'000'000'000) {
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
    note_region();
    return true;
  }

  void drop(std::int64_t row, const char* why) {
    collector_.drop(
        diagnose("import-row-dropped", fmt::format("row {} of {}: {}", row, kKernels, why), {path_}));
  }

  void note_region() {
    if (ranges_.empty()) return;
    if (other_threads_ > 0 && !profiler_region_) {
      collector_.note(fmt::format(
          "{} CUDA calls of other threads meanwhile are not in a push/pop range, which is its thread's alone",
          other_threads_));
    }
    if (profiler_region_) {
      if (collector_.account().ignored == 0) return;
      collector_.note(fmt::format(
          "only the kernels launched between cudaProfilerStart and cudaProfilerStop: {} others are ignored",
          collector_.account().ignored));
    } else {
      collector_.set_range_instances(std::count(entered_.begin(), entered_.end(), 1));
    }
  }

  /// Graphs that were traced as a whole: their kernels ran and are not in the file.
  void read_graphs() {
    constexpr const char* kGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
    if (!db_.has_table(kGraphs)) return;
    auto rows = db_.query(fmt::format("SELECT count(*) FROM {}", kGraphs));
    const std::int64_t graphs = rows && rows->next() ? rows->integer(0) : 0;
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
      const std::int64_t process = rows->is_integer(2) ? process_of(rows->integer(2)) : kUnknownId;
      const std::int64_t duration = rows->integer(0);
      if (duration < 0 || duration > 8'640'000'000'000'000 || !counts(process, rows->integer(3))) continue;
      CopySums& sums = collector_.group(process, rows->integer(1)).*member;
      ++sums.count;
      if (__builtin_add_overflow(sums.time_ps, duration * 1000, &sums.time_ps)) sums.time_ps = 0;
    }
  }

  /// What the profiler says of itself. Lost events of a process without kernels do not matter.
  void read_losses() {
    if (!db_.has_table("DIAGNOSTIC_EVENT")) return;
    const bool has_process = db_.columns("DIAGNOSTIC_EVENT").count("globalPid") != 0;
    auto rows = db_.query(
        fmt::format("SELECT severity, text, {} FROM DIAGNOSTIC_EVENT", has_process ? "globalPid" : "NULL"));
    std::set<std::string> said;
    while (rows && rows->next()) {
      const std::string text(rows->text(1));
      const std::string lower = to_lower(text);
      const auto has = [&](std::string_view word) { return lower.find(word) != std::string::npos; };
      const bool missing = has("not all") || has("lost") || has("dropped") || has("discarded");
      const bool cuda = has("cuda") || has("cupti") || has("gpu");
      const bool nvtx = has("nvtx") && !options_.range.empty();
      if (!missing || (!cuda && !nvtx) || rows->integer(0) == 1) continue;
      if (const auto process = rows->maybe_integer(2);
          process && !collector_.has_process(process_of(*process)))
        continue;
      if (said.insert(text).second)
        collector_.lost("Nsight Systems said: " + printable(cut_middle(text, 160)));
    }
  }

  const std::string& path_;
  const ImportOptions& options_;
  Database db_;
  Collector collector_;
  Diagnostics diagnostics_;
  std::vector<Range> ranges_;
  std::vector<InRange> in_range_;
  std::vector<char> entered_;
  bool profiler_region_ = false;
  std::int64_t other_threads_ = 0;
  std::unordered_map<std::int64_t, std::optional<std::uint32_t>> names_;
};

bool detect(std::string_view head, const std::string&) { return head.starts_with(kMagic); }

Parsed<KernelTable> parse(const std::string& path, const ImportOptions& options) {
  auto database = Database::open(path);
  if (!database.ok()) return {std::nullopt, std::move(database.diagnostics)};
  return NsysReader(path, options, std::move(*database.value)).read();
}

}  // namespace

const Importer kNsysSqlite = {"nsys-sqlite", "Nsight Systems SQLite export (nsys export --type sqlite)",
                              detect, parse};

}  // namespace plumbline::profile
