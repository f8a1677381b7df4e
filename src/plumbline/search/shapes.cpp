// SPDX-License-Identifier: Apache-2.0
// Single shapes of a problem: their numbers, quantities and layers.
#include <algorithm>

#include "plumbline/search/problem.h"
#include "plumbline/search/quantities.h"

namespace plumbline {

std::vector<std::int32_t> places_of(const Problem& problem, std::int64_t number) {
  const auto& dimensions = problem.space.dimensions;
  std::vector<std::int32_t> places(dimensions.size());
  for (std::size_t d = dimensions.size(); d-- > 0;) {
    const auto size = static_cast<std::int64_t>(dimensions[d].values.size());
    places[d] = static_cast<std::int32_t>(number % size);
    number /= size;
  }
  return places;
}

std::int64_t number_of(const Problem& problem, const std::vector<std::int32_t>& places) {
  std::int64_t number = 0;
  for (std::size_t d = 0; d < places.size(); ++d) {
    number = number * static_cast<std::int64_t>(problem.space.dimensions[d].values.size()) + places[d];
  }
  return number;
}

std::vector<double> evaluate_shape(const Problem& problem, const std::vector<std::int32_t>& places) {
  std::vector<double> values(problem.program.nodes.size());
  std::vector<int> all(values.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  evaluate(
      problem.program, all,
      [&](int d) {
        const auto at = static_cast<std::size_t>(d);
        return problem.space.dimensions[at].values[static_cast<std::size_t>(places[at])];
      },
      [&](int t) {
        const CostTable& table = problem.tables[static_cast<std::size_t>(t)];
        return table.values[table.place(places)];
      },
      values);
  return values;
}

double quantity_of(const Problem& problem, const std::vector<std::int32_t>& places, const std::string& name,
                   double fallback) {
  const auto at =
      std::lower_bound(problem.quantities.begin(), problem.quantities.end(), name,
                       [](const auto& each, const std::string& wanted) { return each.first < wanted; });
  if (at == problem.quantities.end() || at->first != name) return fallback;
  return evaluate_shape(problem, places)[static_cast<std::size_t>(at->second)];
}

ShapeLayer layer_of(const Problem& problem, const std::vector<std::int32_t>& places, const SpacePoint& point,
                    bool full) {
  const std::vector<double> values = evaluate_shape(problem, places);
  ShapeLayer shape;
  for (const ShapeField& field : shape_fields()) {
    const auto at =
        std::lower_bound(problem.quantities.begin(), problem.quantities.end(), field.name,
                         [](const auto& each, std::string_view wanted) { return each.first < wanted; });
    if (at != problem.quantities.end() && at->first == field.name)
      field.set(shape, values[static_cast<std::size_t>(at->second)]);
  }
  shape.layer.phase = point.phase;
  shape.layer.seq_len = point.seq_len;
  shape.layer.batch_size = point.batch_size;
  shape.layer.backend = point.backend;
  if (full) shape.layer.window_size = 0;
  return shape;
}

}  // namespace plumbline
