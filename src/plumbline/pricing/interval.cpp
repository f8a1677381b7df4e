// SPDX-License-Identifier: Apache-2.0
#include "plumbline/pricing/interval.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace plumbline {
namespace {

/// The priced time of one call in ms, where the kernel time of a call is known. Where it is not, it is only
/// known that a table that belongs to the window covers 1 ± kCoverageBand of it: both ends are possible.
std::vector<double> matched_ms(const SideCredit& side, const SideInput& input) {
  if (side.fraction == 0) return {0.0};
  if (input.ns_per_call) return {side.fraction * *input.ns_per_call / 1e6};
  return {side.fraction * *input.reading_ms * (1 - kCoverageBand),
          side.fraction * *input.reading_ms * (1 + kCoverageBand)};
}

/// One assumption of one side: the gaps, and what the priced work took of a call.
struct Assumption {
  Gaps gaps = Gaps::scale;
  double priced_ms = 0;
};

struct SideView {
  const SideCredit& credit;
  std::vector<double> priced_ms;
  double reading_ms;
  std::span<const double> samples;

  std::vector<Assumption> assumptions() const {
    std::vector<Assumption> out = {{}};
    if (credit.fraction == 0) return out;
    for (const double ms : priced_ms) out.push_back({Gaps::stay, ms});
    return out;
  }
  /// A reading, or a sample, less the priced work. May be negative under Gaps::stay.
  double less_priced(double ms, const Assumption& a) const {
    return a.gaps == Gaps::scale ? ms * (1 - credit.fraction) : ms - a.priced_ms;
  }
  std::vector<double> all_samples(const Assumption& a) const {
    std::vector<double> out;
    for (const double ms : samples) out.push_back(less_priced(ms, a));
    return out;
  }
};

std::vector<CreditCorner> corners(const SideView& student, const SideView& reference) {
  std::vector<CreditCorner> out;
  for (const Assumption& s : student.assumptions()) {
    for (const Assumption& r : reference.assumptions()) {
      const double top = reference.less_priced(reference.reading_ms, r);
      const double bottom = student.less_priced(student.reading_ms, s);
      if (!(top > 0) || !(bottom > 0)) continue;  // more was matched than the window holds
      out.push_back({s.gaps, r.gaps, top / bottom,
                     bootstrap_ratio_of_medians(reference.all_samples(r), student.all_samples(s))});
    }
  }
  return out;
}

Interval reach(const CreditCorner& corner) {
  if (!corner.interval) return {corner.ratio, corner.ratio};
  return {std::min(corner.ratio, corner.interval->low), std::max(corner.ratio, corner.interval->high)};
}

}  // namespace

std::optional<WindowShare> window_share(const SideInput& side) {
  if (!side.ns_per_call || !side.reading_ms || *side.reading_ms <= 0) return {};
  WindowShare share;
  share.window_ms = *side.reading_ms;
  share.busy_ms = *side.ns_per_call / 1e6;
  share.coverage = share.busy_ms / share.window_ms;
  share.gaps_ms = std::max(0.0, share.window_ms - share.busy_ms);
  share.unaccounted = share.gaps_ms / share.window_ms;
  return share;
}

std::optional<CreditInterval> credit_interval(const Credit& credit, const SideInput& student,
                                              const SideInput& reference, const WorkloadReading* campaign) {
  if (!credited_times(credit, student.reading_ms, reference.reading_ms)) return {};
  const auto samples_of = [&](const SideReading WorkloadReading::*side) {
    return campaign ? std::span<const double>((campaign->*side).samples_ms) : std::span<const double>();
  };
  const SideView s{credit.student, matched_ms(credit.student, student), *student.reading_ms,
                   samples_of(&WorkloadReading::student)};
  const SideView r{credit.reference, matched_ms(credit.reference, reference), *reference.reading_ms,
                   samples_of(&WorkloadReading::ref)};
  const std::vector<CreditCorner> all = corners(s, r);
  if (all.empty()) return {};
  CreditInterval result;
  result.least = result.most = all.front();
  for (const CreditCorner& corner : all) {
    if (reach(corner).low < reach(result.least).low) result.least = corner;
    if (reach(corner).high > reach(result.most).high) result.most = corner;
  }
  result.interval = {reach(result.least).low, reach(result.most).high};
  result.from_samples = all.front().interval.has_value();
  result.gaps_known = s.priced_ms.size() == 1 && r.priced_ms.size() == 1;
  return result;
}

std::optional<Interval> raw_interval(const EvalReport& report) {
  std::vector<SamplePair> pairs;
  for (const WorkloadReading& workload : report.workloads) {
    pairs.push_back({workload.ref.samples_ms, workload.student.samples_ms});
  }
  return bootstrap_geomean_of_ratios(pairs);
}

std::optional<Payer> one_sided_prep(const WindowContract& contract) {
  bool student = false;
  bool reference = false;
  for (const Asymmetry& entry : contract.asymmetries) {
    const bool one_sided = entry.treated == EntryClass::price || entry.treated == EntryClass::accept;
    if (!one_sided || entry.producer != Producer::prep) continue;
    student = student || entry.kind == EntryKind::student_input;
    reference = reference || entry.kind == EntryKind::ref_input;
  }
  if (student == reference) return {};
  return student ? Payer::student : Payer::reference;
}

std::optional<BreakEven> break_even(const WindowContract& contract, std::optional<double> prep_ms,
                                    std::optional<double> student_ms, std::optional<double> ref_ms,
                                    const std::optional<CreditedTimes>& credited) {
  const std::optional<Payer> side = one_sided_prep(contract);
  if (!side || !prep_ms || !student_ms || !ref_ms) return {};
  const auto calls = [&](double student, double reference) -> std::optional<double> {
    const double gain = *side == Payer::student ? reference - student : student - reference;
    return gain > 0 ? std::optional(*prep_ms / gain) : std::nullopt;
  };
  BreakEven even;
  even.side = *side;
  even.prep_ms = *prep_ms;
  even.also_shared = !prep_entries(contract).empty();
  even.calls = calls(*student_ms, *ref_ms);
  if (credited) even.calls_credited = calls(credited->credited_student_ms, credited->credited_ref_ms);
  return even;
}

}  // namespace plumbline
