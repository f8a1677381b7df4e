// SPDX-License-Identifier: Apache-2.0
#include "plumbline/evidence/confirmation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "plumbline/base/text.h"
#include "plumbline/contract/prep_report.h"

namespace plumbline {
namespace {

std::string table_detail(const KernelTable& table) {
  std::string detail = table.source;
  if (table.calls) detail += fmt::format(", {} call{}", *table.calls, *table.calls == 1 ? "" : "s");
  if (!table.device.empty()) detail += ", " + table.device;
  return detail;
}

/// "pipelined, NVIDIA H200, plumbline 0.1.0": what is known of window, GPU and harness.
std::string reading_detail(const EvalReport& eval) {
  std::string detail;
  for (const std::string& part : {eval.window, eval.device, printable(harness_words(eval))}) {
    if (!part.empty()) detail.append(detail.empty() ? "" : ", ").append(part);
  }
  return detail;
}

std::vector<Source> sources_of(const ConfirmInputs& in) {
  std::vector<Source> sources;
  sources.push_back({"readings", in.eval.file, reading_detail(in.eval), ""});
  if (in.student_table)
    sources.push_back({"student kernels", in.student_table_file, table_detail(*in.student_table),
                       in.student_table->file_sha256});
  if (in.ref_table)
    sources.push_back(
        {"reference kernels", in.ref_table_file, table_detail(*in.ref_table), in.ref_table->file_sha256});
  sources.push_back({"contract", in.contract.file, "", ""});
  return sources;
}

void sort_out(const Diagnostics& all, Confirmation& c) {
  for (const Diagnostic& d : all) (d.severity == Severity::finding ? c.failures : c.doubts).push_back(d);
}

/// The gate lies within what the raw ratio may be off: by its samples, by the intervals that the bench
/// states, or by the smallest differences that it claims.
bool within_noise(const Confirmation& c) {
  if (!c.raw_ratio) return false;
  const double gate = c.in.gate;
  if (c.raw_interval && c.raw_interval->low <= gate && gate <= c.raw_interval->high) return true;
  const auto noise = mean_noise(c.in.eval);
  return noise && std::abs(*c.raw_ratio / gate - 1) <= *noise;
}

const KernelTable* pointer(const std::optional<KernelTable>& table) { return table ? &*table : nullptr; }

/// What was said of each workload's tables: one code is spelled out for the first few, then counted.
class WorkloadDoubts {
 public:
  void add(const std::string& workload, const Diagnostics& messages) {
    for (Diagnostic d : messages) {
      if (++count_[d.code] > kSpelled) continue;
      d.message = fmt::format("workload '{}': {}", printable(workload), d.message);
      spelled_.push_back(std::move(d));
    }
  }
  Diagnostics all() const {
    Diagnostics out = spelled_;
    for (const auto& [code, count] : count_) {
      if (count > kSpelled)
        out.push_back(diagnose(code, fmt::format("and {} more workloads likewise", count - kSpelled)));
    }
    return out;
  }

 private:
  static constexpr std::size_t kSpelled = 3;
  Diagnostics spelled_;
  std::map<std::string, std::size_t> count_;
};

/// The tables of a workload beside the campaign's: priced, and held to its own readings.
std::optional<CreditedTimes> judge_tables(const Confirmation& c, const WorkloadReading& workload,
                                          const WorkloadTables& tables, const Documents& campaign,
                                          Diagnostics& messages) {
  Documents own = campaign;
  own.student = pointer(tables.student);
  own.reference = pointer(tables.reference);
  own.workload = &workload;
  const auto student = own.reading_ms(Payer::student);
  const auto ref = own.reading_ms(Payer::reference);
  const std::vector<EntryMatches> matches = match_entries(c.in.contract, own.student, own.reference);
  const auto credit =
      price_credit(c.in.contract, matches, side_input(own.student, student), side_input(own.reference, ref));
  own.credit = credit ? &*credit : nullptr;
  for (const CreditReason& reason : credit ? credit->why : std::vector<CreditReason>{})
    messages.push_back(diagnose(reason.code, reason.message));
  const Diagnostics warnings = credit_warnings(c.in.contract, matches, own.student, own.reference);
  messages.insert(messages.end(), warnings.begin(), warnings.end());
  check_tables(own, messages);
  return credit ? credited_times(*credit, student, ref) : std::nullopt;
}

void judge_workloads(Confirmation& c, const Documents& campaign) {
  const EvalReport& eval = c.in.eval;
  if (c.in.workload_tables.empty()) return;
  WorkloadDoubts doubts;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < eval.workloads.size(); ++i) {
    WorkloadCredit& own = c.workload_credits.emplace_back();
    own.name = eval.workloads[i].name;
    const auto found = c.in.workload_tables.find(own.name);
    if (i == eval.campaign) {
      own.credited = c.credited;
    } else if (found != c.in.workload_tables.end()) {
      Diagnostics messages;
      own.credited = judge_tables(c, eval.workloads[i], found->second, campaign, messages);
      doubts.add(own.name, messages);
    }
    if (own.credited) ratios.push_back(own.credited->credited_ratio);
  }
  if (ratios.size() == eval.workloads.size()) c.credited_mean = geometric_mean(ratios);
  for (const auto& [name, tables] : c.in.workload_tables) {
    const bool timed = std::any_of(eval.workloads.begin(), eval.workloads.end(),
                                   [&](const WorkloadReading& w) { return w.name == name; });
    if (!timed)
      doubts.add(name, {diagnose("tables-workload-unknown", "it has kernel tables and no reading")});
  }
  sort_out(doubts.all(), c);
}

}  // namespace

Confirmation confirm(ConfirmInputs inputs) {
  Confirmation c;
  c.in = std::move(inputs);
  const ConfirmInputs& in = c.in;
  const EvalReport& eval = in.eval;
  c.raw_ratio = raw_ratio(eval);
  if (c.raw_ratio) c.raw_interval = raw_interval(eval);
  c.per_call_ratio = per_call_ratio(eval);

  const KernelTable* student_table = pointer(in.student_table);
  const KernelTable* ref_table = pointer(in.ref_table);
  const SideInput student = side_input(student_table, eval.student_ms);
  const SideInput reference = side_input(ref_table, eval.ref_ms);
  const std::vector<EntryMatches> matches = match_entries(in.contract, student_table, ref_table);
  c.credit = price_credit(in.contract, matches, student, reference);
  if (c.credit) {
    c.credited = credited_times(*c.credit, eval.student_ms, eval.ref_ms);
    c.credited_interval = credit_interval(*c.credit, student, reference, eval.campaign_workload());
  }
  if (student_table) c.student_marks = entries_by_row(matches, Payer::student, student_table->kernels.size());
  if (ref_table) c.ref_marks = entries_by_row(matches, Payer::reference, ref_table->kernels.size());
  c.one_sided = one_sided_kernels(student_table, ref_table);
  c.student_window = window_share(student);
  c.ref_window = window_share(reference);
  c.break_even = break_even(in.contract, eval.prep_ms, eval.student_ms, eval.ref_ms, c.credited);

  for (const Finding& warning : in.contract_warnings) c.doubts.push_back(warning.diagnostic);
  for (const Diagnostic& warning : in.read_warnings) c.doubts.push_back(warning);
  sort_out(check_eval(eval, in.leaderboard), c);
  static const OrderedJson kNoReport;
  c.prep_findings = check_prep_report(in.contract, eval.prep ? *eval.prep : kNoReport, eval.file);
  for (const Finding& finding : c.prep_findings) c.failures.push_back(finding.diagnostic);
  if (c.credit) {
    for (const CreditReason& reason : c.credit->why)
      c.doubts.push_back(diagnose(reason.code, reason.message));
  }
  sort_out(credit_warnings(in.contract, matches, student_table, ref_table), c);
  const Documents documents{&in.contract,
                            &eval,
                            student_table,
                            ref_table,
                            nullptr,
                            c.credit ? &*c.credit : nullptr,
                            in.gpu ? &*in.gpu : nullptr,
                            in.card ? &*in.card : nullptr,
                            in.leaderboard,
                            in.gate,
                            c.raw_interval};
  sort_out(check_evidence(documents), c);
  judge_workloads(c, documents);
  c.passed = c.raw_ratio && *c.raw_ratio >= in.gate && c.failures.empty();
  c.within_noise = within_noise(c);
  c.sources = sources_of(in);
  return c;
}

}  // namespace plumbline
