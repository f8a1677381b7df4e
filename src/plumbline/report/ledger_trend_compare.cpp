// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/ledger_trend_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"

namespace plumbline {
namespace {

constexpr int kKernelDigits = 2;

std::optional<double> value_at(const RunValues::Run& run, std::size_t name) {
  for (const auto& [place, value] : run.values) {
    if (place == name) return value;
  }
  return {};
}

}  // namespace

RunValues run_values(const Trend& trend) {
  RunValues out;
  out.names = {"raw ratio", "credited ratio", "student, ms", "reference, ms"};
  out.digits = {4, 4, 5, 5};
  out.totals = out.names.size();
  std::map<std::string, std::size_t> places;
  const std::size_t first = trend.runs.size() > kMostRunsCompared ? trend.runs.size() - kMostRunsCompared : 0;
  for (std::size_t i = first; i < trend.runs.size(); ++i) {
    const ledger::RunLine& run = trend.runs[i];
    RunValues::Run one{
        fmt::format("run {}, {}, {}", run.id, one_line(run.made_at.substr(0, 16)), one_line(run.outcome)),
        {}};
    std::size_t name = 0;
    for (const auto& value : {run.raw_ratio, run.credited_ratio, run.student_ms, run.ref_ms}) {
      if (value) one.values.emplace_back(name, *value);
      ++name;
    }
    std::vector<ledger::BankedKernel> kernels;
    if (i < trend.kernels.size()) kernels = trend.kernels[i];
    std::stable_sort(kernels.begin(), kernels.end(),
                     [](const auto& a, const auto& b) { return a.ns > b.ns; });
    if (kernels.size() > kMostKernelsCompared) kernels.resize(kMostKernelsCompared);
    for (const ledger::BankedKernel& kernel : kernels) {
      const auto [at, fresh] = places.try_emplace(kernel.identity, out.names.size());
      if (fresh) {
        out.names.push_back(cut_middle(one_line(kernel.identity), 60) + ", µs");
        out.digits.push_back(kKernelDigits);
      }
      one.values.emplace_back(at->second, kernel.ns / 1e3);
    }
    out.runs.push_back(std::move(one));
  }
  return out;
}

TextTable compare_runs(const RunValues& values, std::size_t before, std::size_t after) {
  struct Line {
    std::size_t name;
    std::optional<double> before, after;
    double moved;
  };
  std::vector<Line> rows;
  for (std::size_t n = 0; n < values.names.size(); ++n) {
    const auto a = value_at(values.runs[before], n), b = value_at(values.runs[after], n);
    if (!a && !b) continue;
    const double moved =
        n < values.totals ? std::numeric_limits<double>::infinity() : std::abs(b.value_or(0) - a.value_or(0));
    rows.push_back({n, a, b, moved});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Line& a, const Line& b) { return a.moved > b.moved; });
  if (rows.size() > kMostKernelsCompared) rows.resize(kMostKernelsCompared);
  TextTable table;
  table.columns = {
      {"of one call"}, {"before", Align::right}, {"after", Align::right}, {"change", Align::right}};
  for (const Line& row : rows) {
    const auto cell = [&](const std::optional<double>& v) {
      return v ? format_fixed(*v, values.digits[row.name]) : std::string("–");
    };
    const bool both = row.before && row.after && *row.before != 0;
    const double change = both ? 100 * (*row.after / *row.before - 1) : 0;
    table.rows.push_back(
        {values.names[row.name], cell(row.before), cell(row.after),
         both ? fmt::format("{}{} %", change < 0 ? "" : "+", format_fixed(change, 2)) : std::string()});
  }
  return table;
}

Json run_values_json(const RunValues& values) {
  Json runs = Json::array();
  for (const RunValues::Run& run : values.runs) {
    Json numbers = Json::array();
    for (const auto& [name, value] : run.values) numbers.push_back({name, value});
    runs.push_back({run.label, std::move(numbers)});
  }
  return {{"names", values.names},
          {"digits", values.digits},
          {"totals", values.totals},
          {"runs", std::move(runs)}};
}

}  // namespace plumbline
