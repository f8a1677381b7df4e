// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/trace_launches.h"

#include <fmt/format.h>

#include "plumbline/base/text.h"

namespace plumbline::profile {

TraceLaunches::TraceLaunches(const std::string& path, const ImportOptions& options)
    : path_(path), options_(options), collector_("torch-trace", path, options), ranges_(options.range) {
  collector_.set_sees_copies(true);
}

void TraceLaunches::take(const TraceEvent& event, std::uint64_t offset) {
  RowAccount& account = collector_.account();
  ++account.rows;
  if (kernels_ == 0) count_category(event.category);
  switch (event.kind) {
    case TraceKind::kernel:
      return take_kernel(event, offset);
    case TraceKind::memcpy:
    case TraceKind::memset:
      take_copy(event);
      break;
    case TraceKind::runtime:
      take_call(event);
      break;
    case TraceKind::annotation:
    case TraceKind::gpu_annotation:
    case TraceKind::old_operator:
      ranges_.take_annotation(event);
      break;
    case TraceKind::counters:
      ++counters_;
      break;
    case TraceKind::other:
      break;
  }
  ++account.ignored;
}

/// What a trace without kernels holds instead, for the message.
void TraceLaunches::count_category(const std::string& category) {
  constexpr std::size_t kCategories = 40;
  if (categories_.size() >= kCategories && categories_.find(category) == categories_.end()) return;
  ++categories_[category];
}

void TraceLaunches::take_call(const TraceEvent& event) {
  const ApiCall call = api_call(event.name);
  if (!event.correlation) return;
  if (call == ApiCall::kernel || call == ApiCall::graph) {
    constexpr std::size_t kProcesses = 64;
    if (event.pid && launching_.size() < kProcesses) launching_.insert(*event.pid);
  }
  // With a range only its own launches count, which is known at the end.
  const std::int64_t thread = event.tid.value_or(kUnknownId);
  if (ranges_.wanted()) {
    const bool runs = call == ApiCall::graph || (call == ApiCall::kernel && !records_.in_capture(thread));
    ranges_.take_call(event, runs, call == ApiCall::graph);
    if (call == ApiCall::capture_begin || call == ApiCall::capture_end)
      records_.take_call(call, thread, *event.correlation);
  } else {
    records_.take_call(call, thread, *event.correlation);
  }
}

void TraceLaunches::take_kernel(const TraceEvent& event, std::uint64_t offset) {
  ++kernels_;
  const auto start = microseconds_to_ns(event.ts);
  const auto duration = microseconds_to_ns(event.dur);
  if (!event.complete || !start || !duration) return drop(event, offset, "no start or no duration");
  if (*duration < 0) return drop(event, offset, "its duration is negative");
  if (*duration > kLongestNs) return drop(event, offset, "its duration is over 100 days");
  if (event.name.empty()) return drop(event, offset, "it has no name");
  if (event.dur.find('.') == std::string::npos) ++whole_micros_;
  if (*duration == 0) ++zero_;
  const std::int64_t device = event.device ? *event.device : event.pid.value_or(kUnknownId);
  const std::int64_t stream = event.stream ? *event.stream : event.tid.value_or(kUnknownId);
  const std::uint32_t name = collector_.name_id(event.name);
  // A profiler's own trace numbers the processes of its kernels by their device; a merged one does not.
  const std::int64_t process = event.pid               ? *event.pid
                               : event.process.empty() ? kUnknownId
                                                       : collector_.process_by_name(event.process);
  const Kernel kernel{*start, *duration, process, device, stream, event.correlation.value_or(kUnknownId),
                      name};
  took_place(event);
  if (ranges_.wanted()) {
    waiting_.push_back(kernel);
  } else {
    keep(kernel);
  }
}

/// Something ran for a launch.
void TraceLaunches::took_place(const TraceEvent& event) {
  if (event.correlation) {
    records_.ran(*event.correlation);
  } else if (event.kind == TraceKind::kernel) {
    records_.ran_unknown();
  }
}

void TraceLaunches::keep(const Kernel& kernel) {
  Launch launch;
  launch.name = kernel.name;
  launch.time_ps = kernel.duration_ns * 1000;
  if (kernel.stream != kUnknownId) launch.stream = kernel.stream;
  Group& group = collector_.group(kernel.process, kernel.device);
  if (!collector_.add_timed(group, launch, kernel.start_ns, kernel.duration_ns)) {
    return collector_.drop(diagnose("import-row-dropped", "a sum of durations is over 100 days", {path_}));
  }
  ++group.kept_rows;
  ++collector_.account().kept;
  if (kernel.correlation != kUnknownId)
    graphs_.ran(kernel.correlation, kernel.name, records_.is_graph(kernel.correlation));
}

void TraceLaunches::take_copy(const TraceEvent& event) {
  const auto duration = microseconds_to_ns(event.dur);
  took_place(event);
  if (!event.complete || !duration || *duration < 0 || *duration > kLongestNs) return;
  if (ranges_.wanted()) return;  // copies carry no range
  const std::int64_t process = event.pid               ? *event.pid
                               : event.process.empty() ? kUnknownId
                                                       : collector_.process_by_name(event.process);
  Group& group = collector_.group(process, event.device ? *event.device : event.pid.value_or(kUnknownId));
  add_copy(event.kind == TraceKind::memcpy ? group.memcpy : group.memset, *duration);
}

void TraceLaunches::device_name(std::int64_t id, std::string_view name) {
  collector_.set_device_name(id, printable(name));
}

void TraceLaunches::complaint(std::string_view text) {
  const std::string lower = to_lower(text);
  if (lower.find("dropped") != std::string::npos ||
      lower.find("exceeded max gpu buffer") != std::string::npos ||
      lower.find("out of memory") != std::string::npos) {
    collector_.lost(printable(cut_middle(text, 160)));
  }
}

void TraceLaunches::drop(const TraceEvent& event, std::uint64_t offset, const char* why) {
  collector_.drop(diagnose(
      "import-row-dropped",
      fmt::format("kernel {} at byte {}: {}", printable(cut_middle(event.name, 60)), offset, why), {path_}));
}

/// Keeps the kernels of the asked range; the others are ignored, not lost.
void TraceLaunches::place_waiting() {
  for (const Kernel& kernel : waiting_) {
    if (ranges_.holds(kernel.correlation, kernel.start_ns)) {
      keep(kernel);
    } else {
      ++collector_.account().ignored;
    }
  }
  if (ranges_.unplaced() > 0) {
    collector_.note(
        fmt::format("{} kernels have no launch in the trace (queued before it began) and lie in no range",
                    ranges_.unplaced()));
  }
  collector_.set_region("annotation:" + options_.range);
  collector_.set_range_instances(ranges_.instances());
  if (ranges_.launching() < ranges_.instances()) {
    collector_.note(fmt::format("the range was entered {} times, and launched kernels {} times",
                                ranges_.instances(), ranges_.launching()));
  }
  ranges_.give_launches(records_);
}

/// Launches whose kernels are not in the trace, kernels whose launches are not, and two processes in one.
std::optional<Diagnostic> TraceLaunches::report_absence() {
  const LaunchRecords::Absent absent = records_.absent();
  if (const std::string missing = describe_missing(absent); !missing.empty()) collector_.lost(missing);
  if (const std::string early = describe_early(absent); !early.empty() && !ranges_.wanted())
    collector_.doubt(early);
  const std::string partial =
      graphs_.describe_partial([this](std::int64_t correlation) { return records_.is_graph(correlation); });
  if (!partial.empty()) collector_.doubt(partial);
  collector_.join_processes_of_own_devices();
  if (launching_.size() > 1 && collector_.processes() < 2) {
    return diagnose(
        "import-several-processes",
        fmt::format("{} processes launched kernels in this trace, and the kernels do not say whose "
                    "they are: import each process's own trace",
                    launching_.size()),
        {path_});
  }
  return std::nullopt;
}

std::string TraceLaunches::seen_categories() const {
  std::string out;
  std::size_t shown = 0;
  for (const auto& [category, count] : categories_) {
    if (shown++ == 10) return out + ", …";
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ",
                       category.empty() ? "no category" : printable(cut_middle(category, 40)), count);
  }
  return out;
}

Parsed<KernelTable> TraceLaunches::finish() {
  if (ranges_.wanted()) {
    if (auto problem = ranges_.settle(path_)) return failed<KernelTable>(std::move(*problem));
    place_waiting();
  }
  if (kernels_ == 0) {
    return failed<KernelTable>(diagnose(
        "import-no-kernels",
        counters_ > 0
            ? fmt::format("the trace holds CUPTI counters ({} cuda_profiler_range events) and no kernels",
                          counters_)
            : fmt::format(
                  "the trace holds no kernel events ({}): was ProfilerActivity.CUDA on, and a GPU used?",
                  categories_.empty() ? "no event at all" : seen_categories()),
        {path_}));
  }
  if (whole_micros_ == kernels_) {
    collector_.note("durations are whole microseconds (an old PyTorch): each launch may be off by one");
    if (zero_ > 0)
      collector_.note(fmt::format("{} launches of less than a microsecond are recorded as 0", zero_));
  }
  if (auto problem = report_absence()) return failed<KernelTable>(std::move(*problem));
  return collector_.finish();
}

}  // namespace plumbline::profile
