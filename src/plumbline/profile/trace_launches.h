// SPDX-License-Identifier: Apache-2.0
// The kernels of a trace: which events count, and what they sum to. Knows nothing of JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/profile/collect.h"
#include "plumbline/profile/graph_replays.h"
#include "plumbline/profile/launch_records.h"
#include "plumbline/profile/trace_event.h"
#include "plumbline/profile/trace_ranges.h"

namespace plumbline::profile {

/// Takes a trace's events in any order, then gives the table. Without a range, a kernel is summed as it
/// comes; with one it waits, because its launch or its range may stand later in the file.
class TraceLaunches {
 public:
  TraceLaunches(const std::string& path, const ImportOptions& options);

  /// One event; `offset` is its byte in the text, for messages.
  void take(const TraceEvent& event, std::uint64_t offset);
  /// The name of a GPU, from the trace's list of devices.
  void device_name(std::int64_t id, std::string_view name);
  /// What the profiler says of itself: a table that misses records is lossy.
  void complaint(std::string_view text);

  /// Errors: import-no-ranges, import-no-such-range, import-no-kernels, and Collector::finish's.
  Parsed<KernelTable> finish();

 private:
  /// A kernel that waits until it is known which range launched it.
  struct Kernel {
    std::int64_t start_ns;
    std::int64_t duration_ns;
    std::int64_t process;
    std::int64_t device;
    std::int64_t stream;
    std::int64_t correlation;
    std::uint32_t name;
  };

  void take_kernel(const TraceEvent& event, std::uint64_t offset);
  void take_copy(const TraceEvent& event);
  void count_category(const std::string& category);
  void take_call(const TraceEvent& event);
  void took_place(const TraceEvent& event);
  void keep(const Kernel& kernel);
  void place_waiting();
  std::optional<Diagnostic> report_absence();
  std::string seen_categories() const;
  void drop(const TraceEvent& event, std::uint64_t offset, const char* why);

  const std::string& path_;
  const ImportOptions& options_;
  Collector collector_;
  TraceRanges ranges_;
  std::vector<Kernel> waiting_;
  std::int64_t kernels_ = 0;
  std::int64_t whole_micros_ = 0;  ///< kernels whose duration has no fraction
  std::int64_t zero_ = 0;          ///< kernels of 0 ns
  std::int64_t counters_ = 0;
  LaunchRecords records_;
  GraphTallies graphs_;
  std::set<std::int64_t> launching_;  ///< processes whose CPU calls launched kernels, a few
  std::map<std::string, std::int64_t, std::less<>> categories_;  ///< events by category, the first ones
};

}  // namespace plumbline::profile
