// SPDX-License-Identifier: Apache-2.0
// What the operations of expressions do to numbers and to intervals.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "plumbline/search/expression.h"

namespace plumbline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Range kEverything{-kInfinity, kInfinity};

/// Python's //: the quotient rounded down, exact where operands are whole numbers below 2^53.
double floor_divide(double a, double b) {
  if (b == 0) return kInfinity;
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
  return std::floor(quotient + 0.5);
}

/// Python's %: the rest has the divisor's sign.
double modulo(double a, double b) {
  if (b == 0) return kInfinity;
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// The hull of f at the four corners; everything when one of them is not a number.
template <class F>
Range corners(const Range& a, const Range& b, F f) {
  const std::array<double, 4> value{f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)};
  Range out{value[0], value[0]};
  for (const double v : value) {
    if (std::isnan(v)) return kEverything;
    out = {std::min(out.low, v), std::max(out.high, v)};
  }
  return out;
}

bool holds_zero(const Range& r) { return r.low <= 0 && r.high >= 0; }
/// One number, or none: then both ends are NaN.
bool is_point(const Range& r) { return r.low == r.high || (std::isnan(r.low) && std::isnan(r.high)); }
Range truth(bool certain, bool possible) { return {certain ? 1.0 : 0.0, possible ? 1.0 : 0.0}; }
bool always(const Range& r) { return !holds_zero(r); }
bool ever(const Range& r) { return r.low != 0 || r.high != 0; }

Range modulo(const Range& a, const Range& b) {
  if (is_point(a) && is_point(b)) return {modulo(a.low, b.low), modulo(a.low, b.low)};
  if (b.low <= 0 || !std::isfinite(a.low) || !std::isfinite(a.high)) return kEverything;
  if (is_point(b) && floor_divide(a.low, b.low) == floor_divide(a.high, b.low)) {
    return {modulo(a.low, b.low), modulo(a.high, b.low)};
  }
  return {0, b.high};
}

Range power(const Range& a, const Range& b) {
  if (a.low < 0 && !is_point(b)) return kEverything;
  Range out = corners(a, b, [](double x, double y) { return std::pow(x, y); });
  if (a.low < 0) {  // an even power of an interval around 0 has its least value inside
    if (std::floor(b.low) != b.low || b.low < 0) return kEverything;
    if (a.high > 0) out.low = std::min(out.low, 0.0);
  }
  return {std::nextafter(out.low, -kInfinity), std::nextafter(out.high, kInfinity)};
}

}  // namespace

double apply(Op op, double a, double b, double c) {
  switch (op) {
    case Op::negate:
      return -a;
    case Op::logical_not:
      return a == 0 ? 1 : 0;
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::divide:
      return b == 0 ? kInfinity : a / b;
    case Op::floor_divide:
      return floor_divide(a, b);
    case Op::modulo:
      return modulo(a, b);
    case Op::power:
      return std::pow(a, b);
    case Op::minimum:
      return b < a ? b : a;
    case Op::maximum:
      return b > a ? b : a;
    case Op::floor:
      return std::floor(a);
    case Op::ceil:
      return std::ceil(a);
    case Op::sqrt:
      return std::sqrt(a);
    case Op::log:
      return std::log(a);
    case Op::less:
      return a < b ? 1 : 0;
    case Op::less_equal:
      return a <= b ? 1 : 0;
    case Op::equal:
      return a == b ? 1 : 0;
    case Op::not_equal:
      return a != b ? 1 : 0;
    case Op::logical_and:
      return a != 0 && b != 0 ? 1 : 0;
    case Op::logical_or:
      return a != 0 || b != 0 ? 1 : 0;
    case Op::select:
      return b != 0 ? a : c;
    case Op::constant:
    case Op::name:
    case Op::dimension:
    case Op::table:
      break;
  }
  return a;
}

Range apply(Op op, const Range& a, const Range& b, const Range& c) {
  if (is_point(a) && is_point(b) && is_point(c)) {
    const double value = apply(op, a.low, b.low, c.low);
    return {value, value};
  }
  switch (op) {
    case Op::negate:
      return {-a.high, -a.low};
    case Op::logical_not:
      return truth(!ever(a), !always(a));
    case Op::add:
      return corners(a, b, [](double x, double y) { return x + y; });
    case Op::subtract:
      return corners(a, b, [](double x, double y) { return x - y; });
    case Op::multiply:
      return corners(a, b, [](double x, double y) { return x * y; });
    case Op::divide:
      if (holds_zero(b)) return kEverything;
      return corners(a, b, [](double x, double y) { return x / y; });
    case Op::floor_divide:
      if (holds_zero(b)) return kEverything;
      return corners(a, b, [](double x, double y) { return floor_divide(x, y); });
    case Op::modulo:
      return modulo(a, b);
    case Op::power:
      return power(a, b);
    case Op::minimum:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case Op::maximum:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case Op::floor:
      return {std::floor(a.low), std::floor(a.high)};
    case Op::ceil:
      return {std::ceil(a.low), std::ceil(a.high)};
    case Op::sqrt:
      return a.low < 0 ? kEverything : Range{std::sqrt(a.low), std::sqrt(a.high)};
    case Op::log:
      if (a.low <= 0) return kEverything;
      return {std::nextafter(std::log(a.low), -kInfinity), std::nextafter(std::log(a.high), kInfinity)};
    case Op::less:
      return truth(a.high < b.low, a.low < b.high);
    case Op::less_equal:
      return truth(a.high <= b.low, a.low <= b.high);
    case Op::equal:
      return truth(is_point(a) && is_point(b) && a.low == b.low, a.low <= b.high && b.low <= a.high);
    case Op::not_equal:
      return truth(a.high < b.low || b.high < a.low, !(is_point(a) && is_point(b) && a.low == b.low));
    case Op::logical_and:
      return truth(always(a) && always(b), ever(a) && ever(b));
    case Op::logical_or:
      return truth(always(a) || always(b), ever(a) || ever(b));
    case Op::select:
      if (always(b)) return a;
      if (!ever(b)) return c;
      return {std::min(a.low, c.low), std::max(a.high, c.high)};
    case Op::constant:
    case Op::name:
    case Op::dimension:
    case Op::table:
      break;
  }
  return a;
}

}  // namespace plumbline
