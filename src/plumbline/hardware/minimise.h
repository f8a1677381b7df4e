// SPDX-License-Identifier: Apache-2.0
// Minimising a function of a few numbers, without derivatives, deterministically.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace plumbline {

/// Nelder and Mead's simplex (The Computer Journal 7, 1965) from `start`, with the first steps `step` (one a
/// number; a number whose step is 0 stays as it is), about `evaluations` calls of `function`; restarted once
/// around its best point.
std::vector<double> minimise(const std::function<double(std::span<const double>)>& function,
                             std::vector<double> start, const std::vector<double>& step, int evaluations);

}  // namespace plumbline
