// SPDX-License-Identifier: Apache-2.0
// `plumbline start CARD`: everything that must hold before a run.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/cli/bench_request.h"
#include "plumbline/cli/commands.h"
#include "plumbline/cli/preflight.h"
#include "plumbline/report/text_table.h"

namespace plumbline::cli {
namespace {

struct Options {
  std::string card;
  PreflightOptions preflight;
};

Json to_json(const Card& card, const Preflight& result) {
  Json errors = Json::array();
  for (const Diagnostic& error : result.errors) errors.push_back(error.code);
  return {{"card", card.name},
          {"starts", result.status() == kExitOk},
          {"malformed", errors.empty() ? Json(nullptr) : errors.front()},
          {"prep", result.prep ? Json(*result.prep) : Json(nullptr)},
          {"times_workloads", result.times_workloads ? Json(*result.times_workloads) : Json(nullptr)},
          {"findings", plumbline::to_json(result.findings)},
          {"warnings", plumbline::to_json(result.warnings)}};
}

std::string verdict(const Card& card, const Preflight& result) {
  const std::size_t count = result.findings.size() + (result.strict ? result.warnings.size() : 0);
  switch (result.status()) {
    case kExitOk:
      return fmt::format("{}: may start", card.name);
    case kExitRefused:
      return fmt::format("{}: refused, {} finding{}", card.name, count, count == 1 ? "" : "s");
    default:
      return fmt::format("{}: cannot be read", card.name);
  }
}

int start(const Io& io, const Options& options) {
  const Parsed<Card> card = find_card(options.card);
  if (!card.ok()) {
    io.report(card.diagnostics);
    return kExitUsage;
  }
  const Preflight result = preflight(*card.value, options.preflight);
  io.report(result.errors);
  if (io.json) {
    io.print_json(to_json(*card.value, result));
    return result.status();
  }
  report_with_fixes(io, result.findings);
  io.report(to_diagnostics(result.warnings));
  const bool starts = result.status() == kExitOk;
  io.print(styled(verdict(*card.value, result), starts ? Style::good : Style::bad, io.color_out) + "\n");
  return result.status();
}

}  // namespace

void add_start(Args& root) {
  auto options = std::make_shared<Options>();
  Args args = root.subcommand("start", "everything that must hold before a run; refuses with exit status 13");
  args.positional("CARD", options->card, "a card's folder, or a name under operators/")
      .flag("--no-reference", options->preflight.no_reference, "the card has no reference to compare with")
      .flag("--strict", options->preflight.strict, "warnings refuse too")
      .example("plumbline start operators/attention_backward");
  args.status(kExitRefused, "the contract or the bench refuses");
  args.run([options](const Io& io) { return start(io, *options); });
}

}  // namespace plumbline::cli
