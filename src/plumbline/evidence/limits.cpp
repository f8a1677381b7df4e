// SPDX-License-Identifier: Apache-2.0
// An eval that can be true: nothing is quicker than an empty launch, or than the GPU's memory.
#include <algorithm>
#include <cmath>

#include "plumbline/base/numbers.h"
#include "plumbline/evidence/each.h"

namespace plumbline {
namespace {

constexpr double kShortestUs = 0.5;  // where no floor is stated: an empty kernel takes more on every GPU

/// Both sides are handed the same tensors, so that the bytes of an input set are what each may read.
bool same_inputs(const WindowContract& contract) {
  const BoundarySets sets = boundary_sets(contract);
  return contract.declared() && sets.ref_only_inputs.empty() && sets.student_only_inputs.empty();
}

}  // namespace

void check_limits(const Documents& in, Diagnostics& out) {
  const EvalReport& eval = *in.eval;
  const auto stated = eval.harness.launch_floor_us;
  if (const std::optional<double> floor = stated && *stated > 0 ? stated : std::optional(kShortestUs)) {
    each_side(
        eval, "eval-under-floor", "",
        [&](const WorkloadReading&, const SideReading& side) -> std::optional<std::string> {
          for (const auto& reading : {side.pipelined_ms, side.per_call_ms}) {
            if (!reading || *reading * 1e3 >= *floor) continue;
            return fmt::format(
                "reading of {} µs is under the launch floor of {} µs{}: no kernel is that quick",
                format_fixed(*reading * 1e3, 3), format_fixed(*floor, 3),
                stated && *stated > 0 ? " that the same file reports" : "");
          }
          return {};
        },
        out);
  }
  if (!in.gpu || !(in.gpu->memory_gbps > 0) || !in.contract || !same_inputs(*in.contract)) return;
  each_side(
      eval, "eval-over-bandwidth", "",
      [&](const WorkloadReading& w, const SideReading& side) -> std::optional<std::string> {
        auto reading = reading_of(side, eval.timed);
        for (const auto& other : {side.pipelined_ms, side.per_call_ms}) {  // neither window is quicker
          if (reading && other && *other < *reading) reading = other;
        }
        if (!w.set_bytes || !reading) return {};
        // What a warm L2 may still hold did not come out of memory.
        const double from_memory =
            *w.set_bytes - (w.l2 == "cold" ? 0.0 : static_cast<double>(in.gpu->l2_bytes));
        const double gbps = from_memory / (*reading * 1e6);
        if (!(gbps > in.gpu->memory_gbps)) return {};
        return fmt::format(
            "{} bytes of inputs in {} µs would be {} GB/s, over the {} GB/s of the memory of "
            "{}: it reads only a part of its inputs, or the reading is wrong",
            format_grouped(static_cast<std::int64_t>(std::min(*w.set_bytes, 9e15))),
            format_fixed(*reading * 1e3, 2), format_fixed(gbps, 0), format_fixed(in.gpu->memory_gbps, 0),
            in.gpu->product);
      },
      out);
}

}  // namespace plumbline
