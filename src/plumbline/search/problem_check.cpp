// SPDX-License-Identifier: Apache-2.0
// What must hold of a finished problem: no overflow, and the sums are what the model says.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plumbline/base/numbers.h"
#include "plumbline/base/statistics.h"
#include "plumbline/search/problem_builder.h"

namespace plumbline {

namespace {
constexpr double kExact = 9007199254740992.0;  // 2^53
}

bool ProblemBuilder::check_ranges() {
  const Program& program = builder_.program();
  std::vector<Range> range(program.nodes.size());
  const auto of = [&](int at) { return at < 0 ? Range{} : range[static_cast<std::size_t>(at)]; };
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const ProgramNode& node = program.nodes[i];
    const auto d = static_cast<std::size_t>(std::max(node.index, 0));
    if (node.op == Op::constant) {
      range[i] = {node.value, node.value};
    } else if (node.op == Op::dimension) {
      range[i] = {problem_.space.dimensions[d].values.front(), problem_.space.dimensions[d].values.back()};
    } else if (node.op == Op::table) {
      range[i] = {kNoShape, 0};
      for (const double value : problem_.tables[d].values) {
        if (value != kNoShape) range[i] = {std::min(range[i].low, value), std::max(range[i].high, value)};
      }
      if (range[i].low > range[i].high) range[i] = {0, 0};
    } else {
      range[i] = apply(node.op, of(node.a), of(node.b), of(node.c));
    }
  }
  Diagnostics wrong;
  for (const auto& [symbol, text] : builder_.used()) {
    const Range& r = of(builder_.node_of(symbol));
    if (symbol.ends_with("_ps") && !(r.high < kExact) && symbol.find("_high_") == symbol.npos) {
      wrong.push_back(diagnose(
          "search-overflow",
          fmt::format("{} may reach {} ps: times add up exactly below 2^53", symbol, format_double(r.high)),
          {problem_.space.file, 0, 0}));
    }
  }
  const auto finite = [&](const ProblemRoot& root_node) {
    const Range& r = of(root_node.node);
    if (std::isfinite(r.low)) return;
    wrong.push_back(diagnose("search-overflow",
                             fmt::format("{} ({}) has no finite lower bound: it may overflow, or divide by 0",
                                         root_node.name, root_node.text),
                             {problem_.space.file, 0, 0}));
  };
  finite(problem_.objective);
  for (const ProblemRoot& each : problem_.front) finite(each);
  if (problem_.uncertain_loss && problem_.uncertain_loss->at_most >= 0) {
    finite({"the loss at most", at_most_, problem_.uncertain_loss->at_most});
    finite({"the loss at least", at_least_, problem_.uncertain_loss->at_least});
  }
  return good(wrong);
}

bool ProblemBuilder::check_model() {
  finish();
  constexpr int kSamples = 64;
  for (int i = 0; i < kSamples * 8; ++i) {
    const auto number = static_cast<std::int64_t>(counter_random(7, static_cast<std::uint64_t>(i)) %
                                                  static_cast<std::uint64_t>(problem_.shapes));
    const auto places = places_of(problem_, number);
    const std::vector<double> values = evaluate_shape(problem_, places);
    const bool allowed =
        std::all_of(problem_.constraints.begin(),
                    problem_.constraints.begin() + static_cast<std::ptrdiff_t>(basic_.size()),
                    [&](const ProblemRoot& c) { return values[static_cast<std::size_t>(c.node)] != 0; });
    if (!allowed) continue;
    for (const SpacePoint& point : problem_.space.points) {
      for (std::size_t g = 0; g < problem_.hardware.size(); ++g) {
        const std::string symbol = fmt::format("{}_{}_{}_ps", point.name, problem_.space.hardware[g].symbol,
                                               pattern_ ? "full" : "layer");
        const int node = builder_.node_of(symbol);
        if (node < 0 || values[static_cast<std::size_t>(node)] >= kNoShape) continue;
        const Predictor& predictor = problem_.hardware[g].predictor;
        const ShapeLayer shape = layer_of(problem_, places, point, pattern_);
        double sum = 0;
        for (std::size_t k = 0; k < rank_kernel_count(predictor, shape, problem_.parts); ++k)
          sum += picoseconds(rank_kernel(predictor, shape, problem_.parts, k).ms);
        if (sum == values[static_cast<std::size_t>(node)]) continue;
        return good(
            {diagnose("search-model-mismatch",
                      fmt::format("shape {}: the tables add up to {} ps at point {}, the model says {} ps",
                                  number, format_double(values[static_cast<std::size_t>(node)]), point.name,
                                  format_double(sum)))});
      }
    }
  }
  return true;
}

}  // namespace plumbline
