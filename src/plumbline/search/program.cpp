// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "plumbline/base/text.h"

namespace plumbline {

int ProgramBuilder::intern(ProgramNode node) {
  const bool leaf = node.op == Op::constant || node.op == Op::dimension || node.op == Op::table;
  if (!leaf) {
    const auto value = [&](int at) {
      return at < 0 ? 0.0 : program_.nodes[static_cast<std::size_t>(at)].value;
    };
    bool constant = true;
    for (const int at : {node.a, node.b, node.c}) {
      if (at < 0) continue;
      const ProgramNode& operand = program_.nodes[static_cast<std::size_t>(at)];
      node.support |= operand.support;
      constant = constant && operand.op == Op::constant;
    }
    if (constant) {
      node.value = apply(node.op, value(node.a), value(node.b), value(node.c));
      node.op = Op::constant;
      node.a = node.b = node.c = -1;
    }
  }
  const auto key = std::make_tuple(node.op, node.a, node.b, node.c, node.index, node.value);
  if (node.value == node.value) {  // a NaN equals nothing: such constants are not shared
    if (const auto at = known_.find(key); at != known_.end()) return at->second;
    known_.emplace(key, static_cast<int>(program_.nodes.size()));
  }
  program_.nodes.push_back(node);
  return static_cast<int>(program_.nodes.size()) - 1;
}

void ProgramBuilder::add_dimension(const std::string& symbol, int index) {
  compiled_[symbol] = intern({Op::dimension, -1, -1, -1, index, 0, Support{1} << index});
}

void ProgramBuilder::add_table(const std::string& symbol, int index, Support support, double value) {
  compiled_[symbol] = support == 0 ? intern({Op::constant, -1, -1, -1, -1, value, 0})
                                   : intern({Op::table, -1, -1, -1, index, 0, support});
}

bool ProgramBuilder::define(const std::string& symbol, Expression expression) {
  return definitions_.emplace(symbol, std::move(expression)).second;
}

bool ProgramBuilder::defined(const std::string& symbol) const {
  return definitions_.contains(symbol) || compiled_.contains(symbol);
}

int ProgramBuilder::node_of(const std::string& symbol) const {
  const auto at = compiled_.find(symbol);
  return at == compiled_.end() ? -1 : at->second;
}

Parsed<int> ProgramBuilder::name(const std::string& symbol, const Location& at) {
  if (const auto known = compiled_.find(symbol); known != compiled_.end()) {
    if (known->second >= 0) return {known->second, {}};
    return failed<int>(diagnose("search-cycle", fmt::format("{} is defined by itself", symbol), at));
  }
  const auto definition = definitions_.find(symbol);
  if (definition == definitions_.end()) {
    std::vector<std::string_view> names;
    for (const auto& each : definitions_) names.emplace_back(each.first);
    for (const auto& each : compiled_) names.emplace_back(each.first);
    const auto near = nearest_name(symbol, names);
    return failed<int>(diagnose("search-name-unknown",
                                fmt::format("{} is neither a dimension nor a quantity{}", in_quotes(symbol),
                                            near ? fmt::format("; did you mean '{}'?", *near) : ""),
                                at));
  }
  compiled_[symbol] = -2;
  auto node = expression(definition->second);
  if (!node.ok()) {
    compiled_.erase(symbol);
    return node;
  }
  compiled_[symbol] = *node.value;
  used_.emplace_back(symbol, definition->second.text);
  return node;
}

Parsed<int> ProgramBuilder::expression(const Expression& expression,
                                       const std::function<std::string(const std::string&)>& rename) {
  std::vector<int> place;
  for (const ExpressionNode& each : expression.nodes) {
    if (each.op == Op::name) {
      Location at = expression.at;
      if (at.column > 0) at.column += static_cast<int>(each.offset);
      auto node = name(rename ? rename(each.name) : each.name, at);
      if (!node.ok()) return node;
      place.push_back(*node.value);
      continue;
    }
    const auto of = [&](int operand) { return operand < 0 ? -1 : place[static_cast<std::size_t>(operand)]; };
    place.push_back(intern({each.op, of(each.a), of(each.b), of(each.c), -1, each.value, 0}));
  }
  return {place.back(), {}};
}

std::vector<int> cone_of(const Program& program, std::span<const int> roots) {
  std::vector<char> needed(program.nodes.size(), 0);
  for (const int root : roots) needed[static_cast<std::size_t>(root)] = 1;
  std::vector<int> cone;
  for (std::size_t i = program.nodes.size(); i-- > 0;) {
    if (needed[i] == 0) continue;
    cone.push_back(static_cast<int>(i));
    for (const int operand : {program.nodes[i].a, program.nodes[i].b, program.nodes[i].c}) {
      if (operand >= 0) needed[static_cast<std::size_t>(operand)] = 1;
    }
  }
  std::reverse(cone.begin(), cone.end());
  return cone;
}

void evaluate(const Program& program, std::span<const int> cone, const std::function<double(int)>& dimension,
              const std::function<double(int)>& table, std::span<double> values) {
  for (const int at : cone) {
    const ProgramNode& node = program.nodes[static_cast<std::size_t>(at)];
    double& out = values[static_cast<std::size_t>(at)];
    const auto value = [&](int operand) {
      return operand < 0 ? 0 : values[static_cast<std::size_t>(operand)];
    };
    switch (node.op) {
      case Op::constant:
        out = node.value;
        break;
      case Op::dimension:
        out = dimension(node.index);
        break;
      case Op::table:
        out = table(node.index);
        break;
      default:
        out = apply(node.op, value(node.a), value(node.b), value(node.c));
    }
  }
}

}  // namespace plumbline
