// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/ledger_trend_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/report/ledger_report.h"

namespace plumbline {
namespace {

std::optional<double> time_of(const std::vector<ledger::BankedKernel>& kernels, const std::string& identity) {
  for (const auto& kernel : kernels) {
    if (kernel.identity == identity) return kernel.ns;
  }
  return {};
}

std::string fixed_or_blank(const std::optional<double>& value, int digits) {
  return value ? format_fixed(*value, digits) : "-";
}

}  // namespace

void finish_trend(Trend& trend, std::size_t most) {
  std::map<std::string, double> total;
  for (const auto& kernels : trend.kernels) {
    for (const auto& kernel : kernels) total[kernel.identity] += kernel.ns;
  }
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [identity, ns] : total) order.emplace_back(-ns, identity);
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i) trend.longest.push_back(order[i].second);
  std::vector<double> ratios;
  for (const auto& run : trend.runs) ratios.push_back(run.raw_ratio.value_or(0));
  trend.changes = ledger::change_points(ratios);
}

Json trend_json(const Trend& trend) {
  Json runs = Json::array();
  for (std::size_t i = 0; i < trend.runs.size(); ++i) {
    Json run = run_line_json(trend.runs[i]);
    Json& kernels = run["kernels"] = Json::object();
    for (const auto& identity : trend.longest) {
      const auto ns = time_of(trend.kernels[i], identity);
      kernels[identity] = ns ? Json(*ns) : Json();
    }
    runs.push_back(std::move(run));
  }
  Json changes = Json::array();
  for (const auto& change : trend.changes) {
    changes.push_back(
        {{"run", trend.runs[change.at].id}, {"change", change.change}, {"standard_error", change.error}});
  }
  Json others = Json::array();
  for (const auto& other : trend.others)
    others.push_back({{"series", other.series}, {"runs", other.runs}, {"apart", other.apart}});
  return {{"card", trend.card},
          {"series", trend.series},
          {"gpu", trend.about.gpu},
          {"driver", trend.about.driver},
          {"window", trend.about.timed},
          {"harness", trend.about.harness},
          {"runs", runs},
          {"changes", changes},
          {"other_series", others}};
}

TextTable trend_table(const Trend& trend) {
  TextTable table;
  table.columns = {{"run", Align::right}, {"made at (UTC)"},          {"outcome"},
                   {"raw", Align::right}, {"credited", Align::right}, {"student ms", Align::right}};
  for (const auto& identity : trend.longest)
    table.columns.push_back({one_line(identity) + " µs", Align::right, 26});
  table.columns.push_back({""});
  for (std::size_t i = 0; i < trend.runs.size(); ++i) {
    const auto& run = trend.runs[i];
    std::vector<Cell> row = {std::to_string(run.id),
                             run.made_at.substr(0, 16),
                             run.outcome,
                             fixed_or_blank(run.raw_ratio, 4),
                             fixed_or_blank(run.credited_ratio, 4),
                             fixed_or_blank(run.student_ms, 5)};
    for (const auto& identity : trend.longest) {
      const auto ns = time_of(trend.kernels[i], identity);
      row.emplace_back(fixed_or_blank(ns ? std::optional(*ns / 1e3) : std::nullopt, 2));
    }
    std::string mark;
    for (const auto& change : trend.changes) {
      if (change.at != i) continue;
      mark = fmt::format("from here {}{} % (± {})", change.change > 0 ? "+" : "",
                         format_fixed(100 * change.change, 2), format_fixed(200 * change.error, 2));
    }
    row.emplace_back(mark, Style::bold);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string trend_text(const Trend& trend, const Look& look) {
  std::string out = fmt::format("{}  {}  {}  {} window\n\n", printable(trend.card), one_line(trend.about.gpu),
                                one_line(trend.about.harness), one_line(trend.about.timed));
  out += render_text(trend_table(trend), look);
  for (const auto& other : trend.others) {
    out += fmt::format("\nnot shown: {} run{} of series {}: {}\n", other.runs, other.runs == 1 ? "" : "s",
                       other.series, fmt::join(other.apart, "; "));
  }
  return out;
}

}  // namespace plumbline
