// SPDX-License-Identifier: Apache-2.0
// The answer of a search as a page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/html/page.h"
#include "plumbline/html/pages.h"
#include "plumbline/report/arch_tables.h"
#include "plumbline/report/search_report.h"
#include "plumbline/report/search_tables.h"

namespace plumbline::html {
namespace {

using plumbline::detail::asked_value;
using plumbline::detail::quantity_text;

constexpr std::size_t kMostBands = 16;    // of the interval chart
constexpr std::size_t kMostChosen = 100;  // shapes whose config.json can be chosen, of list and front each

/// "hidden_dim 4096, num_layers 32".
std::string shape_words(const ShapeAnswer& shape) {
  std::string out;
  for (const auto& [name, value] : shape.dimensions)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, quantity_text(value));
  return out;
}

std::optional<double> quantity(const ShapeAnswer& shape, std::string_view name) {
  for (const auto& [each, value] : shape.quantities) {
    if (each == name) return value;
  }
  return {};
}

std::string verdict_of(const Problem& problem, const SearchAnswer& answer) {
  const ShapeAnswer& first = answer.best.front();
  const SpaceObjective& objective = problem.space.objective;
  std::string out = fmt::format("The best of {} shapes: {}, with {} {}.", format_grouped(problem.shapes),
                                shape_words(first), objective.expression.text,
                                quantity_text(asked_value(objective, first.value)));
  const std::size_t ties = plumbline::detail::count_ties(answer);
  if (ties > 0) {
    out += fmt::format(" {} of the {} other{} listed cannot be told from it by the model.", ties,
                       answer.best.size() - 1, answer.best.size() == 2 ? "" : "s");
  }
  return out;
}

Html bands(const SearchAnswer& answer) {
  std::vector<IntervalRow> rows;
  for (std::size_t i = 0; i < std::min(kMostBands, answer.best.size()); ++i) {
    const ShapeAnswer& shape = answer.best[i];
    const auto value = quantity(shape, "weighted_ms");
    if (!value || !std::isfinite(shape.low_ms) || !std::isfinite(shape.high_ms)) return {};
    rows.push_back({fmt::format("{}{}", i + 1, shape.tie ? ", a tie" : ""), value, shape.low_ms,
                    shape.high_ms,
                    i == 0      ? Tone::good
                    : shape.tie ? Tone::plain
                                : Tone::dim,
                    format_fixed(*value, 3) + " ms"});
  }
  return interval_chart("Predicted weighted time of the first shapes, ms, with its 90 % band", rows, {}, "");
}

/// What the two axes are: two objectives of the front, or size and objective of the list.
struct Axes {
  std::string x_title, y_title;
  std::optional<std::pair<double, double>> (*at)(const Problem&, const ShapeAnswer&) = nullptr;
};

Axes axes_of(const Problem& problem) {
  if (problem.space.front.size() >= 2) {
    return {problem.space.front[1].expression.text, problem.space.front[0].expression.text,
            [](const Problem& p, const ShapeAnswer& shape) {
              return std::optional(std::pair(asked_value(p.space.front[1], shape.front[1]),
                                             asked_value(p.space.front[0], shape.front[0])));
            }};
  }
  return {"parameters", problem.space.objective.expression.text,
          [](const Problem& p, const ShapeAnswer& shape) -> std::optional<std::pair<double, double>> {
            const auto size = quantity(shape, "parameters");
            if (!size) return std::nullopt;
            return std::pair(*size, asked_value(p.space.objective, shape.value));
          }};
}

Html plot(const Problem& problem, const SearchAnswer& answer) {
  const Axes axes = axes_of(problem);
  std::vector<Point> points;
  const auto add = [&](const std::vector<ShapeAnswer>& shapes, std::string_view what, bool marked) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const auto at = axes.at(problem, shapes[i]);
      if (!at) continue;
      points.push_back(
          {at->first, at->second,
           fmt::format("{} {}: {}, {}", what, i + 1, quantity_text(at->second), quantity_text(at->first)),
           marked});
    }
  };
  add(answer.undominated, "stays at 90 %", false);
  add(answer.best, "best", false);
  add(answer.front, "front", true);
  const bool two = problem.space.front.size() == 2;
  std::string title = problem.space.front.empty() ? "The best shapes by size"
                      : two                       ? "Pareto front (joined) and the best shapes"
                            : "Pareto front (marked) and the best shapes, in two of three objectives";
  if (!answer.undominated.empty()) {
    title += fmt::format(", and {} of {} shapes that stay at 90 % because the loss is uncertain",
                         format_grouped(static_cast<std::int64_t>(answer.undominated.size())),
                         format_grouped(answer.undominated_count));
  }
  return scatter_chart(title, points, {axes.x_title, axes.y_title, false, false, false, two, "points"});
}

/// The objective's change by steps from the winner, a line a dimension; only shapes that are allowed.
Html sensitivity_chart(const SearchAnswer& answer) {
  std::vector<Series> series;
  for (const Sensitivity& each : answer.sensitivity) {
    const auto own = std::find_if(each.entries.begin(), each.entries.end(),
                                  [&](const auto& entry) { return entry.value == each.at; });
    if (own == each.entries.end()) continue;
    Series one{each.dimension, {}, {}};
    for (auto entry = each.entries.begin(); entry != each.entries.end(); ++entry) {
      const double change = 100 * (entry->objective / answer.best.front().value - 1);
      if (entry->refused_by.empty() && std::isfinite(change))
        one.points.emplace_back(static_cast<double>(entry - own), change);
    }
    if (one.points.size() > 1) series.push_back(std::move(one));
  }
  if (series.empty()) return Html().leaf("p", "No shape beside the first in one dimension is allowed.");
  return line_chart("The objective's change where one dimension takes other values", series,
                    {"values away from the first shape's", "%", {}, {}, 0.0});
}

Html chosen(const Problem& problem, const SearchAnswer& answer) {
  std::vector<std::pair<std::string, Json>> documents;
  const auto add = [&](const std::vector<ShapeAnswer>& shapes, std::string_view what) {
    for (std::size_t i = 0; i < std::min(kMostChosen, shapes.size()); ++i)
      documents.emplace_back(fmt::format("{} {}", what, i + 1), config_json(problem, shapes[i]));
  };
  add(answer.best, "best");
  add(answer.front, "front");
  Html out;
  begin_section(out, "chosen", "The first shape as config.json");
  add_documents(out, documents, "configs");
  end_section(out);
  return out;
}

Html asked(const Problem& problem) {
  TextTable table;
  table.columns = {{"what"}, {"name"}, {"is"}};
  table.rows.push_back({"objective", "", plumbline::detail::objective_title(problem.space.objective)});
  for (const SpaceObjective& each : problem.space.front)
    table.rows.push_back({"objective of the front", "", plumbline::detail::objective_title(each)});
  for (const SpacePoint& each : problem.space.points) {
    table.rows.push_back({"point", each.name,
                          fmt::format("{}, seq_len {}, batch_size {}, weight {}", to_string(each.phase),
                                      each.seq_len, each.batch_size, format_double(each.weight))});
  }
  for (const SearchHardware& each : problem.hardware)
    table.rows.push_back({"GPU", each.predictor.hardware, plumbline::detail::gpu_title(each.predictor)});
  for (const SpaceDimension& each : problem.space.dimensions) {
    table.rows.push_back(
        {"dimension", each.name,
         fmt::format("{} values, {} to {}", each.values.size(), quantity_text(each.values.front()),
                     quantity_text(each.values.back()))});
  }
  for (const SpaceDefinition& each : problem.space.derived)
    table.rows.push_back({"derived", each.name, each.expression.text});
  for (const SpaceConstraint& each : problem.space.constraints) {
    table.rows.push_back({"constraint", each.name,
                          each.expression.text + (each.upper_band ? " (upper ends of the bands)" : "")});
  }
  Html out;
  begin_section(out, "asked", "What was asked");
  if (!problem.quality_note.empty()) out.leaf("p", "Quality: " + problem.quality_note);
  out.add(table_html(table, {"The space", false, ""}));
  out.leaf("p", "Key of the answer: " + problem.key);
  end_section(out);
  return out;
}

Html undominated(const Problem& problem, const SearchAnswer& answer) {
  Html out;
  begin_section(out, "undominated", "What nothing dominates at 90 %");
  out.leaf("p", plumbline::detail::undominated_title(answer) + ".");
  out.leaf("p",
           "A shape dominates another where it is no worse in every other objective and its loss is surely "
           "lower: " +
               problem.uncertain_loss->rule + ".");
  if (!answer.undominated.empty()) {
    const auto listed = static_cast<std::int64_t>(answer.undominated.size());
    if (listed < answer.undominated_count)
      out.leaf("p", fmt::format("The first {} of them by the objective:", format_grouped(listed)));
    add_long_table(
        out, plumbline::detail::shape_table(problem, answer.undominated, answer.undominated.size(), true),
        "Shapes outside the front that stay because the loss is uncertain", "undominated-rows", "shapes");
  }
  end_section(out);
  return out;
}

}  // namespace

std::string search_page(const Problem& problem, const SearchAnswer& answer, const std::string& conflict) {
  Page page;
  page.title = problem.space.title.empty() ? "Search of " + problem.space.name : problem.space.title;
  Html& out = page.body;
  if (answer.best.empty()) {
    page.verdict = conflict;
    page.tone = Tone::bad;
  } else {
    page.verdict = verdict_of(problem, answer);
    if (answer.outside.any())
      page.verdict += " Outside the law's range: " + plumbline::detail::outside_text(problem, answer) + ".";
    begin_section(out, "best", "The best shapes");
    if (const Html chart = bands(answer); !chart.empty()) out.add(chart);
    add_long_table(out, plumbline::detail::shape_table(problem, answer.best, answer.best.size(), true),
                   "The best shapes", "rows", "shapes");
    end_section(out);
    begin_section(out, "front", answer.front.empty() ? "By size" : "Pareto front");
    out.add(plot(problem, answer));
    if (!answer.front.empty()) {
      add_long_table(out, plumbline::detail::shape_table(problem, answer.front, answer.front.size(), true),
                     "Shapes that no other beats in every objective of the front", "front-rows", "shapes");
    }
    end_section(out);
    if (problem.uncertain_loss) out.add(undominated(problem, answer));
    begin_section(out, "sensitivity", "Sensitivity of the first shape");
    out.add(sensitivity_chart(answer));
    out.add(table_html(plumbline::detail::sensitivity_table(answer, false),
                       {"The first shape with one dimension changed", true, ""}));
    end_section(out);
    out.add(chosen(problem, answer));
  }
  begin_section(out, "fates", "What became of the shapes");
  out.add(table_html(plumbline::detail::fate_table(problem, answer.tally),
                     {"Every shape of the space, counted once", false, ""}));
  end_section(out);
  out.add(asked(problem));
  return render_page(page);
}

}  // namespace plumbline::html
