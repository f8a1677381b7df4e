// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/problem.h"

#include <fmt/format.h>

#include <algorithm>

#include "plumbline/base/hash.h"
#include "plumbline/base/numbers.h"
#include "plumbline/search/problem_builder.h"

namespace plumbline {

ProblemBuilder::ProblemBuilder(Space space, std::vector<SearchHardware> hardware, unsigned threads)
    : threads_(threads) {
  problem_.space = std::move(space);
  problem_.hardware = std::move(hardware);
  problem_.parts = layer_parts(problem_.space);
}

Parsed<Problem> ProblemBuilder::build(const std::string& quality_csv, bool filter) {
  define_all();
  choose_inner();
  if (!compile_fields() || !add_relations() || !add_quality(quality_csv) || !tabulate_filters(filter))
    return fail();
  if (!add_times() || !compile_roots() || !check_ranges() || !check_model()) return fail();
  finish();
  return {std::move(problem_), std::move(found_)};
}

bool ProblemBuilder::good(const Diagnostics& diagnostics) {
  found_.insert(found_.end(), diagnostics.begin(), diagnostics.end());
  return !has_errors(diagnostics);
}

void ProblemBuilder::define_all() {
  const Space& space = problem_.space;
  for (std::size_t d = 0; d < space.dimensions.size(); ++d) {
    const SpaceDimension& each = space.dimensions[d];
    problem_.symbols.push_back(dimension_symbol(each));
    builder_.add_dimension(problem_.symbols.back(), static_cast<int>(d));
    if (each.when) {
      builder_.define(each.name, expression_of(fmt::format("{} if ({}) else {}", problem_.symbols.back(),
                                                           each.when->text, format_double(each.otherwise))));
    }
  }
  for (const SpaceDefinition& each : space.derived) builder_.define(each.name, each.expression);
  whole_model_ = builder_.defined("num_layers");
  pattern_ = whole_model_ && builder_.defined("full_every");
  double hbm = 0;
  for (const SearchHardware& gpu : problem_.hardware)
    hbm = hbm == 0 ? gpu.hbm_bytes : std::min(hbm, gpu.hbm_bytes);
  builder_.define("hbm_bytes", expression_of(format_double(hbm)));
  auto quantities = counted_quantities(space, whole_model_, pattern_);
  const auto times = timed_quantities(space, whole_model_, pattern_);
  quantities.insert(quantities.end(), times.begin(), times.end());
  const auto reserved = [](std::string_view name) {
    return name.ends_with("_ps") || name.ends_with("_ms") || name == "parameters" ||
           name == "layer_parameters";
  };
  for (const Quantity& each : quantities) {
    if (builder_.define(each.name, expression_of(each.text)) || !reserved(each.name)) continue;
    found_.push_back(diagnose("search-name-taken", fmt::format("{} is a quantity of every space", each.name),
                              {space.file, 0, 0}));
  }
}

void ProblemBuilder::choose_inner() {
  const auto& dimensions = problem_.space.dimensions;
  for (std::size_t d = 1; d < dimensions.size(); ++d) {
    if (dimensions[d].values.size() > dimensions[static_cast<std::size_t>(problem_.inner)].values.size())
      problem_.inner = static_cast<int>(d);
  }
}

bool ProblemBuilder::compile_fields() {
  if (has_errors(found_)) return false;
  const Location at{problem_.space.file, 0, 0};
  for (std::size_t i = 0; i < kShapeFields; ++i) {
    auto node = builder_.name(std::string(shape_fields()[i].name), at);
    if (!good(node.diagnostics)) return false;
    fields_[i] = *node.value;
  }
  auto node = builder_.name("vocab_size", at);
  if (!good(node.diagnostics)) return false;
  vocabulary_ = *node.value;
  return true;
}

TableContext ProblemBuilder::context() const {
  return {builder_.program(),
          problem_.space.dimensions,
          fields_,
          vocabulary_,
          filters_,
          problem_.inner,
          threads_};
}

void ProblemBuilder::add(CostTable table) {
  Support support = 0;
  for (const int d : table.dimensions) support |= Support{1} << d;
  builder_.add_table(table.name, static_cast<int>(problem_.tables.size()), support, table.values.front());
  problem_.sub_shapes += table.sub_shapes;
  if (support != 0) {
    problem_.tables.push_back(std::move(table));
  } else {
    builder_.define(table.name, expression_of(format_double(table.values.front())));
    constants_.emplace_back(table.name, format_double(table.values.front()));
  }
}

bool ProblemBuilder::root(const std::string& name, const Expression& expression, bool upper_band,
                          bool maximise, ProblemRoot& out) {
  const auto rename = [&](const std::string& symbol) {
    if (!upper_band || !symbol.ends_with("_ms")) return symbol;
    const std::string high = symbol.substr(0, symbol.size() - 2) + "high_ms";
    return builder_.defined(high) ? high : symbol;
  };
  Expression whole = expression;
  std::string text = expression.text;
  if (upper_band) {
    std::size_t shift = 0;
    text.clear();
    std::vector<std::pair<std::size_t, std::string>> names;
    for (const ExpressionNode& node : expression.nodes) {
      if (node.op == Op::name) names.emplace_back(node.offset, node.name);
    }
    std::sort(names.begin(), names.end());
    for (const auto& [offset, symbol] : names) {
      text += expression.text.substr(shift, offset - shift) + rename(symbol);
      shift = offset + symbol.size();
    }
    text += expression.text.substr(shift);
    auto parsed = parse_expression(text, expression.at);
    if (!good(parsed.diagnostics)) return false;
    whole = std::move(*parsed.value);
  }
  if (maximise) {
    text = fmt::format("-({})", text);
    Expression negated = whole;
    negated.nodes.push_back({Op::negate, static_cast<int>(negated.nodes.size()) - 1, -1, -1, 0, {}, 0});
    whole = std::move(negated);
  }
  auto node = builder_.expression(whole);
  if (!good(node.diagnostics)) return false;
  out = {name, text, *node.value};
  return true;
}

bool ProblemBuilder::compile_roots() {
  const auto add_constraint = [&](const std::string& name, const Expression& expression, bool upper_band) {
    ProblemRoot out;
    if (!root(name, expression, upper_band, false, out)) return false;
    problem_.constraints.push_back(std::move(out));
    return true;
  };
  for (const Quantity& each : basic_) {
    if (!add_constraint(each.name, expression_of(each.text), false)) return false;
  }
  bool complete = true;
  for (const SpaceConstraint& each : problem_.space.constraints) {
    complete = add_constraint(each.name, each.expression, each.upper_band) && complete;
  }
  const SpaceObjective& goal = problem_.space.objective;
  complete = root(goal.maximise ? "maximise" : "minimise", goal.expression, false, goal.maximise,
                  problem_.objective) &&
             complete;
  for (const SpaceObjective& each : problem_.space.front) {
    ProblemRoot out;
    complete = root(each.expression.text, each.expression, false, each.maximise, out) && complete;
    problem_.front.push_back(std::move(out));
  }
  for (const char* name : {"parameters", "active_parameters", "kv_bytes_per_token", "weighted_ms",
                           "ffn_ratio", "memory_bytes"}) {
    auto node = builder_.name(name);
    if (!good(node.diagnostics)) return false;
  }
  for (const SpacePoint& point : problem_.space.points) {
    if (!good(builder_.name(point.name + "_ms").diagnostics)) return false;
  }
  for (const SpaceDefinition& each : problem_.space.derived) {
    auto node = builder_.name(each.name, each.expression.at);
    complete = good(node.diagnostics) && complete;
  }
  for (const char* name : {"loss", "loss_low", "loss_high"}) {
    if (builder_.defined(name) && !good(builder_.name(name).diagnostics)) return false;
  }
  return complete && compile_uncertain_loss();
}

bool ProblemBuilder::compile_uncertain_loss() {
  const auto& front = problem_.space.front;
  const auto is_loss = [](const SpaceObjective& each) {
    const auto& nodes = each.expression.nodes;
    return !each.maximise && nodes.size() == 1 && nodes.front().op == Op::name &&
           nodes.front().name == "loss";
  };
  const auto loss = std::find_if(front.begin(), front.end(), is_loss);
  if (rule_.empty() || loss == front.end()) return true;
  UncertainLoss out{static_cast<std::size_t>(loss - front.begin()), rule_, -1, -1};
  if (!at_most_.empty()) {
    // Expressions without names of their own: certificate and key stay what they are without the second
    // search.
    const auto most = builder_.expression(expression_of(at_most_));
    const auto least = builder_.expression(expression_of(at_least_));
    if (!good(most.diagnostics) || !good(least.diagnostics)) return false;
    out.at_most = *most.value;
    out.at_least = *least.value;
  }
  problem_.uncertain_loss = std::move(out);
  return true;
}

void ProblemBuilder::finish() {
  problem_.program = builder_.program();
  problem_.definitions = constants_;
  for (const auto& each : builder_.used()) {
    const bool constant = std::any_of(constants_.begin(), constants_.end(),
                                      [&](const auto& c) { return c.first == each.first; });
    if (!constant) problem_.definitions.push_back(each);
  }
  problem_.shapes = shape_count(problem_.space);
  problem_.quantities.clear();
  for (const auto& [symbol, text] : builder_.used())
    problem_.quantities.emplace_back(symbol, builder_.node_of(symbol));
  for (const SpaceDimension& each : problem_.space.dimensions) {
    if (!each.when) problem_.quantities.emplace_back(each.name, builder_.node_of(each.name));
  }
  for (const CostTable& table : problem_.tables)
    problem_.quantities.emplace_back(table.name, builder_.node_of(table.name));
  std::sort(problem_.quantities.begin(), problem_.quantities.end());
  problem_.key = key();
}

std::string ProblemBuilder::key() const {
  std::string all = fmt::format("{}|{}", problem_.space.top, problem_.inner);
  for (std::size_t d = 0; d < problem_.symbols.size(); ++d) {
    all += "|" + problem_.symbols[d];
    for (const double value : problem_.space.dimensions[d].values) all += "," + format_double(value);
  }
  for (const auto& [symbol, text] : problem_.definitions) all += fmt::format("|{}={}", symbol, text);
  for (const ProblemRoot& each : problem_.constraints) all += fmt::format("|{}:{}", each.name, each.text);
  all += "|" + problem_.objective.text;
  for (const ProblemRoot& each : problem_.front) all += "|" + each.text;
  for (const CostTable& table : problem_.tables) {
    all += "|" + table.name +
           sha256_hex(
               {reinterpret_cast<const char*>(table.values.data()), table.values.size() * sizeof(double)});
  }
  return sha256_hex(all);
}

Parsed<Problem> build_problem(Space space, std::vector<SearchHardware> hardware,
                              const std::string& quality_csv, unsigned threads, bool filter) {
  return ProblemBuilder(std::move(space), std::move(hardware), threads).build(quality_csv, filter);
}

}  // namespace plumbline
