// SPDX-License-Identifier: Apache-2.0
// `plumbline prep CARD|FILE EVAL.json`: holds an eval's prep report to the contract.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/cli/commands.h"
#include "plumbline/cli/contract_state.h"
#include "plumbline/contract/prep_report.h"
#include "plumbline/pricing/eval.h"
#include "plumbline/report/text_table.h"

namespace plumbline::cli {
namespace {

struct Options {
  std::string card;
  std::string eval;
};

int hold(const Io& io, const WindowContract& contract, const EvalReport& eval) {
  static const OrderedJson kNoReport;
  const Findings findings = check_prep_report(contract, eval.prep ? *eval.prep : kNoReport, eval.file);
  if (io.json) {
    io.print_json({{"findings", to_json(findings)}});
    return findings.empty() ? kExitOk : kExitGate;
  }
  io.report(to_diagnostics(findings));
  const std::size_t held = prep_entries(contract).size();
  if (!findings.empty()) {
    io.print(styled(fmt::format("prep report fails: {} problem{}", findings.size(),
                                findings.size() == 1 ? "" : "s"),
                    Style::bad, io.color_out) +
             "\n");
    return kExitGate;
  }
  io.print(styled(held == 0
                      ? std::string("nothing to hold: the contract has no tensor that a prep step makes")
                      : fmt::format("prep report holds: {} tensor{} as declared", held, held == 1 ? "" : "s"),
                  Style::good, io.color_out) +
           "\n");
  return kExitOk;
}

int prep(const Io& io, const Options& options) {
  const Parsed<ContractPath> path = find_contract(options.card);
  if (!path.ok()) {
    io.report(path.diagnostics);
    return kExitUsage;
  }
  const ContractState state = load_contract_state(*path.value);
  io.report(state.errors);
  if (!state.errors.empty()) return kExitUsage;
  // A contract that refuses the run has no report worth holding.
  if (refuses(state.findings)) {
    io.report(to_diagnostics(state.findings));
    if (io.json) io.print_json({{"findings", to_json(state.findings)}});
    return kExitRefused;
  }
  const Parsed<EvalReport> eval = load_eval(options.eval);
  io.report(eval.diagnostics);
  if (!eval.ok()) return kExitUsage;
  return hold(io, *state.contract, *eval.value);
}

}  // namespace

void add_prep(Args& root) {
  auto options = std::make_shared<Options>();
  Args args =
      root.subcommand("prep", "holds an eval's prep report to the contract; a failed one is exit status 1");
  args.positional("CARD", options->card, "a card's folder, a name under operators/, or a window.toml")
      .positional("EVAL.json", options->eval, "the eval that the bench wrote")
      .example("plumbline prep operators/attention_backward_prep eval.json");
  args.status(kExitGate, "the prep report does not hold");
  args.status(kExitRefused, "the contract refuses");
  args.run([options](const Io& io) { return prep(io, *options); });
}

}  // namespace plumbline::cli
