// SPDX-License-Identifier: Apache-2.0
// `plumbline run CARD`: measures the card, records both sides, keeps the run folder.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/cli/commands.h"
#include "plumbline/cli/measuring.h"
#include "plumbline/cli/preflight.h"

namespace plumbline::cli {
namespace {

struct Options {
  std::string card;
  std::string name;
  std::optional<double> limit_s;
  MeasureOptions measure;
  PreflightOptions preflight;
};

std::string number_or_dash(const Json& value, int digits) {
  return value.is_number() ? format_fixed(value.get<double>(), digits) : "-";
}

/// 0, or 1 when the harness refused a ratio.
int conclude(const Io& io, const Card& card, const Measured& outcome) {
  const Json& performance = outcome.eval["performance"];
  const bool refused = !performance.value("ratio", Json()).is_number();
  if (performance.contains("refused") && performance["refused"].is_array()) {
    for (const Json& reason : performance["refused"]) {
      if (reason.is_string()) io.report({diagnose("run-refused", reason.get<std::string>())});
    }
  }
  if (io.json) {
    io.print_json({{"card", card.name},
                   {"run", outcome.folder},
                   {"ratio", performance.value("ratio", Json())},
                   {"student_ms", performance.value("student_ms", Json())},
                   {"ref_ms", performance.value("ref_ms", Json())},
                   {"tables", outcome.tables},
                   {"refused", performance.value("refused", Json::array())}});
  } else {
    io.print(fmt::format(
        "{}: raw ratio {} (student {} ms, reference {} ms)\nkept in {}\nnext: plumbline confirm {}\n",
        card.name, number_or_dash(performance.value("ratio", Json()), 4),
        number_or_dash(performance.value("student_ms", Json()), 4),
        number_or_dash(performance.value("ref_ms", Json()), 4), outcome.folder, card.folder));
  }
  return refused ? kExitGate : kExitOk;
}

int run(const Io& io, const Options& options) {
  const Parsed<Card> card = find_card(options.card);
  if (!card.ok()) {
    io.report(card.diagnostics);
    return kExitUsage;
  }
  const Preflight checks = preflight(*card.value, options.preflight);
  io.report(checks.errors);
  io.report(to_diagnostics(checks.findings));
  io.report(to_diagnostics(checks.warnings));
  if (checks.status() != kExitOk) return checks.status();
  std::error_code failure;
  if (!std::filesystem::exists(card.value->bench, failure)) {
    io.report({diagnose("run-no-bench", "there is no bench to run", {card.value->bench, 0, 0})});
    return kExitUsage;
  }
  if (const Diagnostics trouble = measuring_trouble(); !trouble.empty()) {
    io.report(trouble);
    return kExitUsage;
  }
  const auto folder = new_run_folder(*card.value, options.name.empty() ? default_run_name() : options.name);
  if (!folder.ok()) {
    io.report(folder.diagnostics);
    return kExitUsage;
  }
  MeasureOptions how = options.measure;
  how.limit_s = options.limit_s.value_or(how.limit_s);
  Measured measured;
  measured.folder = *folder.value;
  io.message("measuring " + card.value->name);
  Diagnostics trouble = measure(how, *card.value, checks.contract, measured);
  if (trouble.empty()) {
    record_tables(io, how, *card.value, measured);
    trouble = keep_run(measured);
  }
  if (!trouble.empty()) {
    io.report(trouble);
    return kExitUsage;
  }
  return conclude(io, *card.value, measured);
}

}  // namespace

void add_run(Args& root) {
  auto options = std::make_shared<Options>();
  Args args = root.subcommand("run", "measures a card, records both sides' kernels, keeps the run folder");
  args.positional("CARD", options->card, "a card's folder, or a name under operators/")
      .option("--name", options->name, "the run's name: its folder under runs/ (default: date and time, UTC)")
      .option("--python", options->measure.python, "the interpreter that has PyTorch (python3)")
      .option("--limit", options->limit_s, "end the bench, or a recording, after so many seconds (900)")
      .flag("--no-record", options->measure.no_record, "readings only, no kernel tables")
      .flag("--no-reference", options->preflight.no_reference, "the card has no reference to compare with")
      .example("plumbline run operators/attention_backward --name h200");
  args.status(kExitGate, "the harness refused the reading; the run is kept");
  args.status(kExitRefused, "the contract or the bench refuses");
  args.run([options](const Io& io) { return run(io, *options); });
}

}  // namespace plumbline::cli
