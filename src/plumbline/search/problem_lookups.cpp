// SPDX-License-Identifier: Apache-2.0
// Tables that are not times: relations, qualities; and which shapes need no time at all.
#include <fmt/format.h>

#include <algorithm>

#include "plumbline/search/problem_builder.h"
#include "plumbline/search/quality.h"

namespace plumbline {

bool ProblemBuilder::add_lookup(const std::string& name, const std::vector<std::string>& of,
                                const Location& at,
                                const std::function<double(const std::vector<double>&)>& value) {
  std::vector<int> nodes;
  Support support = 0;
  for (const std::string& each : of) {
    auto node = builder_.name(each, at);
    if (!good(node.diagnostics)) return false;
    nodes.push_back(*node.value);
    support |= builder_.program().nodes[static_cast<std::size_t>(*node.value)].support;
  }
  CostTable out;
  out.name = name;
  std::size_t size = 1;
  for (int d = 0; d < 64; ++d) {
    if ((support >> d & 1U) != 0 && d != problem_.inner) out.dimensions.push_back(d);
  }
  if ((support >> problem_.inner & 1U) != 0) out.dimensions.push_back(problem_.inner);
  for (const int d : out.dimensions) {
    out.sizes.push_back(problem_.space.dimensions[static_cast<std::size_t>(d)].values.size());
    size *= out.sizes.back();
    if (size > (std::size_t{1} << 25)) {
      return good({diagnose("search-too-large",
                            fmt::format("{} depends on too many dimensions to tabulate", name), at)});
    }
  }
  out.values.resize(size);
  const std::vector<int> cone = cone_of(builder_.program(), nodes);
  std::vector<double> values(builder_.program().nodes.size());
  std::vector<std::size_t> index(problem_.space.dimensions.size(), 0);
  std::vector<double> key(nodes.size());
  for (std::size_t place = 0; place < size; ++place) {
    std::size_t rest = place;
    for (std::size_t i = out.dimensions.size(); i-- > 0;) {
      index[static_cast<std::size_t>(out.dimensions[i])] = rest % out.sizes[i];
      rest /= out.sizes[i];
    }
    evaluate(
        builder_.program(), cone,
        [&](int d) {
          return problem_.space.dimensions[static_cast<std::size_t>(d)]
              .values[index[static_cast<std::size_t>(d)]];
        },
        [](int) { return 0.0; }, values);
    for (std::size_t i = 0; i < nodes.size(); ++i) key[i] = values[static_cast<std::size_t>(nodes[i])];
    out.values[place] = value(key);
  }
  add(std::move(out));
  return true;
}

bool ProblemBuilder::add_relations() {
  for (const SpaceRelation& each : problem_.space.relations) {
    auto tuples = each.tuples;
    std::sort(tuples.begin(), tuples.end());
    const auto holds = [&](const std::vector<double>& key) {
      return std::binary_search(tuples.begin(), tuples.end(), key) ? 1.0 : 0.0;
    };
    if (!add_lookup("relation_" + each.name, each.of, each.at, holds)) return false;
    extra_.push_back({each.name, fmt::format("relation_{} == 1", each.name)});
  }
  return true;
}

bool ProblemBuilder::add_quality(const std::string& csv) {
  if (!problem_.space.quality) return true;
  const SpaceQuality& wanted = *problem_.space.quality;
  auto quality = load_quality(wanted, csv);
  if (!good(quality.diagnostics)) return false;
  problem_.quality_note = quality.value->note;
  problem_.law_range = quality.value->range;
  rule_ = quality.value->rule;
  at_most_ = quality.value->at_most;
  at_least_ = quality.value->at_least;
  for (const Quantity& each : quality.value->quantities) builder_.define(each.name, expression_of(each.text));
  if (quality.value->table.of.empty()) return true;
  const QualityTable& table = quality.value->table;
  for (std::size_t column = 0; column < 3; ++column) {
    const auto value = [&](const std::vector<double>& key) {
      const auto at = table.rows.find(key);
      return at == table.rows.end() ? kNoShape : at->second[column];
    };
    constexpr std::array<const char*, 3> names{"loss", "loss_low", "loss_high"};
    if (!add_lookup(names[column], table.of, wanted.at, value)) return false;
  }
  extra_.push_back({"quality_known", "loss < 1000000000000000"});
  return true;
}

bool ProblemBuilder::tabulate_filters(bool filter) {
  for (const Quantity& each : basic_constraints(problem_.space)) basic_.push_back(each);
  basic_.insert(basic_.end(), extra_.begin(), extra_.end());
  const auto take = [&](const Expression& expression) {
    auto node = builder_.expression(expression);
    if (!good(node.diagnostics)) return false;
    collect(*node.value);
    return true;
  };
  for (const Quantity& each : basic_) {
    if (!take(expression_of(each.text))) return false;
  }
  if (!filter) return true;
  for (const SpaceConstraint& each : problem_.space.constraints) {
    if (!mentions_time(each.expression) && !take(each.expression)) return false;
  }
  return true;
}

void ProblemBuilder::collect(int at) {
  const ProgramNode& node = builder_.program().nodes[static_cast<std::size_t>(at)];
  if (node.op == Op::logical_and) {
    collect(node.a);
    collect(node.b);
    return;
  }
  const std::array<int, 1> root{at};
  for (const int each : cone_of(builder_.program(), root)) {
    if (builder_.program().nodes[static_cast<std::size_t>(each)].op == Op::table) return;
  }
  filters_.push_back(at);
}

bool ProblemBuilder::mentions_time(const Expression& expression, int depth) const {
  for (const ExpressionNode& node : expression.nodes) {
    if (node.op != Op::name) continue;
    if (node.name.ends_with("_ms") || node.name.ends_with("_ps") || node.name.starts_with("ms_per"))
      return true;
    for (const SpaceDefinition& each : problem_.space.derived) {
      if (depth < 100 && each.name == node.name && mentions_time(each.expression, depth + 1)) return true;
    }
  }
  return false;
}

}  // namespace plumbline
