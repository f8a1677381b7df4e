// SPDX-License-Identifier: Apache-2.0
// Chrome traces of XLA (JAX, TensorFlow): trace.json.gz of a TensorBoard profile, perfetto_trace.json.gz.
// Categories are absent; a GPU is a process called "/device:GPU:N", and what ran on it lies on its lines
// "Stream #N(…)". The other lines of a GPU (XLA Modules, XLA Ops, Steps, Framework Ops) tell the same time
// again.
#include <fmt/format.h>

#include <map>
#include <set>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/profile/cells.h"
#include "plumbline/profile/collect.h"
#include "plumbline/profile/importers.h"
#include "plumbline/profile/source.h"
#include "plumbline/profile/trace_reader.h"

namespace plumbline::profile {
namespace {

constexpr std::string_view kGpu = "/device:GPU:";

/// What the metadata events say of a trace.
struct Places {
  std::map<std::int64_t, std::string> processes;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> lines;
  std::set<std::int64_t> named;  ///< processes with a named line
};

class XlaLaunches {
 public:
  XlaLaunches(const std::string& path, const ImportOptions& options, Places& places)
      : path_(path), collector_("xla-trace", path, options), places_(places) {
    collector_.set_sees_copies(true);
  }

  void take(const TraceEvent& event, std::uint64_t offset) {
    RowAccount& account = collector_.account();
    ++account.rows;
    if (event.metadata) {
      ++account.ignored;
      return take_metadata(event);
    }
    complete_ += event.complete;
    const std::int64_t process = event.pid.value_or(kUnknownId);
    const std::int64_t line = event.tid.value_or(kUnknownId);
    if (process != last_process_ || line != last_line_) look_up(process, line);
    if (device_ == kUnknownId || !event.complete) {
      ++account.ignored;
      return;
    }
    take_activity(event, line, offset);
  }

  /// A name that came behind events of its process or line: they were taken without it.
  bool late() const { return late_; }

  Parsed<KernelTable> finish() {
    if (collector_.account().kept == 0 && collector_.account().dropped == 0)
      return failed<KernelTable>(diagnose("import-no-kernels", why_empty(), {path_}));
    // TensorBoard's converter writes at most a million events and leaves out the others.
    constexpr std::int64_t kMostEvents = 1'000'000;
    if (complete_ >= kMostEvents && complete_ < kMostEvents + 1000) {
      collector_.lost(
          fmt::format("the trace ends at {} events, the most that TensorBoard's converter writes: record "
                      "fewer steps",
                      complete_));
    }
    return collector_.finish();
  }

 private:
  void take_metadata(const TraceEvent& event) {
    const std::int64_t process = event.pid.value_or(kUnknownId);
    if (event.name == "process_name") {
      late_ = late_ || (seen_.count(process) != 0 && places_.processes.count(process) == 0);
      places_.processes[process] = event.label;
    } else if (event.name == "thread_name") {
      const std::pair line{process, event.tid.value_or(kUnknownId)};
      late_ = late_ || (seen_.count(process) != 0 && places_.lines.count(line) == 0);
      places_.lines[line] = event.label;
      places_.named.insert(process);
    } else {
      return;
    }
    last_process_ = last_line_ = INT64_MIN;
  }

  /// The device of a line of events; kUnknownId for lines of the host, and for those that tell a time again.
  void look_up(std::int64_t process, std::int64_t line) {
    last_process_ = process;
    last_line_ = line;
    seen_.insert(process);
    device_ = kUnknownId;
    const auto named = places_.processes.find(process);
    if (named == places_.processes.end()) return;
    const std::string_view name = named->second;
    const std::size_t at = name.find(kGpu);
    if (at == std::string_view::npos) return;
    const auto label = places_.lines.find({process, line});
    const bool stream = label != places_.lines.end() && to_lower(label->second).starts_with("stream");
    if (!stream && places_.named.count(process) != 0) return;
    std::string_view number = name.substr(at + kGpu.size());
    number = number.substr(0, number.find_first_not_of("0123456789"));
    device_ = parse_int(number).value_or(process);
    collector_.set_device_name(device_, printable(name));
  }

  void take_activity(const TraceEvent& event, std::int64_t line, std::uint64_t offset) {
    RowAccount& account = collector_.account();
    const auto start = microseconds_to_ns(event.ts);
    const auto duration = scaled_integer(event.dur, 6);
    const bool timed = start && duration && *duration >= 0 && *duration <= kLongestNs * 1000;
    Group& group = collector_.group(kUnknownId, device_);
    const std::string lower = to_lower(event.name.substr(0, 8));
    if (lower.starts_with("memcpy") || lower.starts_with("memset")) {
      ++account.ignored;
      if (timed) add_copy(lower.starts_with("memset") ? group.memset : group.memcpy, *duration / 1000);
      return;
    }
    if (!timed || event.name.empty()) {
      return collector_.drop(diagnose("import-row-dropped",
                                      fmt::format("event {} at byte {}: no name, no start or no duration",
                                                  printable(cut_middle(event.name, 60)), offset),
                                      {path_}));
    }
    Launch launch;
    launch.name = collector_.name_id(event.name);
    launch.time_ps = *duration;
    launch.stream = line;
    if (!collector_.add_timed(group, launch, *start, (*duration + 500) / 1000))
      return collector_.drop(diagnose("import-row-dropped", "a sum of durations is over 100 days", {path_}));
    ++group.kept_rows;
    ++account.kept;
  }

  std::string why_empty() const {
    std::string names;
    bool gpu = false;
    for (const auto& [id, name] : places_.processes) {
      gpu = gpu || name.find(kGpu) != std::string::npos;
      if (names.size() < 200)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", printable(cut_middle(name, 40)));
    }
    if (gpu) return "the trace's GPU has no line \"Stream #N\" with a kernel on it";
    return fmt::format("the trace holds no GPU ({})", names.empty() ? "no process is named" : names);
  }

  const std::string& path_;
  Collector collector_;
  Places& places_;
  std::set<std::int64_t> seen_;
  std::int64_t last_process_ = INT64_MIN;
  std::int64_t last_line_ = INT64_MIN;
  std::int64_t device_ = kUnknownId;
  std::int64_t complete_ = 0;
  bool late_ = false;
};

bool detect(std::string_view head, const std::string&) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (head[first] != '{' && head[first] != '[')) return false;
  return head.find("\"process_name\"") != std::string_view::npos &&
         (head.find("\"/device:") != std::string_view::npos ||
          head.find("\"/host:CPU\"") != std::string_view::npos);
}

Parsed<KernelTable> parse(const std::string& path, const ImportOptions& options) {
  if (!options.range.empty()) {
    return failed<KernelTable>(diagnose(
        "import-no-ranges", "the annotations of an XLA trace lie on the host: leave out --range", {path}));
  }
  Places places;
  // The names stand in front, as XLA writes them; where another tool sorted them behind, a second reading
  // knows them.
  for (int reading = 0;; ++reading) {
    auto source = ByteSource::open(path, options.progress);
    if (!source.ok()) return {std::nullopt, std::move(source.diagnostics)};
    XlaLaunches launches(path, options, places);
    const TraceSink sink{
        [&](const TraceEvent& event, std::uint64_t offset) { launches.take(event, offset); }, {}, {}};
    if (auto problem = read_trace(**source.value, path, sink))
      return failed<KernelTable>(std::move(*problem));
    if (!launches.late() || reading > 0) return launches.finish();
  }
}

}  // namespace

const Importer kXlaTrace = {
    "xla-trace", "XLA trace of JAX or TensorFlow (trace.json.gz, perfetto_trace.json.gz)", detect, parse};

}  // namespace plumbline::profile
