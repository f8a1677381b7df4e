// SPDX-License-Identifier: Apache-2.0
// `plumbline ledger trend CARD`: the ratio over the iterations, where it moved, and which kernels took the
// time.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/cli/ledger_commands.h"
#include "plumbline/cli/page_output.h"
#include "plumbline/html/pages.h"
#include "plumbline/report/ledger_trend_report.h"

namespace plumbline::cli {
namespace {

struct TrendOptions {
  LedgerPlace place;
  std::optional<std::int64_t> last;
  std::optional<std::int64_t> series;
  std::optional<std::int64_t> kernels;
  std::string html;
};

/// The series of the newest run that has a reading, or none.
std::optional<std::int64_t> newest_series(ledger::Ledger& ledger, const std::string& card,
                                          Diagnostics& messages) {
  ledger::RunFilter filter;
  filter.card = card;
  filter.readings_only = true;
  filter.most = 1;
  const auto lines = ledger.list(filter);
  messages = lines.diagnostics;
  if (!lines.ok() || lines.value->empty()) return {};
  return lines.value->front().series;
}

/// What other runs of the card there are, and why they are not in the same line.
Diagnostics find_others(ledger::Ledger& ledger, const std::string& card, std::int64_t series, Trend& trend) {
  const auto all = ledger.series_of(card, series);
  const auto own = ledger.series(series);
  if (!all.ok()) return all.diagnostics;
  if (!own.ok()) return own.diagnostics;
  trend.about = *own.value;
  for (const auto& other : *all.value) {
    if (other.series == series || other.runs == 0) continue;
    const auto about = ledger.series(other.series);
    if (!about.ok()) return about.diagnostics;
    if (about.value->gpu.empty()) continue;  // refused runs were measured on nothing
    trend.others.push_back({other.series, other.runs, ledger::apart(*about.value, trend.about)});
  }
  return {};
}

int trend(const Io& io, const TrendOptions& options) {
  auto ledger = open_ledger(io, options.place, ledger::Access::read);
  if (!ledger) return kExitUsage;
  Trend found;
  found.card = card_name_of(options.place);
  Diagnostics messages;
  const auto series = options.series ? options.series : newest_series(*ledger, found.card, messages);
  io.report(messages);
  if (!messages.empty()) return kExitUsage;
  if (!series) {
    io.report(
        {diagnose("ledger-run-missing", fmt::format("no measured run of {} in the ledger", found.card))});
    return kExitUsage;
  }
  found.series = *series;
  ledger::RunFilter filter;
  filter.card = found.card;
  filter.series = series;
  filter.readings_only = true;
  filter.most = static_cast<std::size_t>(std::clamp<std::int64_t>(options.last.value_or(200), 1, 2000));
  auto lines = ledger->list(filter);
  io.report(lines.diagnostics);
  if (!lines.ok()) return kExitUsage;
  if (lines.value->empty()) {
    io.report({diagnose("ledger-run-missing",
                        fmt::format("no measured run of {} in series {}", found.card, found.series))});
    return kExitUsage;
  }
  found.runs.assign(lines.value->rbegin(), lines.value->rend());
  const auto most = static_cast<std::size_t>(std::clamp<std::int64_t>(options.kernels.value_or(3), 0, 20));
  for (const auto& run : found.runs) {
    auto& kernels = found.kernels.emplace_back();
    if (!run.student_table || most == 0) continue;
    auto banked = ledger->kernels(*run.student_table);
    io.report(banked.diagnostics);
    if (!banked.ok()) return kExitUsage;
    kernels = std::move(*banked.value);
  }
  messages = find_others(*ledger, found.card, *series, found);
  io.report(messages);
  if (!messages.empty()) return kExitUsage;
  finish_trend(found, most);
  if (!write_page(io, options.html, [&] { return html::trend_page(found); })) return kExitUsage;
  if (io.json) {
    io.print_json(trend_json(found));
  } else {
    io.print(trend_text(found, io.look()));
  }
  return kExitOk;
}

}  // namespace

void add_ledger_trend(Args& ledger) {
  auto options = std::make_shared<TrendOptions>();
  Args args =
      ledger.subcommand("trend", "the ratio over the iterations, where it moved, and the longest kernels");
  args.positional("CARD", options->place.card, "a card's folder or name")
      .option("--last", options->last, "so many runs (200; 2000 at most)")
      .option("--series", options->series, "another machine, driver, window or harness, by its number")
      .option("--html", options->html, "also write the trend as one HTML file that opens anywhere")
      .option("--kernels", options->kernels, "so many of the student's kernels (3)");
  add_ledger_option(args, options->place.ledger);
  args.example("plumbline ledger trend operators/attention_backward");
  args.run([options](const Io& io) { return trend(io, *options); });
}

}  // namespace plumbline::cli
