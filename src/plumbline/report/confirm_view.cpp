// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/confirm_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>

#include "plumbline/base/numbers.h"

namespace plumbline {
namespace {

constexpr std::size_t kMostKernels = 24;  // listed a side; the priced ones always are

SideView collect_side(const std::optional<KernelTable>& table, const std::vector<std::string>& marks,
                      Payer side, const Confirmation& c) {
  SideView view;
  view.title = to_string(side);
  view.window = side == Payer::student ? c.student_window : c.ref_window;
  if (c.credit) {
    view.priced = fmt::format("{}", fmt::join(c.credit->of(side).priced, ", "));
    view.priced_pct = 100 * c.credit->of(side).fraction;
  }
  if (!table || table->kernels.empty()) return view;
  view.table = true;
  view.per_call = table->calls && *table->calls > 0;
  const double calls = view.per_call ? static_cast<double>(*table->calls) : 1;
  std::map<std::string_view, int> same_identity;
  for (const KernelRow& row : table->kernels) ++same_identity[row.identity];
  for (std::size_t i = 0; i < table->kernels.size(); ++i) {
    const KernelRow& row = table->kernels[i];
    const double us = row.time_ns / 1e3 / calls;
    view.total_us += us;
    if (i >= kMostKernels && marks[i].empty()) {
      ++view.left_out;
      view.left_out_us += us;
      continue;
    }
    const bool plain = !row.identity.empty() && same_identity[row.identity] == 1;
    view.kernels.push_back({plain ? row.identity : row.name, row.launches,
                            static_cast<double>(row.launches) / calls, us, row.pct, row.tensor_pct,
                            marks[i]});
  }
  return view;
}

/// Which assumption gives an end: only the sides that are priced have one.
std::string corner_words(const CreditCorner& corner, const Credit& credit) {
  std::string words;
  const auto add = [&](std::string_view side, Gaps gaps, double fraction) {
    if (fraction == 0) return;
    words += fmt::format("{}if the gaps between the {}'s kernels {}", words.empty() ? "" : ", and ", side,
                         gaps == Gaps::scale ? "shrink with the work taken out" : "stay as they are");
  };
  add("student", corner.student, credit.student.fraction);
  add("reference", corner.reference, credit.reference.fraction);
  return words.empty() ? "nothing is taken out" : words;
}

void explain_credit(const Confirmation& c, std::vector<std::string>& because) {
  if (!c.credit) {
    because.push_back("The contract prices nothing, so there is no credited ratio.");
    return;
  }
  for (const Payer side : {Payer::student, Payer::reference}) {
    const SideCredit& priced = c.credit->of(side);
    if (priced.priced.empty() || priced.matched.empty()) continue;
    because.push_back(
        fmt::format("{} {} {} % of the {}'s kernel time; the {} does not do that work in its window.",
                    fmt::join(priced.priced, ", "), priced.priced.size() == 1 ? "costs" : "cost",
                    format_fixed(100 * priced.fraction, 1), to_string(side),
                    to_string(side == Payer::student ? Payer::reference : Payer::student)));
  }
  if (!c.credited) {
    because.push_back(
        c.credit->usable()
            ? "There is no credited ratio: a reading is missing, or nothing would remain of a window."
            : "The credit cannot be trusted, which is not a credit of zero: see below.");
    return;
  }
  const CreditInterval& interval = *c.credited_interval;
  because.push_back(fmt::format("Less favourable end {}: {}.", format_fixed(interval.interval.low, 3),
                                corner_words(interval.least, *c.credit)));
  because.push_back(fmt::format("More favourable end {}: {}.", format_fixed(interval.interval.high, 3),
                                corner_words(interval.most, *c.credit)));
  if (!interval.gaps_known) {
    because.push_back(
        "The kernel time of one call is not known: the gaps are weighed at both ends of what a "
        "table may cover of its window, 0.8 and 1.2.");
  }
  because.push_back(interval.from_samples
                        ? "Both ends include the noise of the samples (95 % bootstrap)."
                        : "The readings carry no samples: their noise is not in the interval.");
}

/// Three digits, unless they would show the raw ratio as the gate although it is not.
int digits_for(const Confirmation& c) {
  const bool alike = c.raw_ratio && *c.raw_ratio != c.in.gate && std::abs(*c.raw_ratio - c.in.gate) < 1e-3;
  return alike ? 5 : 3;
}

std::string verdict_of(const Confirmation& c, int digits) {
  const std::string gate = format_fixed(c.in.gate, digits);
  if (!c.raw_ratio) return "Not passed: there is no raw ratio.";
  const std::string raw = format_fixed(*c.raw_ratio, digits);
  const bool under = *c.raw_ratio < c.in.gate;
  const std::string noise =
      c.within_noise ? " The gate lies within the noise of the measurement." : std::string();
  if (!c.failures.empty()) {
    return fmt::format("Not passed: the report does not hold ({}){}.", c.failures.front().code,
                       under ? fmt::format(", and the raw ratio {} is under the gate of {}", raw, gate) : "");
  }
  if (under) return fmt::format("Not passed: the raw ratio {} is under the gate of {}.", raw, gate) + noise;
  return fmt::format("Passed: the raw ratio {} is not under the gate of {}.", raw, gate) + noise;
}

std::string calls_words(const std::optional<double>& calls) {
  return calls ? fmt::format("{} calls", format_fixed(*calls, 1)) : std::string("never");
}

void explain_prep(const Confirmation& c, ConfirmView& view) {
  if (!c.in.eval.prep) return;
  if (view.prep_ms) {
    view.prep_words.push_back(
        fmt::format("The prep step takes {} ms, outside every window.", format_fixed(*view.prep_ms, 4)));
  } else {
    view.prep_words.push_back("The bench does not say what the prep step costs.");
  }
  if (c.break_even) {
    const BreakEven& even = *c.break_even;
    view.prep_words.push_back(
        fmt::format("Only the {} needs it. It has paid for itself after: {}{}{}.", to_string(even.side),
                    calls_words(even.calls),
                    c.credited ? "; against the credited times: " + calls_words(even.calls_credited) : "",
                    even.also_shared ? " (at most: it also makes tensors that both receive)" : ""));
  }
  if (c.prep_findings.empty() && !prep_entries(c.in.contract).empty()) {
    view.prep_words.push_back("What it made is what the contract declares.");
  }
}

}  // namespace

namespace {

/// Why it did not pass, then what is doubted.
Diagnostics reasons_of(const Confirmation& c, int digits) {
  Diagnostics out = c.failures;
  if (c.raw_ratio && *c.raw_ratio < c.in.gate) {
    out.push_back(diagnose("gate-not-reached",
                           fmt::format("the raw ratio {} is under the gate of {}",
                                       format_fixed(*c.raw_ratio, digits), format_fixed(c.in.gate, digits))));
  }
  out.insert(out.end(), c.doubts.begin(), c.doubts.end());
  return out;
}

}  // namespace

ConfirmView collect_confirm(const Confirmation& c, std::string card, std::string run,
                            std::optional<Rerun> against) {
  ConfirmView view;
  view.card = std::move(card);
  view.run = std::move(run);
  const EvalReport& eval = c.in.eval;
  view.device = eval.device;
  view.window = eval.window;
  view.harness = eval.harness;
  view.gate = c.in.gate;
  view.passed = c.passed;
  view.raw_ratio = c.raw_ratio;
  view.raw_interval = c.raw_interval;
  view.credit = c.credit;
  view.credited = c.credited;
  view.credited_interval = c.credited_interval;
  view.digits = digits_for(c);
  view.verdict = verdict_of(c, view.digits);
  if (eval.timed == WindowKind::pipelined) view.per_call_ratio = c.per_call_ratio;
  view.within_noise = c.within_noise;
  view.credited_mean = c.credited_mean;
  if (const WorkloadReading* campaign = eval.campaign_workload()) view.campaign = campaign->name;
  view.one_sided = c.one_sided;
  explain_credit(c, view.because);
  for (std::size_t i = 0; i < eval.workloads.size(); ++i) {
    const WorkloadReading& w = eval.workloads[i];
    WorkloadLine& line = view.workloads.emplace_back();
    line.name = w.name;
    line.campaign = i == eval.campaign;
    line.ref_ms = reading_of(w.ref, eval.timed);
    line.student_ms = reading_of(w.student, eval.timed);
    line.ratio = ratio_of(w, eval.timed);
    if (view.per_call_ratio) line.per_call_ratio = *w.ref.per_call_ms / *w.student.per_call_ms;
    line.aa_ratio = w.aa_ratio;
    if (i < c.workload_credits.size() && c.workload_credits[i].credited)
      line.credited_ratio = c.workload_credits[i].credited->credited_ratio;
    line.ref_samples = w.ref.samples_ms.size();
    line.student_samples = w.student.samples_ms.size();
  }
  view.student = collect_side(c.in.student_table, c.student_marks, Payer::student, c);
  view.reference = collect_side(c.in.ref_table, c.ref_marks, Payer::reference, c);
  view.prep_ms = eval.prep_ms;
  view.break_even = c.break_even;
  view.prep_findings = c.prep_findings;
  explain_prep(c, view);
  view.failures = c.failures;
  view.doubts = c.doubts;
  view.against = std::move(against);
  if (view.against && !view.against->comparable()) {
    view.doubts.push_back(
        diagnose("against-apart", fmt::format("run {} and this one cannot be compared: {}", view.against->run,
                                              fmt::join(view.against->apart, "; "))));
  }
  view.reasons = reasons_of(c, view.digits);
  if (view.doubts.size() > c.doubts.size()) view.reasons.push_back(view.doubts.back());
  view.sources = c.sources;
  view.student_table = c.in.student_table;
  view.ref_table = c.in.ref_table;
  return view;
}

}  // namespace plumbline
