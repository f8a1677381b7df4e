// SPDX-License-Identifier: Apache-2.0
// Expressions of a space file: numbers, names and operators as Python writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/diagnostics.h"

namespace plumbline {

/// What a node of an expression does. The last two stand in compiled programs alone.
enum class Op : std::uint8_t {
  constant,
  name,
  negate,
  logical_not,
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  minimum,
  maximum,
  floor,
  ceil,
  sqrt,
  log,
  less,
  less_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  select,  ///< a if b else c
  dimension,
  table
};

/// One node; `a`, `b`, `c` are places of operands in Expression::nodes.
struct ExpressionNode {
  Op op = Op::constant;
  int a = -1, b = -1, c = -1;
  double value = 0;        ///< of a constant
  std::string name;        ///< of a name
  std::size_t offset = 0;  ///< of the node's text
};

/// A parsed expression: operands stand before what uses them, the last node is the whole.
struct Expression {
  std::string text;
  Location at;  ///< of the first character of the text
  std::vector<ExpressionNode> nodes;
};

/// Reads an expression of a Python-like language: + - * / // % **, comparisons (also chained), and, or, not,
/// `a if b else c`, min(), max(), floor(), ceil(), sqrt(), log(). At most 4,096 characters, 100 levels.
/// Error: search-expression, with the column in the file.
Parsed<Expression> parse_expression(std::string_view text, const Location& at);

/// An interval of doubles.
struct Range {
  double low = 0, high = 0;
};

/// The operation on numbers. x / 0, x // 0 and x % 0 are +infinity: no comparison `<=` accepts it. Truth is 1
/// and 0.
double apply(Op op, double a, double b, double c);

/// An interval that holds apply() of every choice of operands from the intervals. Rounding is monotone, so
/// the same operations on the ends need no slack; only powers get one unit in the last place.
Range apply(Op op, const Range& a, const Range& b, const Range& c);

}  // namespace plumbline
