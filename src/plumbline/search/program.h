// SPDX-License-Identifier: Apache-2.0
// Program: every quantity of a space as one graph, each sub-expression once. Not installed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "plumbline/search/expression.h"

namespace plumbline {

/// A set of dimensions.
using Support = std::uint64_t;

/// A node: operands stand before it. `index`: the dimension, or the table.
struct ProgramNode {
  Op op = Op::constant;
  int a = -1, b = -1, c = -1;
  int index = -1;
  double value = 0;
  Support support = 0;
};

/// The graph in evaluation order.
struct Program {
  std::vector<ProgramNode> nodes;
};

/// Compiles names into a Program. Names are dimensions, tables and definitions; a definition is compiled when
/// it is first asked for.
class ProgramBuilder {
 public:
  /// Makes `symbol` the dimension `index`.
  void add_dimension(const std::string& symbol, int index);
  /// Makes `symbol` a table over the dimensions of `support`; without any it is the constant `value`.
  void add_table(const std::string& symbol, int index, Support support, double value);
  /// Makes `symbol` an expression; one that stands there already is kept. False: it stood there.
  bool define(const std::string& symbol, Expression expression);
  bool defined(const std::string& symbol) const;

  /// The node of a name. Errors: search-name-unknown, search-cycle.
  Parsed<int> name(const std::string& symbol, const Location& at = {});
  /// The node of an expression; each name first goes through `rename`.
  Parsed<int> expression(const Expression& expression,
                         const std::function<std::string(const std::string&)>& rename = {});

  const Program& program() const { return program_; }
  /// Definitions that were compiled, each after those that it uses.
  const std::vector<std::pair<std::string, std::string>>& used() const { return used_; }
  /// The node of a compiled definition, dimension or table, or -1.
  int node_of(const std::string& symbol) const;

 private:
  int intern(ProgramNode node);

  Program program_;
  std::map<std::tuple<Op, int, int, int, int, double>, int> known_;
  std::map<std::string, Expression> definitions_;
  std::map<std::string, int> compiled_;  ///< -2: being compiled
  std::vector<std::pair<std::string, std::string>> used_;
};

/// The nodes that `roots` need, ascending.
std::vector<int> cone_of(const Program& program, std::span<const int> roots);

/// Evaluates `cone` at one shape: `dimension(i)` and `table(i)` give the leaves. `values` has a place for
/// every node.
void evaluate(const Program& program, std::span<const int> cone, const std::function<double(int)>& dimension,
              const std::function<double(int)>& table, std::span<double> values);

}  // namespace plumbline
