// SPDX-License-Identifier: Apache-2.0
// Holds an eval: may its ratio stand before a gate?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plumbline/base/json_locate.h"
#include "plumbline/base/numbers.h"
#include "plumbline/pricing/eval.h"

namespace plumbline {
namespace {

constexpr std::int64_t kFewestWorkloads = 3;
constexpr double kSameRatio = 1e-3;    // relative: a ratio printed with three decimals still agrees
constexpr double kSameReading = 1e-3;  // relative: likewise a time

bool near(double a, double b, double relative) {
  return std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b));
}

bool same_ratio(double a, double b) { return std::abs(a - b) <= 5.01e-4 || near(a, b, kSameRatio); }

std::string_view other_window(std::string_view window) {
  return window == "pipelined" ? "per_call" : "pipelined";
}

/// Where a value of the report stands.
class Places {
 public:
  explicit Places(const EvalReport& report) : report_(report) {}
  Location performance(std::string_view pointer = "") const {
    if (!report_.text) return {report_.file};
    return locate_json(*report_.text, fmt::format("/performance{}", pointer), report_.file);
  }
  Location workload(const WorkloadReading& workload, std::string_view pointer = "") const {
    const auto index = &workload - report_.workloads.data();
    return performance(fmt::format("/workloads/{}{}", index, pointer));
  }

 private:
  const EvalReport& report_;
};

void check_count(const EvalReport& report, bool leaderboard, const Places& at, Diagnostics& out) {
  if (!leaderboard && report.n_workloads.value_or(0) < kFewestWorkloads) {
    out.push_back(diagnose(
        "eval-workloads-too-few",
        report.n_workloads
            ? fmt::format("performance.n_workloads is {}: a verdict needs at least {}", *report.n_workloads,
                          kFewestWorkloads)
            : fmt::format("performance.n_workloads is missing: a verdict needs at least {} workloads",
                          kFewestWorkloads),
        at.performance("/n_workloads")));
  }
  const auto listed = static_cast<std::int64_t>(report.workloads.size());
  if (listed > 0 && report.n_workloads && *report.n_workloads != listed) {
    out.push_back(
        diagnose("eval-workload-count",
                 fmt::format("performance.n_workloads is {} and {} are listed", *report.n_workloads, listed),
                 at.performance("/n_workloads")));
  }
  if (listed == 0 && !leaderboard) {
    out.push_back(diagnose("eval-workloads-unlisted",
                           "performance.workloads is missing: the ratio cannot be held against its workloads",
                           at.performance()));
  }
}

/// A side that lacks the named window's reading: mixed when the other side has it and this one the other
/// window's.
void check_readings(const EvalReport& report, const Places& at, Diagnostics& out) {
  for (const auto& [name, value] :
       {std::pair{"student_ms", report.student_ms}, std::pair{"ref_ms", report.ref_ms}}) {
    if (!value) {
      out.push_back(diagnose("eval-reading-missing",
                             fmt::format("performance.{} is null, missing or 0", name),
                             at.performance(fmt::format("/{}", name))));
    }
  }
  if (report.window.empty()) return;
  for (const WorkloadReading& workload : report.workloads) {
    for (const auto& [name, side] :
         {std::pair{"student", &workload.student}, std::pair{"ref", &workload.ref}}) {
      if (reading_of(*side, report.window)) continue;
      const bool mixed = !side->withheld && reading_of(*side, other_window(report.window));
      const std::string_view side_name = name == std::string_view("ref") ? "reference" : name;
      const std::string only = mixed ? fmt::format(", only {}", other_window(report.window)) : "";
      out.push_back(diagnose(mixed ? "eval-mixed-window" : "eval-reading-missing",
                             fmt::format("workload '{}': the {} has no {} reading{}", workload.name,
                                         side_name, report.window, only),
                             at.workload(workload, fmt::format("/{}/{}_ms", name, report.window))));
    }
  }
}

/// The top level repeats the campaign workload's readings; another window's there would be priced against it.
void check_campaign(const EvalReport& report, const Places& at, Diagnostics& out) {
  const WorkloadReading* campaign = report.campaign_workload();
  if (!campaign || report.window.empty()) return;
  for (const auto& [name, value, side] : {std::tuple{"student_ms", report.student_ms, &campaign->student},
                                          std::tuple{"ref_ms", report.ref_ms, &campaign->ref}}) {
    const std::optional<double> listed = reading_of(*side, report.window);
    if (!value || !listed || near(*value, *listed, kSameReading)) continue;
    const std::optional<double> other = reading_of(*side, other_window(report.window));
    if (other && near(*value, *other, kSameReading)) {
      out.push_back(diagnose("eval-mixed-window",
                             fmt::format("performance.{} is the {} reading, the window is {}", name,
                                         other_window(report.window), report.window),
                             at.performance(fmt::format("/{}", name))));
    } else {
      out.push_back(diagnose("eval-campaign",
                             fmt::format("performance.{} is {} and the campaign workload '{}' reads {}", name,
                                         format_double(*value), campaign->name, format_double(*listed)),
                             at.performance(fmt::format("/{}", name))));
    }
  }
}

void check_samples(const EvalReport& report, const Places& at, Diagnostics& out) {
  for (const WorkloadReading& workload : report.workloads) {
    const std::size_t student = workload.student.samples_ms.size();
    const std::size_t ref = workload.ref.samples_ms.size();
    if (student == ref) continue;
    out.push_back(diagnose("eval-sample-count",
                           fmt::format("workload '{}' has {} student samples and {} of the reference",
                                       workload.name, student, ref),
                           at.workload(workload, "/student/samples_ms")));
  }
}

void check_ratio(const EvalReport& report, const Places& at, Diagnostics& out) {
  for (const WorkloadReading& workload : report.workloads) {
    const auto student = reading_of(workload.student, report.window);
    const auto ref = reading_of(workload.ref, report.window);
    // 1 %: a bench may state the median of its paired ratios, which differs a little from the ratio of
    // medians.
    if (!workload.ratio || !student || !ref || near(*workload.ratio, *ref / *student, 1e-2)) continue;
    out.push_back(
        diagnose("eval-ratio-mismatch",
                 fmt::format("workload '{}' states the ratio {} and its readings give {}", workload.name,
                             format_double(*workload.ratio), format_double(*ref / *student)),
                 at.workload(workload, "/ratio")));
  }
  const std::optional<double> mean = geometric_ratio(report);
  if (!raw_ratio(report)) {
    out.push_back(diagnose("eval-reading-missing", "performance.ratio is null, missing or 0",
                           at.performance("/ratio")));
  } else if (!report.workloads.empty() && !mean) {
    out.push_back(diagnose("eval-reading-missing",
                           "a workload has no ratio: a mean over the others is no verdict",
                           at.performance("/ratio")));
  } else if (report.ratio && mean && !same_ratio(*report.ratio, *mean)) {
    out.push_back(
        diagnose("eval-ratio-mismatch",
                 fmt::format("performance.ratio is {} and the geometric mean over the workloads is {}",
                             format_double(*report.ratio), format_double(*mean)),
                 at.performance("/ratio")));
  }
}

void check_noise(const EvalReport& report, const Places& at, Diagnostics& out) {
  for (const WorkloadReading& workload : report.workloads) {
    if (!workload.throttle.empty()) {
      out.push_back(diagnose(
          "eval-throttled",
          fmt::format("workload '{}': the clock was throttled ({})", workload.name, workload.throttle),
          at.workload(workload, "/throttle")));
    }
    const auto ratio = ratio_of(workload, report.window);
    if (workload.distinguishable == false && ratio) {
      out.push_back(
          diagnose("eval-aa-spread",
                   fmt::format("workload '{}': the ratio {} is within the smallest difference that the bench "
                               "can claim",
                               workload.name, format_fixed(*ratio, 4)),
                   at.workload(workload, "/aa_ratio")));
      continue;
    }
    if (!workload.aa_ratio || !ratio || *ratio == 1) continue;
    const double spread = std::abs(std::log(*workload.aa_ratio));
    const double claimed = std::abs(std::log(*ratio));
    if (claimed >= spread) continue;
    out.push_back(
        diagnose("eval-aa-spread",
                 fmt::format("workload '{}': the reference against itself reads {}, further from 1 than the "
                             "ratio {}: no difference may be claimed",
                             workload.name, format_fixed(*workload.aa_ratio, 4), format_fixed(*ratio, 4)),
                 at.workload(workload, "/aa_ratio")));
  }
}

}  // namespace

std::optional<double> reading_of(const SideReading& side, std::string_view window) {
  return window == "per_call" ? side.per_call_ms : side.pipelined_ms;
}

std::optional<double> ratio_of(const WorkloadReading& workload, std::string_view window) {
  if (workload.ratio || workload.ratio_withheld) return workload.ratio;
  const auto student = reading_of(workload.student, window);
  const auto ref = reading_of(workload.ref, window);
  return student && ref ? std::optional(*ref / *student) : std::nullopt;
}

std::optional<double> geometric_ratio(const EvalReport& report) {
  std::vector<double> ratios;
  for (const WorkloadReading& workload : report.workloads) {
    const auto ratio = ratio_of(workload, report.window);
    if (!ratio) return {};
    ratios.push_back(*ratio);
  }
  return geometric_mean(ratios);
}

std::optional<double> raw_ratio(const EvalReport& report) {
  return report.ratio || report.ratio_withheld ? report.ratio : geometric_ratio(report);
}

Diagnostics check_eval(const EvalReport& report, bool leaderboard) {
  Diagnostics out = report.findings;
  const Places at(report);
  for (const std::string& reason : report.refused) {
    out.push_back(diagnose("eval-refused", fmt::format("the bench refuses a verdict: {}", reason),
                           at.performance("/refused")));
  }
  check_count(report, leaderboard, at, out);
  check_readings(report, at, out);
  check_campaign(report, at, out);
  check_samples(report, at, out);
  check_ratio(report, at, out);
  check_noise(report, at, out);
  return out;
}

}  // namespace plumbline
