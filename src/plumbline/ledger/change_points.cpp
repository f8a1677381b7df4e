// SPDX-License-Identifier: Apache-2.0
#include "plumbline/ledger/change_points.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plumbline/base/statistics.h"

namespace plumbline::ledger {
namespace {

constexpr std::size_t kFewest = 8;
constexpr std::size_t kShortest = 3;  // values of a level
constexpr double kFloor = 2e-4;       // no clock repeats a ratio more closely

/// The scatter of one value around its level; a step disturbs one difference only.
double scatter(const std::vector<double>& logs) {
  std::vector<double> differences;
  for (std::size_t i = 1; i < logs.size(); ++i) differences.push_back(std::abs(logs[i] - logs[i - 1]));
  return std::max(kFloor, *median(differences) / (0.6745 * std::sqrt(2.0)));
}

/// Single values that stand out, brought to within 4 of `sigma` of the median of the five around them; a step
/// stays where it is.
std::vector<double> without_outliers(const std::vector<double>& logs, double sigma) {
  std::vector<double> out;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const std::size_t from = i < 2 ? 0 : std::min(i - 2, logs.size() - 5);
    const double middle = *median(std::span(logs).subspan(from, 5));
    out.push_back(std::clamp(logs[i], middle - 4 * sigma, middle + 4 * sigma));
  }
  return out;
}

struct Level {
  double mean = 0;
  double square = 0;  ///< Σ (x − mean)²
};

class Sums {
 public:
  explicit Sums(const std::vector<double>& logs) : sum_(logs.size() + 1), squares_(logs.size() + 1) {
    // Less their middle, so that the squares keep their digits.
    origin_ = *median(logs);
    for (std::size_t i = 0; i < logs.size(); ++i) {
      const double x = logs[i] - origin_;
      sum_[i + 1] = sum_[i] + x;
      squares_[i + 1] = squares_[i] + x * x;
    }
  }
  Level level(std::size_t from, std::size_t to) const {
    const auto n = static_cast<double>(to - from);
    const double sum = sum_[to] - sum_[from];
    return {origin_ + sum / n, std::max(0.0, squares_[to] - squares_[from] - sum * sum / n)};
  }

 private:
  double origin_;
  std::vector<double> sum_, squares_;
};

}  // namespace

std::vector<ChangePoint> change_points(std::span<const double> values) {
  const std::size_t n = values.size();
  if (n < kFewest ||
      std::any_of(values.begin(), values.end(), [](double v) { return !std::isfinite(v) || v <= 0; }))
    return {};
  std::vector<double> logs;
  for (const double v : values) logs.push_back(std::log(v));
  const double sigma = scatter(logs);
  const double price = (4 * std::log(static_cast<double>(n)) + 10) * sigma * sigma;
  const Sums sums(without_outliers(logs, sigma));
  std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> from(n + 1, 0);
  best[0] = -price;
  for (std::size_t to = kShortest; to <= n; ++to) {
    for (std::size_t at = 0; at + kShortest <= to; ++at) {
      const double cost = best[at] + sums.level(at, to).square + price;
      if (cost < best[to]) {
        best[to] = cost;
        from[to] = at;
      }
    }
  }
  std::vector<std::size_t> starts;
  for (std::size_t to = n; to > 0; to = from[to]) starts.push_back(from[to]);
  std::reverse(starts.begin(), starts.end());
  std::vector<ChangePoint> out;
  for (std::size_t i = 1; i < starts.size(); ++i) {
    const std::size_t end = i + 1 < starts.size() ? starts[i + 1] : n;
    const Level before = sums.level(starts[i - 1], starts[i]);
    const Level behind = sums.level(starts[i], end);
    const auto n1 = static_cast<double>(starts[i] - starts[i - 1]);
    const auto n2 = static_cast<double>(end - starts[i]);
    const double spread = std::max(sigma * sigma, (before.square + behind.square) / (n1 + n2 - 2));
    out.push_back(
        {starts[i], std::exp(behind.mean - before.mean) - 1, std::sqrt(spread * (1 / n1 + 1 / n2))});
  }
  return out;
}

}  // namespace plumbline::ledger
