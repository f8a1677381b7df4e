// SPDX-License-Identifier: Apache-2.0
// The checks in their order, and the noise that several of them measure by.
#include <array>
#include <cmath>
#include <vector>

#include "plumbline/evidence/checks.h"

namespace plumbline {
namespace {

using Check = void (*)(const Documents&, Diagnostics&);
constexpr std::array<Check, 7> kChecks = {check_chain,      check_follows, check_limits, check_samples,
                                          check_conditions, check_windows, check_tables};

/// The relative standard error of a median: 1.2533 σ/√n of a normal distribution, σ out of the median
/// absolute deviation, which a few outliers do not move.
std::optional<double> median_error(const std::vector<double>& samples) {
  const auto middle = median(samples);
  if (samples.size() < 4 || !middle || !(*middle > 0)) return {};
  std::vector<double> away;
  for (const double s : samples) away.push_back(std::abs(s - *middle));
  return 1.2533 * 1.4826 * *median(away) / std::sqrt(static_cast<double>(samples.size())) / *middle;
}

}  // namespace

std::optional<double> Documents::reading_ms(Payer side) const {
  if (workload) return reading_of(side == Payer::student ? workload->student : workload->ref, eval->timed);
  return side == Payer::student ? eval->student_ms : eval->ref_ms;
}

Diagnostics check_evidence(const Documents& in) {
  Diagnostics out;
  for (const Check check : kChecks) check(in, out);
  return out;
}

std::optional<double> ratio_noise(const WorkloadReading& workload) {
  if (workload.smallest_difference && *workload.smallest_difference >= 0) return workload.smallest_difference;
  const auto student = median_error(workload.student.samples_ms);
  const auto ref = median_error(workload.ref.samples_ms);
  if (!student || !ref) return {};
  return 2 * std::hypot(*student, *ref);
}

std::optional<double> mean_noise(const EvalReport& report) {
  double squares = 0;
  for (const WorkloadReading& workload : report.workloads) {
    const auto noise = ratio_noise(workload);
    if (!noise) return {};
    squares += *noise * *noise;
  }
  if (report.workloads.empty()) return {};
  return std::sqrt(squares) / static_cast<double>(report.workloads.size());
}

}  // namespace plumbline
