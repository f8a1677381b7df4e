// SPDX-License-Identifier: Apache-2.0
// Holds an eval: may its ratio stand before a gate?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/evidence/checks.h"

namespace plumbline {
namespace {

constexpr std::int64_t kFewestWorkloads = 3;
constexpr double kRounding = 1e-9;  // relative: what adding a few doubles in another order can do
// However few digits are written, no more than this is forgiven: a ratio of one digit would agree with much.
constexpr double kMostForgiven = 1e-3;          // relative, of the mean and of a reading at the top level
constexpr double kMostForgivenWorkload = 1e-2;  // of a workload's ratio, whose readings may be short, too

bool near(double a, double b, double relative) {
  return std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b));
}

WindowKind other_window(WindowKind window) {
  return window == WindowKind::pipelined ? WindowKind::per_call : WindowKind::pipelined;
}

/// Where a value of the report stands.
class Places {
 public:
  explicit Places(const EvalReport& report) : report_(report) {}
  Location performance(std::string_view pointer = "") const {
    return place_in(report_, fmt::format("/performance{}", pointer));
  }
  Location workload(const WorkloadReading& workload, std::string_view pointer = "") const {
    return place_in(report_, workload, pointer);
  }

 private:
  const EvalReport& report_;
};

/// `stated`, written at `pointer`, and `computed`, known to ± `unsure`, are one value as far as it is
/// written.
bool agrees(const EvalReport& report, const std::string& pointer, double stated, double computed,
            double unsure, double most) {
  if (near(stated, computed, kRounding)) return true;
  const double forgiven = std::min(written_half(report, pointer) + unsure, most * std::abs(computed));
  return std::abs(stated - computed) <= forgiven * (1 + kRounding);
}

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
  if (report.workloads_listed && listed == 0 && report.n_workloads && *report.n_workloads > 0) {
    out.push_back(
        diagnose("eval-workload-count",
                 fmt::format("performance.n_workloads is {} and none is listed", *report.n_workloads),
                 at.performance("/workloads")));
  } else if (listed == 0 && !leaderboard) {
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
      if (reading_of(*side, report.timed)) continue;
      const bool mixed = !side->withheld && reading_of(*side, other_window(report.timed));
      const std::string_view side_name = name == std::string_view("ref") ? "reference" : name;
      const std::string only = mixed ? fmt::format(", only {}", to_string(other_window(report.timed))) : "";
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
    const std::optional<double> listed = reading_of(*side, report.timed);
    if (!value || !listed) continue;
    const std::string stated = fmt::format("/performance/{}", name);
    const bool student = side == &campaign->student;
    const auto repeats = [&](double reading, std::string_view window) {
      if (near(*value, reading, kRounding)) return true;
      const std::string from =
          pointer_of(report, *campaign, fmt::format("/{}/{}_ms", student ? "student" : "ref", window));
      return agrees(report, stated, *value, reading, written_half(report, from), kMostForgiven);
    };
    if (repeats(*listed, report.window)) continue;
    const std::optional<double> other = reading_of(*side, other_window(report.timed));
    if (other && repeats(*other, to_string(other_window(report.timed)))) {
      out.push_back(diagnose("eval-mixed-window",
                             fmt::format("performance.{} is the {} reading, the window is {}", name,
                                         to_string(other_window(report.timed)), report.window),
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

/// How far ref / student may be off by the digits of both readings.
double unsure_ratio(const EvalReport& report, const WorkloadReading& workload, double student, double ref) {
  const auto half = [&](std::string_view side) {
    return written_half(report, pointer_of(report, workload, fmt::format("/{}/{}_ms", side, report.window)));
  };
  return ref / student * (half("student") / student + half("ref") / ref);
}

/// A bench may state the middle of its paired ratios, or the ratio of its samples' middles: then it follows
/// from the samples beside it.
bool follows_samples(const EvalReport& report, const WorkloadReading& workload) {
  const std::vector<double>& student = workload.student.samples_ms;
  const std::vector<double>& ref = workload.ref.samples_ms;
  if (student.empty() || student.size() != ref.size()) return false;
  std::vector<double> paired;
  double student_sum = 0;
  double ref_sum = 0;
  for (std::size_t i = 0; i < student.size(); ++i) {
    paired.push_back(ref[i] / student[i]);
    student_sum += student[i];
    ref_sum += ref[i];
  }
  const std::string stated = pointer_of(report, workload, "/ratio");
  for (const std::optional<double>& ratio :
       {median(paired), geometric_mean(paired), std::optional(*median(ref) / *median(student)),
        std::optional(ref_sum / student_sum)}) {
    if (ratio && agrees(report, stated, *workload.ratio, *ratio, 0, kMostForgivenWorkload)) return true;
  }
  return false;
}

/// How far the mean may be off, relative, by the digits of the workloads' ratios.
double unsure_mean(const EvalReport& report) {
  double sum = 0;
  for (const WorkloadReading& workload : report.workloads) {
    if (workload.ratio) sum += written_half(report, pointer_of(report, workload, "/ratio")) / *workload.ratio;
  }
  return sum / static_cast<double>(report.workloads.size());
}

void check_ratio(const EvalReport& report, const Places& at, Diagnostics& out) {
  for (const WorkloadReading& workload : report.workloads) {
    const auto student = reading_of(workload.student, report.timed);
    const auto ref = reading_of(workload.ref, report.timed);
    if (!workload.ratio || !student || !ref || near(*workload.ratio, *ref / *student, kRounding)) continue;
    if (agrees(report, pointer_of(report, workload, "/ratio"), *workload.ratio, *ref / *student,
               unsure_ratio(report, workload, *student, *ref), kMostForgivenWorkload) ||
        follows_samples(report, workload)) {
      continue;
    }
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
                           "a workload has no ratio: a mean over the others is not a verdict",
                           at.performance("/ratio")));
  } else if (report.ratio && mean && !near(*report.ratio, *mean, kRounding) &&
             !agrees(report, "/performance/ratio", *report.ratio, *mean, *mean * unsure_mean(report),
                     kMostForgiven)) {
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
    const auto ratio = ratio_of(workload, report.timed);
    if (workload.distinguishable == false && ratio) {
      out.push_back(
          diagnose("eval-aa-spread",
                   fmt::format("workload '{}': A/A: the ratio {} is not distinguishable, the bench's own "
                               "smallest difference is larger",
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
