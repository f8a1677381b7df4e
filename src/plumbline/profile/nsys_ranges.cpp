// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/nsys_ranges.h"

#include <fmt/format.h>

#include <algorithm>

#include "plumbline/base/text.h"

namespace plumbline::profile {
namespace {

constexpr const char* kRuntime = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr const char* kProfilerApi = "cudaProfilerApi";  ///< --range: between profiler start and stop
constexpr std::int64_t kPushPop = 59;
constexpr std::int64_t kStartEnd = 60;
constexpr std::int64_t kDomain = 75;

}  // namespace

std::optional<Diagnostic> NsysRanges::read(Database& db, Collector& collector) {
  const bool profiler = asked_ == kProfilerApi;
  if (asked_.empty() || profiler) {
    ranges_ = RangeIndex(profiler_calls(db));
    profiler_region_ = !ranges_.empty();
    if (profiler && ranges_.empty())
      return diagnose("import-no-such-range", "the export holds no call of cudaProfilerStart", {path_});
    collector.set_region("profiler");
    if (ranges_.empty()) {
      read_records(db);
      return std::nullopt;
    }
  } else if (auto problem = read_nvtx(db, collector)) {
    return problem;
  }
  return read_launches(db);
}

/// The stretches between cudaProfilerStart and cudaProfilerStop, when the whole program was recorded.
std::vector<NsysRanges::Range> NsysRanges::profiler_calls(Database& db) {
  std::vector<Range> ranges;
  if (!db.has_table(kRuntime)) return ranges;
  auto rows = db.query(fmt::format(
      "SELECT r.start, r.end, r.globalTid, s.value LIKE '%Start%' FROM {} r JOIN StringIds s ON s.id = "
      "r.nameId "
      "WHERE r.nameId IN (SELECT id FROM StringIds WHERE value LIKE 'cudaProfilerSt%' OR value LIKE "
      "'cuProfilerSt%') ORDER BY r.start",
      kRuntime));
  while (rows && rows->next()) {
    const std::int64_t process = nsys_process(rows->integer(2));
    const auto open = std::find_if(ranges.rbegin(), ranges.rend(), [&](const Range& range) {
      return range.process == process && range.end == INT64_MAX;
    });
    if (rows->integer(3) != 0) {
      if (open == ranges.rend()) ranges.push_back({rows->integer(1), INT64_MAX, process, kUnknownId});
    } else if (open != ranges.rend()) {
      open->end = rows->integer(0);
    }
  }
  return ranges;
}

/// Sorts the NVTX events; those that name a domain come first. The asked range is NAME or NAME@DOMAIN.
NsysRanges::Nvtx NsysRanges::nvtx_events(Rows& rows) const {
  const std::size_t split = asked_.rfind('@');
  const bool has_domain = split != std::string::npos && split > 0;
  const std::string wanted = asked_.substr(0, has_domain ? split : std::string::npos);
  const std::string domain = has_domain ? asked_.substr(split + 1) : std::string();
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> domains;  // (process, domain id)
  Nvtx found;
  while (rows.next()) {
    const std::int64_t process = nsys_process(rows.integer(4));
    const std::string text(rows.text(3));
    if (rows.integer(2) == kDomain) {
      domains[{process, rows.integer(5)}] = text;
      continue;
    }
    if (found.known.size() < 100) found.known.insert(text);
    if (text != wanted) continue;
    if (has_domain) {
      const auto name = domains.find({process, rows.integer(5)});
      const std::string own = name != domains.end() ? name->second : rows.integer(5) == 0 ? "default" : "";
      if (own != domain) continue;
    }
    const auto end = rows.maybe_integer(1);
    if (!end) {
      ++found.open_ended;
      continue;
    }
    found.ranges.push_back(
        {rows.integer(0), *end, process, rows.integer(2) == kPushPop ? rows.integer(4) : kUnknownId});
  }
  return found;
}

std::optional<Diagnostic> NsysRanges::read_nvtx(Database& db, Collector& collector) {
  if (!db.has_table("NVTX_EVENTS"))
    return diagnose("import-no-ranges", "the export holds no NVTX events", {path_});
  auto rows = db.query(
      fmt::format("SELECT e.start, e.end, e.eventType, coalesce(e.text, s.value), e.globalTid, e.domainId "
                  "FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId "
                  "WHERE e.eventType IN ({}, {}, {}) ORDER BY e.eventType = {} DESC, e.start",
                  kPushPop, kStartEnd, kDomain, kDomain));
  if (!rows) return db.error().value_or(diagnose("nsys-schema", "NVTX_EVENTS lacks columns", {path_}));
  Nvtx found = nvtx_events(*rows);
  if (auto error = db.error()) return error;
  if (found.open_ended > 0) {
    collector.note(fmt::format(
        "{} instances of the range were still open when the recording stopped: left out", found.open_ended));
  }
  if (found.ranges.empty()) {
    if (found.known.empty()) return diagnose("import-no-ranges", "the export holds no NVTX ranges", {path_});
    return diagnose(
        "import-no-such-range",
        fmt::format("no NVTX range \"{}\"; the export has {}", printable(asked_), list_ranges(found.known)),
        {path_});
  }
  ranges_ = RangeIndex(std::move(found.ranges));
  collector.set_region("nvtx:" + asked_);
  return std::nullopt;
}

std::optional<Diagnostic> NsysRanges::read_launches(Database& db) {
  if (!db.has_table(kRuntime)) {
    return diagnose("import-no-ranges",
                    "the export holds no CUDA API calls, so that no kernel can be placed in a range",
                    {path_});
  }
  auto rows = db.query(fmt::format(
      "SELECT start, globalTid, correlationId FROM {} WHERE correlationId IS NOT NULL", kRuntime));
  while (rows && rows->next()) {
    const std::int64_t thread = rows->integer(1);
    const std::int64_t process = nsys_process(thread);
    bool elsewhere = false;
    const auto range = ranges_.find(rows->integer(0), [&](const Range& candidate) {
      if (candidate.process != process) return false;
      const bool own = candidate.thread == kUnknownId || candidate.thread == thread;
      elsewhere = elsewhere || !own;
      return own;
    });
    if (range) in_range_.push_back({process, rows->integer(2), *range});
    other_threads_ += !range && elsewhere ? 1 : 0;
  }
  if (auto error = db.error()) return error;
  std::sort(in_range_.begin(), in_range_.end());
  read_records(db);
  return std::nullopt;
}

/// Which calls launched kernels and succeeded. Launches outside the ranges do not count.
void NsysRanges::read_records(Database& db) {
  if (!db.has_table(kRuntime)) return;
  const std::set<std::string> have = db.columns(kRuntime);
  for (const char* column : {"start", "globalTid", "correlationId", "nameId"}) {
    if (have.count(column) == 0) return;
  }
  std::map<std::int64_t, ApiCall> calls;
  auto names = db.query(
      "SELECT id, value FROM StringIds WHERE value LIKE 'cu%Launch%' OR value LIKE "
      "'cu%Capture%'");
  while (names && names->next()) {
    const ApiCall call = api_call(names->text(1));
    if (call != ApiCall::other) calls.emplace(names->integer(0), call);
  }
  const bool captures = std::any_of(calls.begin(), calls.end(),
                                    [](const auto& named) { return named.second == ApiCall::capture_begin; });
  auto rows = db.query(fmt::format(
      "SELECT globalTid, correlationId, nameId, {} FROM {} WHERE correlationId IS NOT NULL{}",
      have.count("returnValue") != 0 ? "returnValue" : "0", kRuntime, captures ? " ORDER BY start" : ""));
  while (rows && rows->next()) {
    const std::int64_t process = nsys_process(rows->integer(0));
    const std::int64_t correlation = rows->integer(1);
    LaunchRecords& records = records_[process];
    const auto call = calls.find(rows->integer(2));
    ApiCall kind = call == calls.end() ? ApiCall::other : call->second;
    const bool launches = kind == ApiCall::kernel || kind == ApiCall::graph;
    if (launches && (rows->integer(3) != 0 || !in_ranges(process, correlation))) kind = ApiCall::other;
    records.take_call(kind, rows->integer(0), correlation);
  }
}

/// Whether a launch lies in a range, or no range was asked for.
bool NsysRanges::in_ranges(std::int64_t process, std::int64_t correlation) const {
  if (ranges_.empty()) return true;
  const InRange key{process, correlation, 0};
  const auto it = std::lower_bound(in_range_.begin(), in_range_.end(), key);
  return it != in_range_.end() && !(key < *it);
}

bool NsysRanges::counts(std::int64_t process, std::int64_t correlation) {
  if (ranges_.empty()) return true;
  const InRange key{process, correlation, 0};
  const auto it = std::lower_bound(in_range_.begin(), in_range_.end(), key);
  if (it == in_range_.end() || key < *it) return false;
  ranges_.enter(it->range);
  return true;
}

void NsysRanges::describe(Collector& collector) const {
  if (ranges_.empty()) return;
  if (profiler_region_) {
    if (collector.account().ignored == 0) return;
    collector.note(fmt::format(
        "only the kernels launched between cudaProfilerStart and cudaProfilerStop: {} others are ignored",
        collector.account().ignored));
    return;
  }
  if (other_threads_ > 0) {
    collector.note(
        fmt::format("{} CUDA calls of other threads meanwhile are not in a push/pop range, which belongs to "
                    "its thread only",
                    other_threads_));
  }
  const auto entries =
      ranges_.entries([](const Range& range) { return std::pair(range.process, range.thread); },
                      [](const Range& range) { return range.process; });
  std::int64_t all = 0;
  for (const auto& [process, count] : entries) {
    collector.set_range_instances(count, process);
    all += count;
  }
  collector.set_range_instances(all);
  if (ranges_.entered() < all) {
    collector.note(
        fmt::format("the range was entered {} times, and launched kernels {} times", all, ranges_.entered()));
  }
}

}  // namespace plumbline::profile
