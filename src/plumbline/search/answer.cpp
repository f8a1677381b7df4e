// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/answer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "plumbline/base/numbers.h"

namespace plumbline {
namespace {

int node_of(const Problem& problem, const std::string& name) {
  const auto at =
      std::lower_bound(problem.quantities.begin(), problem.quantities.end(), name,
                       [](const auto& each, const std::string& wanted) { return each.first < wanted; });
  return at == problem.quantities.end() || at->first != name ? -1 : at->second;
}

/// Low and high end of weighted_ms, from the model's bands of whole layers.
std::pair<double, double> band_of(const Problem& problem, const std::vector<std::int32_t>& places) {
  const std::vector<double> values = evaluate_shape(problem, places);
  const auto value = [&](const std::string& name, double fallback) {
    const int node = node_of(problem, name);
    return node < 0 ? fallback : values[static_cast<std::size_t>(node)];
  };
  const double layers = value("num_layers", 1), full = value("num_full_layers", layers);
  double low = 0, high = 0;
  for (const SpacePoint& point : problem.space.points) {
    for (std::size_t g = 0; g < problem.hardware.size(); ++g) {
      const auto add = [&](double count, bool whole) {
        if (count == 0) return;
        const auto [least, most] =
            rank_band(problem.hardware[g].predictor, layer_of(problem, places, point, whole));
        const double weight = point.weight * problem.space.hardware[g].weight * count;
        low += weight * least;
        high += weight * most;
      };
      const bool pattern = node_of(problem, "num_full_layers") >= 0;
      add(pattern ? full : layers, pattern);
      if (pattern) add(layers - full, false);
      const double outside =
          value(fmt::format("{}_{}_outside_ps", point.name, problem.space.hardware[g].symbol), 0);
      low += point.weight * problem.space.hardware[g].weight * outside * 1e-9;
      high += point.weight * problem.space.hardware[g].weight * outside * 1e-9;
    }
  }
  return {low, high};
}

ShapeAnswer describe(const Problem& problem, std::int64_t number) {
  ShapeAnswer out;
  out.number = number;
  const auto places = places_of(problem, number);
  const std::vector<double> values = evaluate_shape(problem, places);
  const auto value = [&](const std::string& name) {
    const int node = node_of(problem, name);
    return node < 0 ? 0 : values[static_cast<std::size_t>(node)];
  };
  for (std::size_t d = 0; d < places.size(); ++d) {
    const SpaceDimension& each = problem.space.dimensions[d];
    out.dimensions.emplace_back(
        each.name, each.when ? value(each.name) : each.values[static_cast<std::size_t>(places[d])]);
  }
  std::vector<std::string> names;
  for (const SpaceDefinition& each : problem.space.derived) names.push_back(each.name);
  for (const SpacePoint& each : problem.space.points) names.push_back(each.name + "_ms");
  for (const char* name : {"weighted_ms", "parameters", "active_parameters", "kv_bytes_per_token",
                           "memory_bytes", "loss", "loss_low", "loss_high"}) {
    names.emplace_back(name);
  }
  for (const std::string& name : names) {
    if (node_of(problem, name) >= 0) out.quantities.emplace_back(name, value(name));
  }
  out.value = values[static_cast<std::size_t>(problem.objective.node)];
  for (const ProblemRoot& each : problem.front)
    out.front.push_back(values[static_cast<std::size_t>(each.node)]);
  const auto [low, high] = band_of(problem, places);
  out.low_ms = low;
  out.high_ms = high;
  return out;
}

std::vector<Sensitivity> sensitivity_of(const Problem& problem, std::int64_t winner) {
  constexpr std::int32_t reach = 8;
  std::vector<Sensitivity> out;
  const auto at = places_of(problem, winner);
  for (std::size_t d = 0; d < at.size(); ++d) {
    const SpaceDimension& dimension = problem.space.dimensions[d];
    const auto size = static_cast<std::int32_t>(dimension.values.size());
    if (size < 2) continue;
    Sensitivity one;
    one.dimension = dimension.name;
    one.at = dimension.values[static_cast<std::size_t>(at[d])];
    for (std::int32_t i = std::max(0, at[d] - reach); i < std::min(size, at[d] + reach + 1); ++i) {
      auto places = at;
      places[d] = i;
      const std::vector<double> values = evaluate_shape(problem, places);
      Sensitivity::Entry entry;
      entry.value = dimension.values[static_cast<std::size_t>(i)];
      entry.objective = values[static_cast<std::size_t>(problem.objective.node)];
      for (const ProblemRoot& each : problem.constraints) {
        if (values[static_cast<std::size_t>(each.node)] != 0) continue;
        entry.refused_by = each.name;
        break;
      }
      one.entries.push_back(std::move(entry));
    }
    out.push_back(std::move(one));
  }
  return out;
}

std::size_t count_outside(const LawRange& range, const std::vector<ShapeAnswer>& shapes) {
  return static_cast<std::size_t>(std::count_if(shapes.begin(), shapes.end(), [&](const ShapeAnswer& shape) {
    return std::any_of(shape.quantities.begin(), shape.quantities.end(), [&](const auto& each) {
      return each.first == "parameters" &&
             (each.second < range.least_parameters || each.second > range.most_parameters);
    });
  }));
}

/// Whether the objective depends on a predicted time; other answers have no band.
bool depends_on_times(const Problem& problem) {
  const std::array<int, 1> root{problem.objective.node};
  const auto cone = cone_of(problem.program, root);
  return std::any_of(cone.begin(), cone.end(), [&](int at) {
    const ProgramNode& node = problem.program.nodes[static_cast<std::size_t>(at)];
    return node.op == Op::table && !problem.tables[static_cast<std::size_t>(node.index)].kernels.empty();
  });
}

}  // namespace

SearchAnswer make_answer(const Problem& problem, const SearchState& state, const Undominated& undominated) {
  SearchAnswer answer;
  answer.tally = state.tally;
  const bool timed = depends_on_times(problem);
  for (const Candidate& each : state.top.best) {
    answer.best.push_back(describe(problem, each.number));
    const ShapeAnswer& first = answer.best.front();
    const double share = first.high_ms / ((first.low_ms + first.high_ms) / 2) - 1;  // half of the band
    answer.best.back().tie =
        timed && answer.best.size() > 1 && each.value <= first.value + std::abs(first.value) * share;
  }
  for (const FrontPoint& each : state.front.points) answer.front.push_back(describe(problem, each.number));
  for (const Candidate& each : undominated.first)
    answer.undominated.push_back(describe(problem, each.number));
  answer.undominated_count = undominated.count;
  if (problem.law_range) {
    const LawRange& range = *problem.law_range;
    answer.outside = {range.tokens < range.least_tokens || range.tokens > range.most_tokens,
                      count_outside(range, answer.best), count_outside(range, answer.front),
                      count_outside(range, answer.undominated)};
  }
  if (!answer.best.empty()) answer.sensitivity = sensitivity_of(problem, answer.best.front().number);
  return answer;
}

}  // namespace plumbline
