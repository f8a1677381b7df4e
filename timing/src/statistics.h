// SPDX-License-Identifier: Apache-2.0
// Statistics of readings. The timing library is built alone, so it does not use plumbline/base.
#pragma once

#include <span>
#include <vector>

namespace plumbline::timing {

/// Middle value; NaN when empty.
double median(std::span<const double> values);

/// Linear-interpolation quantile, 0 <= q <= 1; NaN when empty.
double quantile(std::span<const double> values, double q);

/// Distribution-free interval of the median at about 95 % (order statistics, normal approximation of the
/// binomial).
struct MedianInterval {
  double low;
  double high;
};
MedianInterval median_interval(std::span<const double> values);

/// Two-sided 95 % quantile of Student's t with `degrees` >= 1 degrees of freedom.
double student_t95(int degrees);

/// A trimmed mean with the standard error of Yuen (1974, Biometrika 61): `kept` are the indices that it
/// averages.
struct TrimmedMean {
  double mean;
  double standard_error;
  int degrees;
  std::vector<int> kept;
};
/// `share` is cut off each end (rounded down). Needs at least three values, else NaN.
TrimmedMean trimmed_mean(std::span<const double> values, double share);

}  // namespace plumbline::timing
