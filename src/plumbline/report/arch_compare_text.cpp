// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/report/arch_compare.h"
#include "plumbline/report/text_table.h"

namespace plumbline {
namespace {

std::string signed_pct(double pct) {
  return fmt::format("{}{} %", pct >= 0 ? "+" : "", format_fixed(pct, 2));
}

bool over(const Moved& moved, std::optional<double> fail_above) {
  return fail_above && std::abs(moved.pct) > *fail_above;
}

TextTable moved_table(const std::vector<Moved>& moved, std::optional<double> fail_above, bool kernels) {
  TextTable table{{{"GPU"},
                   {"layer", Align::left, 40},
                   {"kernel"},
                   {"before ms", Align::right},
                   {"after ms", Align::right},
                   {"change", Align::right},
                   {""}},
                  {}};
  for (const Moved& each : moved) {
    const Style style = over(each, fail_above) ? Style::bad : Style::plain;
    std::string remark = over(each, fail_above) && !kernels ? "over the bound" : "";
    if (each.shape_changed) remark += remark.empty() ? "another shape" : ", another shape";
    table.rows.push_back({printable(each.hardware),
                          printable(each.name),
                          printable(each.kernel),
                          format_fixed(each.before_ms, 6),
                          format_fixed(each.after_ms, 6),
                          {signed_pct(each.pct), style},
                          remark});
  }
  if (!kernels) {
    table.columns.erase(table.columns.begin() + 2);
    for (auto& row : table.rows) row.erase(row.begin() + 2);
  } else {
    table.columns.pop_back();
    for (auto& row : table.rows) row.pop_back();
  }
  return table;
}

TextTable rank_table(const std::vector<RankChange>& ranks) {
  TextTable table{
      {{"GPU"}, {"ranking"}, {"layer", Align::left, 40}, {"before", Align::right}, {"after", Align::right}},
      {}};
  for (const RankChange& each : ranks) {
    table.rows.push_back({printable(each.hardware), printable(each.metric), printable(each.name),
                          fmt::format("#{}", each.before), fmt::format("#{}", each.after)});
  }
  return table;
}

std::string verdict(const ArtifactComparison& c, std::optional<double> fail_above) {
  std::string out = fmt::format("{} latencies compared, {} moved", c.compared, c.moved.size());
  if (!c.moved.empty()) out += fmt::format(" (at most {} %)", format_fixed(c.largest_pct, 2));
  out += fmt::format(", {} ranks changed, {} new, {} gone", c.ranks.size(), c.added.size(), c.gone.size());
  if (fail_above) {
    out += c.largest_pct > *fail_above
               ? fmt::format("; over the bound of {} %", format_double(*fail_above))
               : fmt::format("; within the bound of {} %", format_double(*fail_above));
  }
  return out;
}

/// Renders each part that is not empty, with `title` and `table` of the format.
template <class Title, class Table>
std::string render(const ArtifactComparison& c, std::optional<double> fail_above, Title title, Table table) {
  std::string out;
  if (!c.moved.empty()) out += title("Moved") + table(moved_table(c.moved, fail_above, false));
  if (!c.kernels.empty())
    out += title("Kernels that moved") + table(moved_table(c.kernels, fail_above, true));
  if (!c.ranks.empty()) out += title("Changed rank") + table(rank_table(c.ranks));
  for (const auto& [name, list] : {std::pair{"New", &c.added}, std::pair{"Gone", &c.gone}}) {
    if (list->empty()) continue;
    TextTable names{{{"GPU and layer", Align::left, 64}}, {}};
    for (const std::string& each : *list) names.rows.push_back({printable(each)});
    out += title(name) + table(names);
  }
  return out;
}

Json moved_json(const std::vector<Moved>& moved) {
  Json list = Json::array();
  for (const Moved& each : moved) {
    list.push_back({{"hardware", each.hardware},
                    {"name", each.name},
                    {"before_ms", each.before_ms},
                    {"after_ms", each.after_ms},
                    {"change_pct", each.pct},
                    {"shape_changed", each.shape_changed}});
    if (!each.kernel.empty()) list.back()["kernel"] = each.kernel;
  }
  return list;
}

}  // namespace

std::string comparison_text(const ArtifactComparison& c, std::optional<double> fail_above, const Look& look) {
  const auto title = [&](const std::string& text) { return styled(text, Style::bold, look.color) + "\n"; };
  const auto table = [&](const TextTable& t) { return render_text(t, look, 2) + "\n"; };
  return render(c, fail_above, title, table) + verdict(c, fail_above) + "\n";
}

std::string comparison_markdown(const ArtifactComparison& c, std::optional<double> fail_above) {
  const auto title = [](const std::string& text) { return fmt::format("\n**{}**\n\n", text); };
  const auto table = [](const TextTable& t) { return render_markdown(t); };
  return fmt::format("### Layer latencies\n\n{}\n", verdict(c, fail_above)) +
         render(c, fail_above, title, table);
}

Json comparison_json(const ArtifactComparison& c, std::optional<double> fail_above) {
  Json ranks = Json::array();
  for (const RankChange& each : c.ranks) {
    ranks.push_back({{"hardware", each.hardware},
                     {"metric", each.metric},
                     {"name", each.name},
                     {"before", each.before},
                     {"after", each.after}});
  }
  return {{"compared", c.compared},
          {"moved", moved_json(c.moved)},
          {"kernels", moved_json(c.kernels)},
          {"rank_changes", ranks},
          {"new", c.added},
          {"gone", c.gone},
          {"largest_change_pct", c.largest_pct},
          {"fail_above_pct", fail_above ? Json(*fail_above) : Json(nullptr)},
          {"passed", !fail_above || c.largest_pct <= *fail_above}};
}

}  // namespace plumbline
