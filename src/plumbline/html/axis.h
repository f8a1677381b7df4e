// SPDX-License-Identifier: Apache-2.0
// Axes of a chart: values to places, and the round values that are marked.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace plumbline::html {

/// Values low..high to places from..to, linear or logarithmic. Values outside are clamped to the ends.
struct Axis {
  double low = 0, high = 1;
  double from = 0, to = 1;
  bool log = false;

  double at(double value) const;
};

/// An axis that holds every finite value (on a logarithmic one, every positive one) with 4 % of room at each
/// end. Without values it runs from 0 to 1; one value gets room on both sides.
Axis axis_for(std::span<const double> values, double from, double to, bool log = false);

/// A mark of an axis.
struct Tick {
  double value = 0;
  std::string label;
};

/// About `wanted` round values within the axis, ascending.
std::vector<Tick> ticks(const Axis& axis, int wanted = 6);

}  // namespace plumbline::html
