// SPDX-License-Identifier: Apache-2.0
#include "statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace plumbline::timing {

double median(std::span<const double> values) { return quantile(values, 0.5); }

double quantile(std::span<const double> values, double q) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

MedianInterval median_interval(std::span<const double> values) {
  if (values.empty()) {
    return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  }
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(sorted.size());
  const double half = 0.98 * std::sqrt(n);  // 1.96 standard deviations of Binomial(n, 1/2)
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(n / 2 - half)));
  const auto high = static_cast<std::size_t>(std::min(n - 1, std::ceil(n / 2 + half) - 1));
  return {sorted[low], sorted[std::max(low, high)]};
}

double student_t95(int degrees) {
  // Tables of Student's distribution, two-sided 95 %.
  static constexpr std::array<double, 30> kTable = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                                    2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                                    2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                                    2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  if (degrees < 1) return std::numeric_limits<double>::quiet_NaN();
  if (degrees <= 30) return kTable[static_cast<std::size_t>(degrees - 1)];
  return 1.96 + 2.4 / degrees;  // within 0.003 above 30
}

TrimmedMean trimmed_mean(std::span<const double> values, double share) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  const int n = static_cast<int>(values.size());
  if (n < 3) return {unknown, unknown, 0, {}};
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
  });
  const int cut = static_cast<int>(share * n);
  const auto at = [&](int rank) {
    return values[static_cast<std::size_t>(order[static_cast<std::size_t>(rank)])];
  };
  TrimmedMean result{0, 0, n - 2 * cut - 1, {}};
  double winsorized = 0;
  for (int i = 0; i < n; ++i) {
    const int rank = std::clamp(i, cut, n - 1 - cut);
    winsorized += at(rank);
    if (i == rank) {
      result.mean += at(i);
      result.kept.push_back(order[static_cast<std::size_t>(i)]);
    }
  }
  result.mean /= n - 2 * cut;
  winsorized /= n;
  double squares = 0;
  for (int i = 0; i < n; ++i) {
    const double d = at(std::clamp(i, cut, n - 1 - cut)) - winsorized;
    squares += d * d;
  }
  const double kept = static_cast<double>(n - 2 * cut) / n;
  result.standard_error = std::sqrt(squares / (n - 1)) / (kept * std::sqrt(static_cast<double>(n)));
  std::sort(result.kept.begin(), result.kept.end());
  return result;
}

}  // namespace plumbline::timing
