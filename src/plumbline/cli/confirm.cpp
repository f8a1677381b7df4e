// SPDX-License-Identifier: Apache-2.0
// `plumbline confirm CARD`: a recorded comparison, judged.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "plumbline/cli/commands.h"
#include "plumbline/cli/contract_state.h"
#include "plumbline/cli/recorded_run.h"
#include "plumbline/pricing/confirmation.h"
#include "plumbline/profile/import.h"
#include "plumbline/report/confirm_view.h"

namespace plumbline::cli {
namespace {

struct Options {
  std::string card;
  RunFiles files;
  std::optional<double> gate;
  std::optional<std::int64_t> calls;
  bool md = false;
};

/// A refused contract: nothing was read, so nothing is known of the run.
int refuse(const Io& io, const Card& card, double gate, const ContractState& state) {
  io.report(to_diagnostics(state.findings));
  io.report(to_diagnostics(state.warnings));
  if (io.json) {
    io.print_json({{"card", card.name},
                   {"raw_ratio", nullptr},
                   {"credit", nullptr},
                   {"credited", nullptr},
                   {"gate", gate},
                   {"passed", false},
                   {"findings", to_json(state.findings)},
                   {"warnings", to_json(state.warnings)}});
  } else {
    const std::size_t count = state.findings.size();
    io.print(
        fmt::format("{}: refused by its contract, {} finding{}\n", card.name, count, count == 1 ? "" : "s"));
  }
  return kExitRefused;
}

/// One side's table; true when there was none to read or it was read.
bool read_table(const std::string& path, const Options& options, std::optional<KernelTable>& table,
                Diagnostics& said) {
  if (path.empty()) return true;
  ImportOptions import;
  import.calls = options.calls;
  Parsed<KernelTable> parsed = import_profile(path, import);
  said.insert(said.end(), parsed.diagnostics.begin(), parsed.diagnostics.end());
  table = std::move(parsed.value);
  return table.has_value();
}

/// Everything that confirm() judges, or none and an error in `said`.
std::optional<ConfirmInputs> read_inputs(const Card& card, ContractState state, const RunFiles& files,
                                         const Options& options, Diagnostics& said) {
  ConfirmInputs in;
  in.contract = std::move(*state.contract);
  in.contract_warnings = std::move(state.warnings);
  in.gate = options.gate.value_or(1.0);
  std::error_code ignored;
  in.leaderboard = std::filesystem::exists(card.problem, ignored);
  Parsed<EvalReport> eval = load_eval(files.eval);
  said.insert(said.end(), eval.diagnostics.begin(), eval.diagnostics.end());
  const bool student = read_table(files.student_table, options, in.student_table, said);
  const bool reference = read_table(files.ref_table, options, in.ref_table, said);
  in.student_table_file = files.student_table;
  in.ref_table_file = files.ref_table;
  if (!eval.ok() || !student || !reference) return {};
  in.eval = std::move(*eval.value);
  return in;
}

int confirm_card(const Io& io, const Options& options) {
  const Parsed<Card> card = find_card(options.card);
  io.report(card.diagnostics);
  if (!card.ok()) return kExitUsage;
  const double gate = options.gate.value_or(1.0);
  if (!std::isfinite(gate) || gate <= 0 || options.calls.value_or(1) <= 0) {
    io.report({diagnose("usage", "--gate and --calls are above 0")});
    return kExitUsage;
  }
  ContractState state = load_contract_state({card.value->contract, true});
  io.report(state.errors);
  if (!state.errors.empty()) return kExitUsage;
  if (refuses(state.findings)) return refuse(io, *card.value, gate, state);

  const Parsed<RunFiles> files = complete_run(*card.value, options.files);
  io.report(files.diagnostics);
  if (!files.ok()) return kExitUsage;
  io.report(files.value->notes);
  Diagnostics said;
  std::optional<ConfirmInputs> inputs =
      read_inputs(*card.value, std::move(state), *files.value, options, said);
  io.report(said);
  if (!inputs) return kExitUsage;

  const Confirmation confirmation = confirm(std::move(*inputs));
  const ConfirmView view = collect_confirm(confirmation, card.value->name, files.value->run);
  if (io.json) {
    io.print_json(confirm_json(view));
  } else {
    io.print(options.md ? confirm_markdown(view) : confirm_text(view, io.color_out, io.width));
  }
  return view.passed ? kExitOk : kExitGate;
}

}  // namespace

void add_confirm(Args& root) {
  auto options = std::make_shared<Options>();
  Args args = root.subcommand(
      "confirm", "a recorded comparison, judged: raw ratio (the gate), credited ratio, both kernel tables");
  args.positional("CARD", options->card, "a card's folder, or a name under operators/")
      .option("--run", options->files.run, "a folder under the card's runs/ (the last by name)")
      .option("--eval", options->files.eval, "the bench's eval JSON, instead of the run's")
      .option("--student-table", options->files.student_table,
              "the student's kernels: any importable profiler file")
      .option("--ref-table", options->files.ref_table, "the reference's kernels, likewise")
      .option("--gate", options->gate, "the raw ratio that passes (1.0)")
      .option("--calls", options->calls, "window calls in the profiler files, where they do not say")
      .flag("--md", options->md, "as Markdown, bounded")
      .example("plumbline confirm operators/attention_backward --run h200_price");
  args.run([options](const Io& io) { return confirm_card(io, *options); });
}

}  // namespace plumbline::cli
