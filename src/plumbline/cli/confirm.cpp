// SPDX-License-Identifier: Apache-2.0
// `plumbline confirm CARD`: a recorded comparison, judged.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/cli/banking.h"
#include "plumbline/cli/commands.h"
#include "plumbline/cli/judge.h"
#include "plumbline/cli/page_output.h"
#include "plumbline/html/pages.h"

namespace plumbline::cli {
namespace {

struct Options {
  JudgeOptions judge;
  BankOptions bank;
  bool banks = false;
  std::string html;
  bool md = false;
};

int confirm_card(const Io& io, const Options& options) {
  const Judged judged = judge(io, options.judge);
  if (!judged.view) {
    if (judged.status == kExitRefused && !io.json)
      io.print(fmt::format("{}: {}\n", judged.card->name, judged.sentence));
    io.report(judged.reasons);
  }
  std::optional<Banked> banked;
  if (options.banks && judged.card) {
    const Parsed<Banked> kept = bank(judged, options.bank);
    io.report(kept.diagnostics);
    if (!kept.ok()) return kExitUsage;
    banked = *kept.value;
    io.message(fmt::format("banked as run {} ({}) in {}", banked->id, banked->outcome, banked->where));
  }
  if (judged.view &&
      !write_page(io, options.html, [&] { return html::confirm_page(*judged.confirmation, *judged.view); }))
    return kExitUsage;
  if (io.json) {
    Json document = judged_json(judged, options.judge.card);
    if (banked) document["banked"] = to_json(*banked);
    io.print_json(document);
  } else if (judged.view) {
    io.print(options.md ? confirm_markdown(*judged.view) : confirm_text(*judged.view, io.look()));
  }
  return judged.status;
}

}  // namespace

void add_confirm(Args& root) {
  auto options = std::make_shared<Options>();
  Args args = root.subcommand(
      "confirm", "a recorded comparison, judged: raw ratio (the gate), credited ratio, both kernel tables");
  args.positional("CARD", options->judge.card, "a card's folder, or a name under operators/")
      .option("--run", options->judge.files.run, "a folder under the card's runs/ (the last by name)")
      .option("--eval", options->judge.files.eval, "the bench's eval JSON, instead of the run's")
      .option("--student-table", options->judge.files.student_table,
              "the student's kernels: any importable profiler file")
      .option("--ref-table", options->judge.files.ref_table, "the reference's kernels, likewise")
      .option("--gate", options->judge.gate, "the raw ratio that passes (1.0)")
      .option("--calls", options->judge.calls, "window calls in the profiler files, where they do not say")
      .option("--against", options->judge.against, "an earlier run of the card, to see what has moved since")
      .flag("--md", options->md, "as Markdown, bounded")
      .option("--html", options->html, "also write the report as one HTML file that opens anywhere")
      .flag("--bank", options->banks, "keep the run and its verdict in the ledger")
      .option("--ledger", options->bank.ledger, "that ledger (default: ledger.db in the card's folder)")
      .example("plumbline confirm operators/attention_backward --run h200_price");
  args.status(kExitGate, "the raw ratio is under the gate, or nothing could be judged");
  args.status(kExitRefused, "the contract or the bench refuses");
  args.run([options](const Io& io) { return confirm_card(io, *options); });
}

}  // namespace plumbline::cli
