// SPDX-License-Identifier: Apache-2.0
// `plumbline ledger list|show`: the banked runs, and one of them whole.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "plumbline/base/text.h"
#include "plumbline/cli/ledger_commands.h"
#include "plumbline/report/ledger_report.h"

namespace plumbline::cli {
namespace {

struct ListOptions {
  LedgerPlace place;
  std::string outcome;
  std::optional<std::int64_t> last;
};

int list(const Io& io, const ListOptions& options) {
  auto ledger = open_ledger(io, options.place, ledger::Access::read);
  if (!ledger) return kExitUsage;
  const auto& known = ledger::kOutcomes;
  if (!options.outcome.empty() && std::find(known.begin(), known.end(), options.outcome) == known.end()) {
    io.report({diagnose("usage", fmt::format("--outcome {} is none of {}", in_quotes(options.outcome),
                                             fmt::join(known, ", ")))});
    return kExitUsage;
  }
  ledger::RunFilter filter;
  filter.card = card_name_of(options.place);
  filter.outcome = options.outcome;
  filter.most = static_cast<std::size_t>(std::clamp<std::int64_t>(options.last.value_or(20), 1, 1'000'000));
  const auto lines = ledger->list(filter);
  io.report(lines.diagnostics);
  if (!lines.ok()) return kExitUsage;
  if (io.json) {
    Json out = Json::array();
    for (const auto& line : *lines.value) out.push_back(run_line_json(line));
    io.print_json({{"runs", out}});
  } else {
    io.print(run_list_text(*lines.value, io.look()));
  }
  return kExitOk;
}

struct ShowOptions {
  LedgerPlace place;
  std::string run;
  std::string part;
};

/// One document, byte for byte.
int show_part(const Io& io, ledger::Ledger& ledger, const ledger::StoredRun& run, const std::string& part) {
  const auto in_parts = run.record.parts.find(part);
  const auto in_code = run.record.code.files.find(part);
  if (in_parts == run.record.parts.end() && in_code == run.record.code.files.end()) {
    std::vector<std::string> names;
    for (const auto& [name, hash] : run.record.parts) names.push_back(name);
    for (const auto& [name, hash] : run.record.code.files) names.push_back(name);
    io.report({diagnose("ledger-part-missing",
                        fmt::format("run {} has no {}; it has {}", run.id, part, fmt::join(names, ", ")))});
    return kExitUsage;
  }
  const auto document =
      ledger.document(in_parts != run.record.parts.end() ? in_parts->second : in_code->second);
  io.report(document.diagnostics);
  if (!document.ok()) return kExitUsage;
  if (!document.value->content) {
    io.report({document.value->collected
                   ? diagnose("ledger-part-collected",
                              fmt::format("only its hash is kept: {}", document.value->hash))
                   : diagnose("ledger-part-damaged",
                              fmt::format("{} is not what was banked", document.value->hash))});
    return kExitUsage;
  }
  io.print_document(*document.value->content);
  return kExitOk;
}

int show(const Io& io, const ShowOptions& options) {
  auto ledger = open_ledger(io, options.place, ledger::Access::read);
  if (!ledger) return kExitUsage;
  const auto run = ledger->find(options.run, card_name_of(options.place));
  io.report(run.diagnostics);
  if (!run.ok()) return kExitUsage;
  if (!options.part.empty()) return show_part(io, *ledger, *run.value, options.part);
  if (io.json) {
    io.print_json(stored_run_json(*run.value));
  } else {
    io.print(stored_run_text(*run.value, io.look()));
  }
  return kExitOk;
}

}  // namespace

void add_ledger_list(Args& ledger) {
  auto options = std::make_shared<ListOptions>();
  Args args = ledger.subcommand("list", "the banked runs, newest first");
  args.positional("CARD", options->place.card, "a card's folder or name (default: every card)", false)
      .option("--outcome", options->outcome, "only runs that came to this: pass, fail-gate, …")
      .option("--last", options->last, "so many (20)");
  add_ledger_option(args, options->place.ledger);
  args.example("plumbline ledger list operators/attention_backward --last 5");
  args.run([options](const Io& io) { return list(io, *options); });
}

void add_ledger_show(Args& ledger) {
  auto options = std::make_shared<ShowOptions>();
  Args args = ledger.subcommand("show", "a banked run whole, or one of its documents byte for byte");
  args.positional("RUN", options->run, "its number, its ident or the beginning, its name, or last")
      .option("--card", options->place.card, "the card whose ledger, name or last is meant")
      .option("--part", options->part,
              "eval, student_table, ref_table, verdict, machine, or a file: kernel.py");
  add_ledger_option(args, options->place.ledger);
  args.example("plumbline ledger show last --card operators/attention_backward --part verdict");
  args.run([options](const Io& io) { return show(io, *options); });
}

}  // namespace plumbline::cli
