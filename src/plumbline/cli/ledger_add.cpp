// SPDX-License-Identifier: Apache-2.0
// `plumbline ledger add CARD`: judges a recorded run and banks it; corrects or withdraws one that is banked.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/cli/banking.h"
#include "plumbline/cli/ledger_commands.h"

namespace plumbline::cli {
namespace {

struct Options {
  JudgeOptions judge;
  BankOptions bank;
  bool withdraw = false;
};

/// A row without numbers that names the one that no longer counts.
Parsed<Banked> withdraw(const Options& options) {
  const Parsed<Card> card = find_card(options.judge.card);
  if (!card.ok()) return {std::nullopt, card.diagnostics};
  if (options.bank.corrects.empty() || options.bank.note.empty())
    return failed<Banked>(diagnose("usage", "--withdraw needs --corrects RUN and a --note that says why"));
  ledger::RunRecord record;
  ledger::Batch batch;
  record.card = card.value->name;
  record.outcome = "withdrawn";
  return bank_record(std::move(record), std::move(batch), options.bank, *card.value);
}

int add(const Io& io, const Options& options) {
  Parsed<Banked> banked;
  if (options.withdraw) {
    banked = withdraw(options);
  } else {
    const Judged judged = judge(io, options.judge);
    if (!judged.view) io.report(judged.reasons);
    if (!judged.confirmation && judged.status != kExitRefused) return kExitUsage;
    banked = bank(judged, options.bank);
  }
  io.report(banked.diagnostics);
  if (!banked.ok()) return kExitUsage;
  if (io.json) {
    io.print_json(to_json(*banked.value));
  } else {
    io.print(
        fmt::format("run {} ({}) in {}\n", banked.value->id, banked.value->outcome, banked.value->where));
  }
  return kExitOk;
}

}  // namespace

void add_ledger_add(Args& ledger) {
  auto options = std::make_shared<Options>();
  Args args = ledger.subcommand("add", "judges a recorded run and banks it, whatever it came to");
  args.positional("CARD", options->judge.card, "a card's folder, or a name under operators/")
      .option("--run", options->judge.files.run, "a folder under the card's runs/ (the last by name)")
      .option("--eval", options->judge.files.eval, "the bench's eval JSON, instead of the run's")
      .option("--student-table", options->judge.files.student_table, "the student's kernels")
      .option("--ref-table", options->judge.files.ref_table, "the reference's kernels")
      .option("--gate", options->judge.gate, "the raw ratio that passes (1.0)")
      .option("--calls", options->judge.calls, "window calls in the profiler files, where they do not say")
      .option("--note", options->bank.note, "a remark that stays with the run")
      .option("--corrects", options->bank.corrects,
              "the banked run whose place this one takes; both rows stay")
      .flag("--withdraw", options->withdraw, "nothing takes its place: the run no longer counts");
  add_ledger_option(args, options->bank.ledger);
  args.example("plumbline ledger add operators/attention_backward --run h200_price");
  args.run([options](const Io& io) { return add(io, *options); });
}

}  // namespace plumbline::cli
