// SPDX-License-Identifier: Apache-2.0
// `plumbline ledger diff RUN RUN`: what stands between two banked runs.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/cli/ledger_commands.h"
#include "plumbline/report/kernel_table_view.h"
#include "plumbline/report/ledger_report.h"
#include "plumbline/report/text_table.h"

namespace plumbline::cli {
namespace {

struct DiffOptions {
  LedgerPlace place;
  std::string before;
  std::string after;
};

/// A banked table, or none.
std::optional<KernelTable> table_of(ledger::Ledger& ledger, const ledger::StoredRun& run, const char* kind) {
  const auto found = run.record.parts.find(kind);
  if (found == run.record.parts.end()) return {};
  const auto document = ledger.document(found->second);
  if (!document.ok() || !document.value->content) return {};
  return parse_kernel_table(*document.value->content, kind).value;
}

/// Files that differ: "kernel.py changed".
std::vector<std::string> changed_files(const ledger::Code& before, const ledger::Code& after) {
  std::vector<std::string> out;
  for (const auto& [path, hash] : after.files) {
    const auto old = before.files.find(path);
    if (old == before.files.end()) {
      out.push_back(one_line(path) + " is new");
    } else if (old->second != hash) {
      out.push_back(one_line(path) + " changed");
    }
  }
  for (const auto& [path, hash] : before.files) {
    if (!after.files.contains(path)) out.push_back(one_line(path) + " is gone");
  }
  return out;
}

struct ReadingPair {
  const ledger::Reading* before;
  const ledger::Reading* after;

  std::optional<double> change() const {
    if (!before->ratio || !after->ratio || *before->ratio <= 0) return {};
    return *after->ratio / *before->ratio - 1;
  }
  std::optional<double> noise() const {
    if (!before->noise || !after->noise) return {};
    return std::hypot(*before->noise, *after->noise);
  }
};

std::vector<ReadingPair> pairs_of(const ledger::RunRecord& before, const ledger::RunRecord& after) {
  std::vector<ReadingPair> out;
  for (const auto& a : after.readings) {
    for (const auto& b : before.readings) {
      if (a.workload == b.workload && a.shape == b.shape) out.push_back({&b, &a});
    }
  }
  return out;
}

std::string percent_or_dash(const std::optional<double>& value) {
  return value ? fmt::format("{}{} %", *value > 0 ? "+" : "", format_fixed(100 * *value, 2)) : "-";
}

std::string fixed(const std::optional<double>& value) { return value ? format_fixed(*value, 4) : "-"; }

std::string readings_text(const std::vector<ReadingPair>& pairs, bool comparable, const Look& look) {
  TextTable table;
  table.columns = {{"workload", Align::left, 40}, {"ratio before", Align::right}, {"after", Align::right},
                   {"change", Align::right},      {"noise", Align::right},        {""}};
  for (const ReadingPair& pair : pairs) {
    const auto change = comparable ? pair.change() : std::nullopt;
    const auto noise = pair.noise();
    const bool moved = change && noise && std::abs(*change) > *noise;
    table.rows.push_back({one_line(pair.after->workload), fixed(pair.before->ratio), fixed(pair.after->ratio),
                          percent_or_dash(change),
                          noise ? format_fixed(100 * *noise, 2) + " %" : std::string("-"),
                          moved ? "moved" : ""});
  }
  return render_text(table, look, 2);
}

Json readings_json(const std::vector<ReadingPair>& pairs, bool comparable) {
  Json out = Json::array();
  for (const ReadingPair& pair : pairs) {
    const auto change = comparable ? pair.change() : std::nullopt;
    const auto noise = pair.noise();
    out.push_back({{"workload", pair.after->workload},
                   {"before", pair.before->ratio ? Json(*pair.before->ratio) : Json()},
                   {"after", pair.after->ratio ? Json(*pair.after->ratio) : Json()},
                   {"change", change ? Json(*change) : Json()},
                   {"noise", noise ? Json(*noise) : Json()},
                   {"moved", change && noise ? Json(std::abs(*change) > *noise) : Json()}});
  }
  return out;
}

int diff(const Io& io, const DiffOptions& options) {
  auto ledger = open_ledger(io, options.place, ledger::Access::read);
  if (!ledger) return kExitUsage;
  const std::string card = card_name_of(options.place);
  const auto before = ledger->find(options.before, card);
  const auto after = ledger->find(options.after, card);
  io.report(before.diagnostics);
  io.report(after.diagnostics);
  if (!before.ok() || !after.ok()) return kExitUsage;
  const auto& a = before.value->record;
  const auto& b = after.value->record;
  std::vector<std::string> apart = ledger::apart(a.series, b.series);
  if (a.card != b.card) apart.push_back(fmt::format("card: {} and {}", printable(a.card), printable(b.card)));
  const auto files = changed_files(a.code, b.code);
  const auto pairs = pairs_of(a, b);
  Json tables = Json::object();
  std::string tables_text;
  for (const auto& [kind, title] :
       {std::pair("student_table", "student"), std::pair("ref_table", "reference")}) {
    const auto old = table_of(*ledger, *before.value, kind);
    const auto now = table_of(*ledger, *after.value, kind);
    if (!old || !now) continue;
    const TableDiff moved = diff_tables(*old, *now);
    Json rows = Json::array();
    for (const DiffRow& row : moved.rows)
      rows.push_back({{"identity", row.identity}, {"delta_ns", row.delta_ns}, {"ambiguous", row.ambiguous}});
    tables[title] = {{"rows", rows}, {"per_call", moved.per_call}, {"caution", moved.caution}};
    tables_text += fmt::format("\nKernels of the {}\n{}", title, render_table_diff(moved, io.look()));
  }
  if (io.json) {
    io.print_json({{"before", stored_run_json(*before.value)},
                   {"after", stored_run_json(*after.value)},
                   {"comparable", apart.empty()},
                   {"apart", apart},
                   {"files", files},
                   {"workloads", readings_json(pairs, apart.empty())},
                   {"tables", tables}});
    return kExitOk;
  }
  std::string out =
      fmt::format("run {} ({}) and run {} ({})\n", before.value->id, a.outcome, after.value->id, b.outcome);
  for (const auto& words : apart) out += "  not comparable: " + words + "\n";
  for (const auto& words : files) out += "  " + words + "\n";
  if (files.empty()) out += "  the same files ran\n";
  if (!pairs.empty()) out += "\n" + readings_text(pairs, apart.empty(), io.look());
  io.print(out + tables_text);
  return kExitOk;
}

}  // namespace

void add_ledger_diff(Args& ledger) {
  auto options = std::make_shared<DiffOptions>();
  Args args = ledger.subcommand("diff", "what stands between two banked runs: files, readings, kernels");
  args.positional("BEFORE", options->before, "a run's number, ident or name, or last")
      .positional("AFTER", options->after, "the other one")
      .option("--card", options->place.card, "the card whose ledger, names or last are meant");
  add_ledger_option(args, options->place.ledger);
  args.example("plumbline ledger diff h200 h200_price --card operators/attention_backward");
  args.run([options](const Io& io) { return diff(io, *options); });
}

}  // namespace plumbline::cli
