// SPDX-License-Identifier: Apache-2.0
// Two windows of one comparison.
#include <cmath>
#include <vector>

#include "plumbline/base/numbers.h"
#include "plumbline/evidence/each.h"

namespace plumbline {

std::optional<double> per_call_ratio(const EvalReport& report) {
  std::vector<double> ratios;
  for (const WorkloadReading& w : report.workloads) {
    if (!w.ref.per_call_ms || !w.student.per_call_ms) return {};
    ratios.push_back(*w.ref.per_call_ms / *w.student.per_call_ms);
  }
  return geometric_mean(ratios);
}

void check_windows(const Documents& in, Diagnostics& out) {
  const auto raw = raw_ratio(*in.eval);
  const auto per_call = per_call_ratio(*in.eval);
  if (in.eval->timed != WindowKind::pipelined || !raw || !per_call) return;
  if ((*raw >= in.gate) == (*per_call >= in.gate)) return;
  // Neither may stand at the gate by its noise alone. Per-call readings are few and hold the host's: their
  // noise is what their own samples show, and at least that of the pipelined ones.
  const double noise = mean_noise(*in.eval).value_or(0.01);
  double per_call_noise = 0;
  for (const WorkloadReading& w : in.eval->workloads) {
    for (const auto* samples : {&w.ref.per_call_samples_ms, &w.student.per_call_samples_ms}) {
      const auto low = quantile(*samples, 0.25);
      const auto high = quantile(*samples, 0.75);
      const auto middle = median(*samples);
      if (!low || !high || !middle) continue;
      // The quartiles' distance is 1.35 σ; the median of n is off by 1.25 σ/√n, twice that is 95 %.
      const double error =
          2 * 1.2533 * (*high - *low) / 1.349 / std::sqrt(static_cast<double>(samples->size())) / *middle;
      per_call_noise += error * error;
    }
  }
  per_call_noise =
      std::max(noise, std::sqrt(per_call_noise) / static_cast<double>(in.eval->workloads.size()));
  if (std::abs(*raw / in.gate - 1) <= noise || std::abs(*per_call / in.gate - 1) <= per_call_noise) return;
  out.push_back(
      diagnose("windows-disagree",
               fmt::format("pipelined the ratio is {}, per call, with the host's part in, it is {}: "
                           "they lie on opposite sides of the gate of {}",
                           format_fixed(*raw, 4), format_fixed(*per_call, 4), format_double(in.gate)),
               place_in(*in.eval, "/performance/ratio")));
}

}  // namespace plumbline
