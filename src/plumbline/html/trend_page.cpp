// SPDX-License-Identifier: Apache-2.0
// A card's runs over time as a page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/html/page.h"
#include "plumbline/html/pages.h"
#include "plumbline/report/ledger_trend_compare.h"

namespace plumbline::html {
namespace {

constexpr double kGate = 1;  // a raw ratio of one: as fast as the reference

std::string verdict_of(const Trend& trend) {
  const auto& last = trend.runs.back();
  std::string out = fmt::format("{} runs; the last, {}, reads {}.", trend.runs.size(), last.id,
                                last.raw_ratio ? format_fixed(*last.raw_ratio, 4) : "nothing");
  if (trend.changes.empty()) return out + " No step that the noise does not explain.";
  const auto& change = trend.changes.back();
  return out + fmt::format(" {} step{}; the last at run {}: {:+.2f} % (± {:.2f}).", trend.changes.size(),
                           trend.changes.size() == 1 ? "" : "s", trend.runs[change.at].id,
                           100 * change.change, 200 * change.error);
}

Html ratio_chart(const Trend& trend) {
  Series raw{"raw ratio", {}, {}}, credited{"credited ratio", {}, {}};
  LineOptions options{"run", "ratio", {}, {}, kGate};
  for (std::size_t i = 0; i < trend.runs.size(); ++i) {
    const auto& run = trend.runs[i];
    const auto x = static_cast<double>(i);
    if (run.raw_ratio) raw.points.emplace_back(x, *run.raw_ratio);
    if (run.credited_ratio) credited.points.emplace_back(x, *run.credited_ratio);
    options.x_labels.push_back(std::to_string(run.id));
  }
  for (const auto& change : trend.changes)
    options.marks.push_back({static_cast<double>(change.at), fmt::format("{:+.2f} %", 100 * change.change)});
  std::vector<Series> series{raw};
  if (!credited.points.empty()) series.push_back(credited);
  return line_chart("The reference's time over the student's, run by run (dashed: 1)", series, options);
}

Html kernel_chart(const Trend& trend) {
  std::vector<Series> series;
  LineOptions options{"run", "µs a call", {}, {}, {}};
  for (const auto& run : trend.runs) options.x_labels.push_back(std::to_string(run.id));
  for (const std::string& identity : trend.longest) {
    Series one{one_line(identity), {}, {}};
    for (std::size_t i = 0; i < trend.kernels.size(); ++i) {
      for (const auto& kernel : trend.kernels[i])
        if (kernel.identity == identity) one.points.emplace_back(static_cast<double>(i), kernel.ns / 1e3);
    }
    series.push_back(std::move(one));
  }
  return line_chart("The student's longest kernels, run by run", series, options);
}

/// The last run against the one before it; a reader with scripts chooses others.
Html comparison(const Trend& trend) {
  const RunValues values = run_values(trend);
  const std::size_t after = values.runs.size() - 1;
  Html out;
  begin_section(out, "compare", "Two runs compared");
  if (values.runs.size() < trend.runs.size())
    out.leaf("p", fmt::format("To choose from: the last {} runs.", values.runs.size()));
  add_data(out, "values", run_values_json(values));
  out.open("div", {{"data-compare", "values"}});
  out.add(table_html(compare_runs(values, after - 1, after),
                     {values.runs[after - 1].label + " and " + values.runs[after].label, false, ""}));
  out.close("div");
  end_section(out);
  return out;
}

}  // namespace

std::string trend_page(const Trend& trend) {
  Page page;
  page.title = fmt::format("{} over time", trend.card);
  page.verdict = verdict_of(trend);
  page.tone = !trend.changes.empty() && trend.changes.back().change < 0 ? Tone::bad : Tone::plain;
  Html& out = page.body;
  out.leaf("p", fmt::format("{}, driver {}, {}, {} window", trend.about.gpu, trend.about.driver,
                            trend.about.harness, trend.about.timed));
  begin_section(out, "ratio", "Ratio");
  out.add(ratio_chart(trend));
  end_section(out);
  if (!trend.longest.empty()) {
    begin_section(out, "kernels", "Kernels");
    out.add(kernel_chart(trend));
    end_section(out);
  }
  if (trend.runs.size() > 1) out.add(comparison(trend));
  begin_section(out, "runs", "Runs");
  TextTable table = trend_table(trend);
  table.columns.back().head = "moved";
  add_long_table(out, std::move(table), "Runs, oldest first", "rows", "runs");
  end_section(out);
  if (!trend.others.empty()) {
    begin_section(out, "others", "Not in this line");
    std::vector<std::string> words;
    for (const OtherSeries& other : trend.others) {
      words.push_back(fmt::format("{} run{} of series {}: {}", other.runs, other.runs == 1 ? "" : "s",
                                  other.series, fmt::join(other.apart, "; ")));
    }
    add_list(out, words);
    end_section(out);
  }
  return render_page(page);
}

}  // namespace plumbline::html
