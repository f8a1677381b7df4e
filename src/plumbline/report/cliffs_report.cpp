// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/cliffs_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/report/text_table.h"

namespace plumbline {
namespace {

Json cause_json(CliffCause cause) {
  return cause == CliffCause::none ? Json(nullptr) : Json(std::string(to_string(cause)));
}

std::string signed_pct(double value) {
  return fmt::format("{}{} %", value > 0 ? "+" : "", format_fixed(value, 1));
}

std::string cause_text(CliffCause cause) {
  return cause == CliffCause::none ? "–" : std::string(to_string(cause));
}

}  // namespace

std::string cliffs_text(const std::vector<DimensionCliffs>& dimensions, bool color) {
  TextTable summary;
  summary.columns = {{"dimension"},          {"value", Align::right},  {"ms", Align::right},
                     {"slow because of"},    {"better", Align::right}, {"ms", Align::right},
                     {"saves", Align::right}};
  for (const DimensionCliffs& d : dimensions) {
    const bool better = d.better != d.value;
    summary.rows.push_back({d.dimension,
                            std::to_string(d.value),
                            format_fixed(d.ms, 4),
                            {cause_text(d.cause), d.cause == CliffCause::none ? Style::plain : Style::warn},
                            better ? std::to_string(d.better) : "–",
                            better ? format_fixed(d.better_ms, 4) : "–",
                            better ? Cell(format_fixed(d.saving_pct, 1) + " %", Style::good) : Cell("–")});
  }
  std::string out = render_text(summary, color);
  for (const DimensionCliffs& d : dimensions) {
    TextTable table;
    table.columns = {{d.dimension, Align::right},
                     {"ms", Align::right},
                     {"time", Align::right},
                     {"size", Align::right},
                     {"slow because of"}};
    for (const Neighbour& n : d.neighbours) {
      table.rows.push_back({std::to_string(n.value), format_fixed(n.ms, 4), signed_pct(n.change_pct),
                            signed_pct(n.work_change_pct), cause_text(n.cause)});
    }
    out += "\n" + render_text(table, color);
  }
  return out;
}

Json cliffs_json(const std::vector<DimensionCliffs>& dimensions) {
  Json out = Json::array();
  for (const DimensionCliffs& d : dimensions) {
    Json neighbours = Json::array();
    for (const Neighbour& n : d.neighbours) {
      neighbours.push_back({{"value", n.value},
                            {"ms", n.ms},
                            {"change_pct", n.change_pct},
                            {"work_change_pct", n.work_change_pct},
                            {"cause", cause_json(n.cause)}});
    }
    out.push_back({{"dimension", d.dimension},
                   {"value", d.value},
                   {"ms", d.ms},
                   {"cause", cause_json(d.cause)},
                   {"better", d.better},
                   {"better_ms", d.better_ms},
                   {"saving_pct", d.saving_pct},
                   {"neighbours", neighbours}});
  }
  return out;
}

}  // namespace plumbline
