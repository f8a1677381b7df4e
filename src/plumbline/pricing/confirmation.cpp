// SPDX-License-Identifier: Apache-2.0
#include "plumbline/pricing/confirmation.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/contract/prep_report.h"

namespace plumbline {
namespace {

constexpr double kOverlapDoubted = 0.01;  // of the kernel time; time stamps of neighbours overlap a little

std::string table_detail(const KernelTable& table) {
  std::string detail = table.source;
  if (table.calls) detail += fmt::format(", {} call{}", *table.calls, *table.calls == 1 ? "" : "s");
  if (!table.device.empty()) detail += ", " + table.device;
  return detail;
}

std::vector<Source> sources_of(const ConfirmInputs& in) {
  std::vector<Source> sources;
  sources.push_back({"readings", in.eval.file,
                     in.eval.window.empty()
                         ? in.eval.device
                         : in.eval.window + (in.eval.device.empty() ? "" : ", " + in.eval.device)});
  if (in.student_table)
    sources.push_back({"student kernels", in.student_table_file, table_detail(*in.student_table)});
  if (in.ref_table) sources.push_back({"reference kernels", in.ref_table_file, table_detail(*in.ref_table)});
  sources.push_back({"contract", in.contract.file, ""});
  return sources;
}

/// Why a table was not held against its window although the credit rests on it.
void doubt_missing_calls(const Confirmation& c, Payer side, const std::optional<KernelTable>& table,
                         Diagnostics& out) {
  if (!c.credit || c.credit->of(side).priced.empty() || !table || table->kernels.empty()) return;
  if (table->time_ns_per_call) return;
  out.push_back(diagnose(
      "calls-unknown",
      fmt::format("the {}'s table does not say how many calls it covers: it was not held against the "
                  "window, and what its gaps do is not known",
                  to_string(side))));
}

/// Launches that ran side by side: the sum of their times is more than they took of the window.
void doubt_overlap(const Confirmation& c, Payer side, const std::optional<KernelTable>& table,
                   Diagnostics& out) {
  if (!c.credit || c.credit->of(side).matched.empty() || !table || !table->overlap_ns) return;
  const double share = *table->overlap_ns / table->total_ns;
  if (!(share > kOverlapDoubted)) return;
  out.push_back(
      diagnose("kernels-overlap",
               fmt::format("{} % of the {}'s kernel time ran beside other kernels: taking a kernel out "
                           "need not shorten the window by its time",
                           format_fixed(100 * share, 1), to_string(side))));
}

/// A profiler that knows the compute capability alone says "CC 9.0": that names no device.
bool names_a_device(const std::string& device) { return !device.empty() && !device.starts_with("CC "); }

void doubt_devices(const ConfirmInputs& in, Diagnostics& out) {
  std::string first = names_a_device(in.eval.device) ? in.eval.device : "";
  for (const auto* table : {&in.student_table, &in.ref_table}) {
    if (!table->has_value() || !names_a_device((*table)->device)) continue;
    if (first.empty()) first = (*table)->device;
    if ((*table)->device == first) continue;
    out.push_back(diagnose("device-differs", fmt::format("readings and kernel tables come from '{}' and '{}'",
                                                         first, (*table)->device)));
    return;
  }
}

void collect_doubts(Confirmation& c, const Diagnostics& held) {
  const ConfirmInputs& in = c.in;
  Diagnostics& doubts = c.doubts;
  for (const Finding& warning : in.contract_warnings) doubts.push_back(warning);
  for (const Diagnostic& d : held) {
    if (d.severity != Severity::finding) doubts.push_back(d);
  }
  if (c.credit) {
    for (const CreditReason& reason : c.credit->why) doubts.push_back(diagnose(reason.code, reason.message));
  }
  const KernelTable* student = in.student_table ? &*in.student_table : nullptr;
  const KernelTable* reference = in.ref_table ? &*in.ref_table : nullptr;
  for (Diagnostic& warning : credit_warnings(in.contract, student, reference))
    doubts.push_back(std::move(warning));
  doubt_missing_calls(c, Payer::student, in.student_table, doubts);
  doubt_missing_calls(c, Payer::reference, in.ref_table, doubts);
  doubt_overlap(c, Payer::student, in.student_table, doubts);
  doubt_overlap(c, Payer::reference, in.ref_table, doubts);
  doubt_devices(in, doubts);
}

}  // namespace

Confirmation confirm(ConfirmInputs inputs) {
  Confirmation c;
  c.in = std::move(inputs);
  const ConfirmInputs& in = c.in;
  const EvalReport& eval = in.eval;
  c.raw_ratio = raw_ratio(eval);
  if (c.raw_ratio) c.raw_interval = raw_interval(eval);

  const SideInput student = side_input(in.student_table ? &*in.student_table : nullptr, eval.student_ms);
  const SideInput reference = side_input(in.ref_table ? &*in.ref_table : nullptr, eval.ref_ms);
  c.credit = price_credit(in.contract, student, reference);
  if (c.credit) {
    c.credited = credited_times(*c.credit, eval.student_ms, eval.ref_ms);
    c.credited_interval = credit_interval(*c.credit, student, reference, eval.campaign_workload());
  }
  if (in.student_table) c.student_marks = entries_by_row(in.contract, Payer::student, *in.student_table);
  if (in.ref_table) c.ref_marks = entries_by_row(in.contract, Payer::reference, *in.ref_table);
  c.student_window = window_share(student);
  c.ref_window = window_share(reference);
  c.break_even = break_even(in.contract, eval.prep_ms, eval.student_ms, eval.ref_ms, c.credited);

  static const OrderedJson kNoReport;
  c.prep_findings = check_prep_report(in.contract, eval.prep ? *eval.prep : kNoReport, eval.file);
  const Diagnostics held = check_eval(eval, in.leaderboard);
  for (const Diagnostic& d : held) {
    if (d.severity == Severity::finding) c.failures.push_back(d);
  }
  for (const Finding& finding : c.prep_findings) c.failures.push_back(finding);
  c.passed = c.raw_ratio && *c.raw_ratio >= in.gate && c.failures.empty();
  collect_doubts(c, held);
  c.sources = sources_of(in);
  return c;
}

}  // namespace plumbline
