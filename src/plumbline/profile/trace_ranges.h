// SPDX-License-Identifier: Apache-2.0
// Which kernels of a trace lie in the asked annotation: the joining of kernels to their launches.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/profile/launch_records.h"
#include "plumbline/profile/range_index.h"
#include "plumbline/profile/trace_event.h"

namespace plumbline::profile {

/// The annotations of one name, and the CUDA calls that launched kernels. A kernel belongs to the range in
/// which it was launched; on the GPU it runs later, often behind the range's end. Only where the trace has no
/// launches does the GPU's own annotation decide.
class TraceRanges {
 public:
  /// `asked` is a name; "ProfilerStep#" asks for every step. Empty: no range is asked for.
  explicit TraceRanges(std::string asked) : asked_(std::move(asked)) {}

  bool wanted() const { return !asked_.empty(); }

  // While the trace is read:
  void take_annotation(const TraceEvent& event);
  /// A call of the runtime or driver; `runs` when it launches something.
  void take_call(const TraceEvent& event, bool runs, bool graph);

  /// Once it is read. Errors: import-no-ranges, import-no-such-range (with the names that the trace has).
  std::optional<Diagnostic> settle(const std::string& path);

  // Once settled:
  /// Whether a kernel of this correlation id and start counts; its range is then entered.
  bool holds(std::int64_t correlation, std::int64_t start_ns);
  /// Times the range was entered, with launches in it or not.
  std::int64_t instances() const;
  /// Times it launched something whose kernel is in the trace.
  std::int64_t launching() const { return ranges_.entered(); }
  /// The launches inside the ranges.
  void give_launches(LaunchRecords& records) const;
  /// Kernels so far whose launch is not in the trace: they lie in no range.
  std::int64_t unplaced() const { return unplaced_; }

 private:
  struct Interval {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t thread = 0;  ///< a range inside another one of its thread is not an entry of its own
  };
  /// A call that may have launched a kernel.
  struct Call {
    std::int64_t correlation;
    std::int64_t at;
    bool runs;
    bool graph;
  };
  std::optional<std::int64_t> launched_at(std::int64_t correlation) const;

  std::string asked_;
  std::vector<Call> calls_;
  std::vector<Interval> cpu_;
  std::vector<Interval> gpu_;
  std::set<std::string> known_;  ///< names of annotations, for the message
  bool by_launch_ = false;
  RangeIndex<Interval> ranges_;
  std::int64_t unplaced_ = 0;
};

}  // namespace plumbline::profile
