// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/search_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plumbline/base/numbers.h"

namespace plumbline::detail {
namespace {

bool shown_quantity(const Problem& problem, const std::string& name) {
  if (name == "weighted_ms") return problem.space.points.size() > 1;
  return name.ends_with("_ms") || name == "parameters" || name == "loss";
}

/// Objectives of the front that are not a quantity of that name among those shown: their places.
std::vector<std::size_t> unnamed_objectives(const Problem& problem, const std::vector<std::string>& shown) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < problem.space.front.size(); ++i) {
    if (std::find(shown.begin(), shown.end(), problem.space.front[i].expression.text) == shown.end())
      out.push_back(i);
  }
  return out;
}

}  // namespace

std::string quantity_text(double value) {
  if (std::floor(value) == value && std::abs(value) < 9e15)
    return format_grouped(static_cast<std::int64_t>(value));
  if (std::abs(value) < 0.001) return fmt::format("{:.4g}", value);
  return format_fixed(value, std::abs(value) < 10 ? 4 : 2);
}

double asked_value(const SpaceObjective& objective, double value) {
  return objective.maximise ? -value : value;
}

std::string objective_title(const SpaceObjective& objective) {
  return fmt::format("{} {}", objective.maximise ? "maximise" : "minimise", objective.expression.text);
}

TextTable shape_table(const Problem& problem, const std::vector<ShapeAnswer>& shapes, std::size_t most,
                      bool whole) {
  TextTable table;
  table.columns.push_back({"#", Align::right});
  const ShapeAnswer& first = shapes.front();
  for (const auto& each : first.dimensions) table.columns.push_back({each.first, Align::right});
  std::vector<std::size_t> shown;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < first.quantities.size(); ++i) {
    const std::string& name = first.quantities[i].first;
    if (!shown_quantity(problem, name)) continue;
    shown.push_back(i);
    names.push_back(name);
    table.columns.push_back({name, Align::right});
  }
  std::vector<std::size_t> objectives;
  if (whole) {
    if (problem.space.points.size() == 1) names.emplace_back("weighted_ms");  // the point's own time
    objectives = unnamed_objectives(problem, names);
    for (const std::size_t i : objectives)
      table.columns.push_back({problem.space.front[i].expression.text, Align::right});
    table.columns.push_back({"band ms", Align::right});
  }
  table.columns.push_back({whole ? "tie" : ""});
  for (std::size_t row = 0; row < std::min(most, shapes.size()); ++row) {
    const ShapeAnswer& shape = shapes[row];
    std::vector<Cell> cells{std::to_string(row + 1)};
    for (const auto& each : shape.dimensions) cells.emplace_back(quantity_text(each.second));
    for (const std::size_t i : shown) cells.emplace_back(quantity_text(shape.quantities[i].second));
    for (const std::size_t i : objectives)
      cells.emplace_back(quantity_text(asked_value(problem.space.front[i], shape.front[i])));
    if (whole)
      cells.emplace_back(
          fmt::format("{} - {}", format_fixed(shape.low_ms, 3), format_fixed(shape.high_ms, 3)));
    cells.emplace_back(shape.tie ? "tie" : "", Style::dim);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

TextTable sensitivity_table(const SearchAnswer& answer, bool beside) {
  TextTable table;
  table.columns = {
      {"dimension"}, {"from", Align::right}, {"to", Align::right}, {"change", Align::right}, {"refused by"}};
  bool refused = false;
  for (const Sensitivity& each : answer.sensitivity) {
    for (std::size_t i = 0; i < each.entries.size(); ++i) {
      const Sensitivity::Entry& entry = each.entries[i];
      const bool next = (i > 0 && each.entries[i - 1].value == each.at) ||
                        (i + 1 < each.entries.size() && each.entries[i + 1].value == each.at);
      if (entry.value == each.at || (beside && !next)) continue;
      const double change = (entry.objective / answer.best.front().value - 1) * 100;
      refused |= !entry.refused_by.empty();
      table.rows.push_back({each.dimension, quantity_text(each.at), quantity_text(entry.value),
                            entry.refused_by.empty() ? fmt::format("{:+.2f} %", change) : "",
                            Cell(entry.refused_by, Style::warn)});
    }
  }
  if (!refused) {
    table.columns.pop_back();
    for (auto& row : table.rows) row.pop_back();
  }
  return table;
}

TextTable fate_table(const Problem& problem, const Tally& tally) {
  TextTable table;
  table.columns = {{"what became of them"}, {"shapes", Align::right}, {"of the space", Align::right}, {"is"}};
  const auto add = [&](const std::string& what, std::int64_t count, const std::string& is) {
    const double share = 100 * static_cast<double>(count) / static_cast<double>(problem.shapes);
    table.rows.push_back({what, format_grouped(count), format_fixed(share, 3) + " %", is});
  };
  add("seen", tally.seen, "allowed by every constraint, and timed");
  add("pruned", tally.pruned, "no better than the answer, by a bound");
  for (std::size_t i = 0; i < problem.constraints.size(); ++i) {
    if (tally.rejected[i] > 0)
      add("refused by " + problem.constraints[i].name, tally.rejected[i], problem.constraints[i].text);
  }
  add("the space", problem.shapes, "");
  return table;
}

std::string undominated_title(const SearchAnswer& answer) {
  const auto front = static_cast<std::int64_t>(answer.front.size());
  const std::int64_t all = front + answer.undominated_count;
  return fmt::format(
      "Nothing dominates at 90 %: {} shape{}, {} of the front and {} only because the loss is uncertain",
      format_grouped(all), all == 1 ? "" : "s", format_grouped(front),
      format_grouped(answer.undominated_count));
}

std::string outside_text(const Problem& problem, const SearchAnswer& answer) {
  const LawRange& range = *problem.law_range;
  std::string out;
  if (answer.outside.tokens) {
    out = fmt::format(
        "{} tokens are outside the {} to {} that {} was fitted to: every loss here is extrapolated",
        quantity_text(range.tokens), quantity_text(range.least_tokens), quantity_text(range.most_tokens),
        range.law);
  }
  std::string counts;
  const auto add = [&](std::size_t count, std::size_t all, std::string_view of) {
    if (count > 0) counts += fmt::format("{}{} of the {} {}", counts.empty() ? "" : ", ", count, all, of);
  };
  add(answer.outside.best, answer.best.size(), "best");
  add(answer.outside.front, answer.front.size(), "on the front");
  add(answer.outside.undominated, answer.undominated.size(), "listed beside it");
  if (counts.empty()) return out;
  return fmt::format(
      "{}{}{} outside the {} to {} parameters that {} was fitted to: their losses are extrapolated", out,
      out.empty() ? "" : "; ",
      counts +
          (answer.outside.best + answer.outside.front + answer.outside.undominated == 1 ? " is" : " are"),
      quantity_text(range.least_parameters), quantity_text(range.most_parameters), range.law);
}

std::size_t count_ties(const SearchAnswer& answer) {
  return static_cast<std::size_t>(
      std::count_if(answer.best.begin(), answer.best.end(), [](const auto& each) { return each.tie; }));
}

}  // namespace plumbline::detail
