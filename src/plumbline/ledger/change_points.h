// SPDX-License-Identifier: Apache-2.0
// Where a sequence of ratios moved, and by how much.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace plumbline::ledger {

/// A step: from `at` on the values lie at another level.
struct ChangePoint {
  std::size_t at = 0;  ///< index of the first value behind the step
  double change = 0;   ///< relative: level behind over level before, less 1
  double error = 0;    ///< one standard error of it, from the scatter around the levels
};

/// Steps in positive values, oldest first: optimal partitioning of their logarithms into levels (Jackson et
/// al. 2005), each of three values at least; the scatter is the median absolute first difference, and a level
/// must pay 4 ln n + 10 times its square. Fewer than 8 values have none. One value that stands out is not
/// a step. O(n²).
std::vector<ChangePoint> change_points(std::span<const double> values);

}  // namespace plumbline::ledger
