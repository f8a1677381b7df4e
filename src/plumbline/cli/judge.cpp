// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/judge.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "plumbline/cli/card_facts.h"
#include "plumbline/profile/import.h"
#include "plumbline/report/verdict.h"

namespace plumbline::cli {
namespace {

/// One side's table; true when there was none to read or it was read.
bool read_table(const std::string& path, const JudgeOptions& options, std::optional<KernelTable>& table,
                Diagnostics& messages) {
  if (path.empty()) return true;
  ImportOptions import;
  import.calls = options.calls;
  Parsed<KernelTable> parsed = import_profile(path, import);
  messages.insert(messages.end(), parsed.diagnostics.begin(), parsed.diagnostics.end());
  table = std::move(parsed.value);
  return table.has_value();
}

/// Without tables of its own the run is judged by those of its campaign workload.
void take_campaign_tables(ConfirmInputs& in, const RunFiles& files) {
  const WorkloadReading* campaign = in.eval.campaign_workload();
  const auto found = campaign ? in.workload_tables.find(campaign->name) : in.workload_tables.end();
  if (found == in.workload_tables.end()) return;
  const TableFiles& named = files.workload_tables.at(campaign->name);
  if (!in.student_table && found->second.student) {
    in.student_table = found->second.student;
    in.student_table_file = named.student;
  }
  if (!in.ref_table && found->second.reference) {
    in.ref_table = found->second.reference;
    in.ref_table_file = named.ref;
  }
}

/// Everything that confirm() judges, or none and an error in `said`.
std::optional<ConfirmInputs> read_inputs(const Card& card, ContractState state, const RunFiles& files,
                                         const JudgeOptions& options, Diagnostics& messages) {
  ConfirmInputs in;
  in.contract = std::move(*state.contract);
  in.contract_warnings = std::move(state.warnings);
  in.gate = options.gate.value_or(1.0);
  std::error_code ignored;
  in.leaderboard = std::filesystem::exists(card.problem, ignored);
  Parsed<EvalReport> eval = load_eval(files.eval);
  messages.insert(messages.end(), eval.diagnostics.begin(), eval.diagnostics.end());
  bool read = read_table(files.student_table, options, in.student_table, messages);
  read = read_table(files.ref_table, options, in.ref_table, messages) && read;
  for (const auto& [name, tables] : files.workload_tables) {
    WorkloadTables& into = in.workload_tables[name];
    read = read_table(tables.student, options, into.student, messages) && read;
    read = read_table(tables.ref, options, into.reference, messages) && read;
  }
  in.student_table_file = files.student_table;
  in.ref_table_file = files.ref_table;
  if (!eval.ok() || !read) return {};
  in.eval = std::move(*eval.value);
  take_campaign_tables(in, files);
  for (const Diagnostic& d : messages) {
    if (d.severity == Severity::warning) in.read_warnings.push_back(d);
  }
  in.card = card_facts(card, in.eval);
  in.gpu = gpu_facts(in.eval.device);
  return in;
}

/// The eval of the run that --against names, or errors.
Parsed<EvalReport> read_against(const Card& card, const std::string& run) {
  RunFiles given;
  given.run = run;
  const Parsed<RunFiles> files = complete_run(card, given);
  if (!files.ok()) return {std::nullopt, files.diagnostics};
  return load_eval(files.value->eval);
}

void unreadable(Judged& judged, const Diagnostics& reasons) {
  judged.status = kExitUsage;
  judged.sentence = "the input cannot be read";
  judged.reasons = reasons;
}

/// A refused contract: nothing was read, so nothing is known of the run.
void refuse(Judged& judged, const ContractState& state) {
  const std::size_t count = state.findings.size();
  judged.status = kExitRefused;
  judged.sentence = fmt::format("refused by its contract, {} finding{}", count, count == 1 ? "" : "s");
  judged.refused = state.findings;
  judged.refused_warnings = state.warnings;
  judged.reasons = to_diagnostics(state.findings);
  const Diagnostics warnings = to_diagnostics(state.warnings);
  judged.reasons.insert(judged.reasons.end(), warnings.begin(), warnings.end());
}

}  // namespace

Judged judge(const Io& io, const JudgeOptions& options) {
  Judged judged;
  const Parsed<Card> card = find_card(options.card);
  if (!card.ok()) return unreadable(judged, card.diagnostics), judged;
  io.report(card.diagnostics);
  judged.card = *card.value;
  judged.gate = options.gate.value_or(1.0);
  if (!std::isfinite(judged.gate) || judged.gate <= 0 || options.calls.value_or(1) <= 0)
    return unreadable(judged, {diagnose("usage", "--gate and --calls are above 0")}), judged;
  ContractState state = load_contract_state({card.value->contract, true});
  if (!state.errors.empty()) return unreadable(judged, state.errors), judged;
  if (refuses(state.findings)) return refuse(judged, state), judged;

  const Parsed<RunFiles> files = complete_run(*card.value, options.files);
  if (!files.ok()) return unreadable(judged, files.diagnostics), judged;
  judged.files = *files.value;
  io.report(files.value->notes);
  Diagnostics messages;
  std::optional<ConfirmInputs> inputs =
      read_inputs(*card.value, std::move(state), *files.value, options, messages);
  if (!inputs) return unreadable(judged, messages), judged;
  io.report(messages);
  std::optional<Rerun> against;
  if (!options.against.empty()) {
    const Parsed<EvalReport> before = read_against(*card.value, options.against);
    if (!before.ok()) return unreadable(judged, before.diagnostics), judged;
    against = compare_runs(inputs->eval, *before.value, options.against);
  }
  judged.confirmation = confirm(std::move(*inputs));
  judged.view = collect_confirm(*judged.confirmation, card.value->name, files.value->run, std::move(against));
  judged.status = judged.view->passed ? kExitOk : kExitGate;
  return judged;
}

Json judged_json(const Judged& judged, const std::string& card) {
  if (judged.view) return confirm_json(*judged.view);
  Json document =
      verdict_json(false, fmt::format("Not judged: {}.", judged.sentence), judged.reasons, nullptr);
  document.update(Json{{"card", judged.card ? judged.card->name : card},
                       {"passed", false},
                       {"findings", reasons_json(judged.reasons)},
                       {"warnings", Json::array()}});
  if (judged.status == kExitRefused) {
    document.update(Json{{"raw_ratio", nullptr},
                         {"credit", nullptr},
                         {"credited", nullptr},
                         {"gate", judged.gate},
                         {"findings", to_json(judged.refused)},
                         {"warnings", to_json(judged.refused_warnings)}});
  }
  return document;
}

}  // namespace plumbline::cli
