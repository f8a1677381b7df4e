// SPDX-License-Identifier: Apache-2.0
#include "plumbline/ledger/gate_runs.h"

#include <algorithm>
#include <cmath>

namespace plumbline::ledger {
namespace {

/// A run and its kernels, before it is known whether all of them have a reference's.
struct Raw {
  GateRun run;
  std::vector<BankedKernel> kernels;
  double student_ns = 0, ref_ns = 0;
};

double sum_of(const std::vector<BankedKernel>& kernels) {
  double ns = 0;
  for (const BankedKernel& kernel : kernels) ns += kernel.ns;
  return ns;
}

}  // namespace

Parsed<std::vector<GateRun>> gate_runs(Ledger& ledger, const std::string& card, std::int64_t series,
                                       std::size_t most) {
  Connection& connection = ledger.connection();
  std::vector<Raw> raws;
  std::vector<std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>>> tables;
  connection.run(
      "SELECT r.id, k.student, k.bench, k.reference, k.contract, r.student_table_id, r.ref_table_id FROM "
      "runs r "
      "JOIN code k ON k.id = r.code_id JOIN cards c ON c.id = r.card_id WHERE r.series_id = $1 AND c.name = "
      "$2 AND "
      "r.outcome IN ('pass', 'fail-gate', 'within-noise') AND r.raw_ratio IS NOT NULL AND NOT EXISTS (SELECT "
      "1 FROM "
      "runs n WHERE n.corrects = r.id) ORDER BY r.id DESC LIMIT $3",
      {Param(series), Param(std::string_view(card)), Param(static_cast<std::int64_t>(most))},
      [&](const RowView& row) {
        Raw& raw = raws.emplace_back();
        raw.run.id = row.integer(0);
        if (!row.text(1).empty()) raw.run.code = row.text(1) + row.text(2) + row.text(3) + row.text(4);
        tables.emplace_back(row.maybe_integer(5), row.maybe_integer(6));
      });
  bool all_have_reference = true;
  for (std::size_t i = 0; i < raws.size() && !connection.failure(); ++i) {
    Raw& raw = raws[i];
    const auto readings = ledger.readings(raw.run.id);
    if (!readings.ok()) return {std::nullopt, readings.diagnostics};
    for (const Reading& reading : *readings.value) {
      if (reading.ratio && *reading.ratio > 0)
        raw.run.times[{false,
                       reading.shape.empty() ? reading.workload : reading.workload + " " + reading.shape}] =
            -std::log(*reading.ratio);
    }
    const auto& [student, reference] = tables[i];
    if (!student) continue;
    auto own = ledger.kernels(*student);
    if (!own.ok()) return {std::nullopt, own.diagnostics};
    raw.kernels = std::move(*own.value);
    raw.student_ns = sum_of(raw.kernels);
    if (reference) {
      const auto other = ledger.kernels(*reference);
      if (!other.ok()) return {std::nullopt, other.diagnostics};
      raw.ref_ns = sum_of(*other.value);
    }
    all_have_reference = all_have_reference && raw.ref_ns > 0;
  }
  if (connection.failure()) {
    Diagnostic why = *connection.failure();
    connection.rollback();
    return failed<std::vector<GateRun>>(std::move(why));
  }
  std::vector<GateRun> out;
  for (auto raw = raws.rbegin(); raw != raws.rend(); ++raw) {
    for (const BankedKernel& kernel : raw->kernels) {
      if (kernel.ns <= 0) continue;
      raw->run.times[{true, kernel.identity}] =
          std::log(kernel.ns / (all_have_reference ? raw->ref_ns : 1e6));
      raw->run.shares[{true, kernel.identity}] = kernel.ns / raw->student_ns;
    }
    out.push_back(std::move(raw->run));
  }
  return {std::move(out), {}};
}

std::vector<GateRun> chosen_runs(const std::vector<GateRun>& history, const std::vector<std::int64_t>& ids) {
  std::vector<GateRun> out;
  for (const GateRun& run : history) {
    if (std::find(ids.begin(), ids.end(), run.id) != ids.end()) out.push_back(run);
  }
  return out;
}

GateArms gate_arms(const std::vector<GateRun>& history, std::int64_t baseline,
                   const std::vector<std::int64_t>& candidates, std::size_t most) {
  GateArms arms;
  const auto base = chosen_runs(history, {baseline});
  const auto now = chosen_runs(history, candidates);
  if (base.empty() || now.empty()) return arms;
  const auto is_candidate = [&](const GateRun& run) {
    return std::find(candidates.begin(), candidates.end(), run.id) != candidates.end();
  };
  const bool same_code = !base[0].code.empty() && base[0].code == now[0].code;
  for (auto run = history.rbegin(); run != history.rend(); ++run) {
    const bool of_base = base[0].code.empty() ? run->id == baseline : run->code == base[0].code;
    const bool of_now =
        is_candidate(*run) || (!same_code && !now[0].code.empty() && run->code == now[0].code);
    if (of_now) {
      if (arms.after.size() < most) arms.after.push_back(*run);
    } else if (of_base && arms.before.size() < most) {
      arms.before.push_back(*run);
    }
  }
  return arms;
}

}  // namespace plumbline::ledger
