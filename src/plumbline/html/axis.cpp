// SPDX-License-Identifier: Apache-2.0
#include "plumbline/html/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace plumbline::html {
namespace {

constexpr double kRoom = 0.04;  // of the axis, at each end

std::string label_of(double value) { return fmt::format("{:.6g}", value); }

std::vector<Tick> linear_ticks(const Axis& axis, int wanted) {
  const double rough = (axis.high - axis.low) / std::max(1, wanted);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = power;
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    step = factor * power;
    if (step >= rough) break;
  }
  std::vector<Tick> out;
  // counted, not added up: the tenth mark is 10 steps, and the loop ends whatever the values are
  const double first = std::ceil(axis.low / step);
  for (int i = 0; i <= 4 * wanted; ++i) {
    const double value = (first + i) * step;
    if (value > axis.high) break;
    out.push_back({value, label_of(value)});
  }
  return out;
}

std::vector<Tick> log_ticks(const Axis& axis, int wanted) {
  const double first = std::floor(std::log10(axis.low)), last = std::ceil(std::log10(axis.high));
  const double decades = last - first;
  const double stride = std::max(1.0, std::ceil(decades / std::max(1, wanted)));
  std::vector<Tick> out;
  for (double power = first; power <= last && out.size() < 64; power += stride) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && decades > 2) continue;
      const double value = factor * std::pow(10.0, power);
      if (value >= axis.low && value <= axis.high) out.push_back({value, label_of(value)});
    }
  }
  return out;
}

}  // namespace

double Axis::at(double value) const {
  const double v = std::clamp(value, low, high);
  const double share = log ? std::log(v / low) / std::log(high / low) : (v - low) / (high - low);
  return from + (to - from) * (std::isfinite(share) ? share : 0);
}

Axis axis_for(std::span<const double> values, double from, double to, bool log) {
  Axis axis{0, 1, from, to, log};
  bool any = false;
  for (const double v : values) {
    if (!std::isfinite(v) || std::abs(v) > 1e300 || (log && v < 1e-300)) continue;
    axis.low = any ? std::min(axis.low, v) : v;
    axis.high = any ? std::max(axis.high, v) : v;
    any = true;
  }
  if (!any) return {log ? 1.0 : 0.0, log ? 10.0 : 1.0, from, to, log};
  if (log) {
    const double room = std::max(std::pow(axis.high / axis.low, kRoom), 1.02);
    axis.low /= room;
    axis.high *= room;
    return axis;
  }
  double room = kRoom * (axis.high - axis.low);
  if (room <= 0) room = axis.high == 0 ? 1 : 0.05 * std::abs(axis.high);
  axis.low -= room;
  axis.high += room;
  return axis;
}

std::vector<Tick> ticks(const Axis& axis, int wanted) {
  return axis.log ? log_ticks(axis, wanted) : linear_ticks(axis, wanted);
}

}  // namespace plumbline::html
