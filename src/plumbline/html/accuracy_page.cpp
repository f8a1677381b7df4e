// SPDX-License-Identifier: Apache-2.0
// Predicted against measured as a page.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "plumbline/base/numbers.h"
#include "plumbline/html/page.h"
#include "plumbline/html/pages.h"
#include "plumbline/report/accuracy_report.h"

namespace plumbline::html {
namespace {

constexpr std::size_t kMostPoints = 1500;  // of an operation, evenly taken; the figures count every row

Html scatter_of(const OpAccuracy& op, const std::string& id) {
  std::vector<Point> points;
  const std::size_t stride = 1 + op.rows.size() / kMostPoints;
  for (std::size_t i = 0; i < op.rows.size(); i += stride) {
    const Judged& row = op.rows[i];
    const double error = 100 * (row.predicted / row.measured - 1);
    points.push_back({row.measured, row.predicted,
                      fmt::format("measured {:.4g} µs, predicted {:.4g} µs, {:+.1f} %", row.measured,
                                  row.predicted, error)});
  }
  return scatter_chart(fmt::format("{}: predicted against measured, µs (dashed: equal)", op.op), points,
                       {"measured, µs", "predicted, µs", true, true, true, false, id});
}

/// The errors by how long the kernels take, a row each half decade.
TextTable by_size(const std::vector<Judged>& rows) {
  constexpr std::array<double, 8> kEdges{0, 10, 30, 100, 300, 1000, 10000, 1e300};
  TextTable table;
  table.columns = {{"measured"},
                   {"rows", Align::right},
                   {"MAPE %", Align::right},
                   {"bias %", Align::right},
                   {"worst %", Align::right}};
  for (std::size_t e = 0; e + 1 < kEdges.size(); ++e) {
    std::vector<Judged> here;
    double worst = 0;
    for (const Judged& row : rows) {
      if (row.measured < kEdges[e] || row.measured >= kEdges[e + 1]) continue;
      here.push_back(row);
      const double error = 100 * (row.predicted / row.measured - 1);
      if (std::abs(error) > std::abs(worst)) worst = error;
    }
    if (here.empty()) continue;
    const auto errors = accuracy(here);
    table.rows.push_back({kEdges[e + 1] > 1e299 ? fmt::format("from {} µs", kEdges[e])
                                                : fmt::format("{} to {} µs", kEdges[e], kEdges[e + 1]),
                          std::to_string(here.size()), format_fixed(errors.mape_pct.value(), 2),
                          format_fixed(errors.bias_pct.value(), 2), format_fixed(worst, 2)});
  }
  return table;
}

}  // namespace

std::string accuracy_page(const std::string& title, const std::vector<OpAccuracy>& ops) {
  Page page;
  page.title = title;
  std::size_t over = 0;
  for (const OpAccuracy& op : ops) over += op.over_budget() ? 1 : 0;
  page.verdict = over == 0 ? "Every operation is within its budget."
                           : fmt::format("{} of {} operations over budget.", over, ops.size());
  page.tone = over == 0 ? Tone::good : Tone::bad;
  std::vector<IntervalRow> rows;
  TextTable table;
  table.columns = {{"operation"},
                   {"rows", Align::right},
                   {"MAPE %", Align::right},
                   {"p90 %", Align::right},
                   {"bias %", Align::right},
                   {"band covers %", Align::right},
                   {"budget MAPE %", Align::right}};
  for (const OpAccuracy& op : ops) {
    const Accuracy& e = op.errors;
    const auto cell = [](const std::optional<double>& v, int digits = 2) {
      return v ? format_fixed(*v, digits) : std::string("–");
    };
    rows.push_back({op.op, e.mape_pct, e.median_pct, e.p90_pct, op.over_budget() ? Tone::bad : Tone::good,
                    cell(e.mape_pct) + " %"});
    table.rows.push_back({op.op, cell(e.n, 0), cell(e.mape_pct), cell(e.p90_pct), cell(e.bias_pct),
                          cell(e.coverage_pct),
                          op.budget_mape_pct ? format_fixed(*op.budget_mape_pct, 2) : std::string("–")});
  }
  Html& out = page.body;
  begin_section(out, "errors", "Errors by operation");
  out.add(interval_chart("Mean absolute error in per cent (line: median to 90th percentile)", rows, {}, ""));
  out.add(table_html(table, {"Errors by operation", true, ""}));
  end_section(out);
  std::size_t n = 0;
  for (const OpAccuracy& op : ops) {
    ++n;
    begin_section(out, fmt::format("op{}", n), op.op);
    out.add(scatter_of(op, fmt::format("points{}", n)));
    out.add(table_html(by_size(op.rows), {fmt::format("{}: errors by measured time", op.op), true, ""}));
    end_section(out);
  }
  return render_page(page);
}

}  // namespace plumbline::html
