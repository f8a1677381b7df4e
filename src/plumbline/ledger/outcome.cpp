// SPDX-License-Identifier: Apache-2.0
#include "plumbline/ledger/outcome.h"

#include <algorithm>
#include <array>
#include <set>

#include "plumbline/base/hash.h"
#include "plumbline/base/json.h"

#include <nlohmann/json.hpp>

namespace plumbline::ledger {
namespace {

struct Known {
  std::string_view code;
  std::string_view outcome;
};
// The codes of the harness's findings. `interference` is another user of the GPU or a student that keeps it
// busy, which one reading cannot tell apart: no number, no penalty, measured again.
constexpr auto kFindings = std::to_array<Known>({
    {"late-work", "tampering"},
    {"time-forged", "tampering"},
    {"window-forged", "tampering"},
    {"patched", "tampering"},
    {"mode-active", "tampering"},
    {"draws-remembered", "tampering"},
    {"contents-remembered", "tampering"},
    {"files-changed", "tampering"},
    {"wrong-output", "fail-correctness"},
    {"output-type", "fail-correctness"},
    {"output-count", "fail-correctness"},
    {"output-shape", "fail-correctness"},
    {"output-dtype", "fail-correctness"},
    {"input-mutated", "fail-correctness"},
    {"undeclared-parameter", "fail-correctness"},
    {"student-raised", "fail-correctness"},
    {"worker-died", "fail-correctness"},
    {"worker-answer", "fail-correctness"},
    {"time-limit", "fail-correctness"},
    {"call-failed", "fail-correctness"},
    {"prep-mutated", "fail-prep"},
    {"interference", "infrastructure"},
    {"cuda-error", "infrastructure"},
    {"no-driver", "infrastructure"},
    {"no-device", "infrastructure"},
});

std::string version_of(const HarnessFacts& harness) {
  return harness.version.empty() ? harness.name : harness.name + " " + harness.version;
}

void fill_numbers(const Confirmation& c, RunRecord& record) {
  const EvalReport& eval = c.in.eval;
  record.gate = c.in.gate;
  record.raw_ratio = c.raw_ratio;
  if (c.raw_interval) {
    record.raw_low = c.raw_interval->low;
    record.raw_high = c.raw_interval->high;
  }
  if (c.credited) record.credited_ratio = c.credited->credited_ratio;
  if (c.credited_interval) {
    record.credited_low = c.credited_interval->interval.low;
    record.credited_high = c.credited_interval->interval.high;
  }
  record.student_ms = eval.student_ms;
  record.ref_ms = eval.ref_ms;
  record.prep_ms = eval.prep_ms;
  if (const WorkloadReading* campaign = eval.campaign_workload()) record.sm_mhz = campaign->student.sm_mhz;
  std::set<std::pair<std::string, std::string>> seen;
  for (const WorkloadReading& w : eval.workloads) {
    if (!seen.emplace(w.name, w.shape).second) continue;  // a finding of its own says so
    record.readings.push_back({w.name, w.shape, reading_of(w.student, eval.timed),
                               reading_of(w.ref, eval.timed), ratio_of(w, eval.timed), ratio_noise(w)});
  }
}

}  // namespace

std::string_view outcome_of_finding(std::string_view code) {
  const auto found = std::find_if(kFindings.begin(), kFindings.end(),
                                  [&](const Known& known) { return known.code == code; });
  return found == kFindings.end() ? std::string_view("bench-defect") : found->outcome;
}

std::string classify(const Confirmation& c) {
  std::set<std::string_view> seen;
  for (const WorkloadReading& w : c.in.eval.workloads) {
    for (const HarnessFinding& finding : w.findings) seen.insert(outcome_of_finding(finding.code));
  }
  for (const std::string& reason : c.in.eval.refused) {
    if (reason.find("[files-changed]") != std::string::npos) seen.insert("tampering");
  }
  for (const char* outcome : {"tampering", "fail-correctness", "fail-prep", "infrastructure"}) {
    if (seen.contains(outcome)) return outcome;
  }
  if (!c.prep_findings.empty()) return "fail-prep";
  if (!c.failures.empty() || !c.raw_ratio) return "bench-defect";
  if (c.within_noise) return "within-noise";
  return c.passed ? "pass" : "fail-gate";
}

std::string boundary_of(const WindowContract& contract) {
  const auto names = [](const std::vector<Field>& fields) {
    std::vector<std::string> out;
    for (const Field& field : fields) out.push_back(field.text);
    std::sort(out.begin(), out.end());
    return out;
  };
  return sha256_hex(write_json_line(
      {{"reference",
        {{"inputs", names(contract.reference.inputs)}, {"outputs", names(contract.reference.outputs)}}},
       {"student",
        {{"inputs", names(contract.student.inputs)}, {"outputs", names(contract.student.outputs)}}}}));
}

RunRecord record_of(const Confirmation& c, const std::string& card) {
  RunRecord record;
  record.card = card;
  record.outcome = classify(c);
  record.series = {c.in.eval.device, c.in.eval.driver, c.in.eval.window, version_of(c.in.eval.harness),
                   boundary_of(c.in.contract)};
  if (may_carry_numbers(record.outcome)) fill_numbers(c, record);
  return record;
}

}  // namespace plumbline::ledger
