// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/trace_ranges.h"

#include <fmt/format.h>

#include <algorithm>

#include "plumbline/base/text.h"

namespace plumbline::profile {
namespace {

/// "ProfilerStep#" asks for every step; anything else for that name.
bool is_asked(std::string_view name, std::string_view asked) {
  if (name == asked) return true;
  return asked.ends_with('#') && name.size() > asked.size() && name.starts_with(asked) &&
         name.find_first_not_of("0123456789", asked.size()) == std::string_view::npos;
}

}  // namespace

void TraceRanges::take_annotation(const TraceEvent& event) {
  if (!wanted()) return;
  const auto start = microseconds_to_ns(event.ts);
  const auto duration = microseconds_to_ns(event.dur);
  if (!event.complete || !start || !duration || *duration < 0) return;
  const bool asked = is_asked(event.name, asked_);
  // In 2021 annotations and steps were of the operators' category: there only the asked name is one.
  const bool annotation = event.kind != TraceKind::old_operator || event.name.starts_with("ProfilerStep#");
  if (known_.size() < 200 && annotation) known_.insert(event.name);
  if (!asked) return;
  Interval interval{*start, 0, event.tid.value_or(0)};
  if (__builtin_add_overflow(*start, *duration, &interval.end)) return;  // ends behind all time: damage
  (event.kind == TraceKind::gpu_annotation ? gpu_ : cpu_).push_back(interval);
}

void TraceRanges::take_call(const TraceEvent& event, bool runs, bool graph) {
  if (!wanted() || !event.correlation) return;
  if (const auto at = microseconds_to_ns(event.ts)) calls_.push_back({*event.correlation, *at, runs, graph});
}

std::int64_t TraceRanges::instances() const {
  std::int64_t all = 0;
  const auto counts =
      ranges_.entries([](const Interval& range) { return range.thread; }, [](const Interval&) { return 0; });
  for (const auto& [group, count] : counts) all += count;
  return all;
}

void TraceRanges::give_launches(LaunchRecords& records) const {
  if (!by_launch_) return;
  for (const Call& call : calls_) {
    if (call.runs && ranges_.find(call.at, [](const Interval&) { return true; }))
      records.launched(call.correlation, call.graph);
  }
}

std::optional<Diagnostic> TraceRanges::settle(const std::string& path) {
  by_launch_ = !cpu_.empty() && !calls_.empty();
  ranges_ = RangeIndex<Interval>(std::move(by_launch_ ? cpu_ : gpu_));
  if (ranges_.empty()) {
    if (known_.empty()) return diagnose("import-no-ranges", "the trace has no annotations", {path});
    return diagnose(
        "import-no-such-range",
        fmt::format("no annotation \"{}\"; the trace has {}", printable(asked_), list_ranges(known_)),
        {path});
  }
  std::sort(calls_.begin(), calls_.end(), [](const Call& a, const Call& b) {
    return a.correlation != b.correlation ? a.correlation < b.correlation : a.at < b.at;
  });
  return std::nullopt;
}

/// When the CPU launched the kernel of this correlation id.
std::optional<std::int64_t> TraceRanges::launched_at(std::int64_t correlation) const {
  const auto call =
      std::lower_bound(calls_.begin(), calls_.end(), correlation,
                       [](const Call& candidate, std::int64_t id) { return candidate.correlation < id; });
  if (call == calls_.end() || call->correlation != correlation) return std::nullopt;
  return call->at;
}

bool TraceRanges::holds(std::int64_t correlation, std::int64_t start_ns) {
  const std::optional<std::int64_t> at = by_launch_ ? launched_at(correlation) : start_ns;
  if (!at) {
    ++unplaced_;
    return false;
  }
  const auto range = ranges_.find(*at, [](const Interval&) { return true; });
  if (!range) return false;
  ranges_.enter(*range);
  return true;
}

}  // namespace plumbline::profile
