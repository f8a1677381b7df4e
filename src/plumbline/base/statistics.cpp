// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace plumbline {
namespace {

double quantile_of_sorted(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

/// Median of a scratch vector, which is reordered.
double median_in_place(std::vector<double>& values) {
  const std::size_t half = values.size() / 2;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(half);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

/// Medians of resamples. Values are sorted once, and a resample is how often each was drawn: its median is
/// found by counting, in a third of the time that selecting it among copies takes.
class Resampler {
 public:
  explicit Resampler(std::span<const double> values)
      : sorted_(values.begin(), values.end()), rank_(values.size()), drawn_(values.size()) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    for (std::size_t rank = 0; rank < order.size(); ++rank) rank_[order[rank]] = rank;
    std::sort(sorted_.begin(), sorted_.end());
  }

  double median(std::uint64_t seed, std::uint64_t round) {
    const std::size_t size = sorted_.size();
    std::fill(drawn_.begin(), drawn_.end(), std::uint32_t{0});
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint64_t bits = counter_random(seed, round * size + i);
      // Multiply-shift: unbiased to 2^-32 for the sample sizes of a bench.
      ++drawn_[rank_[static_cast<std::size_t>(((bits >> 32) * size) >> 32)]];
    }
    std::size_t at = 0;
    std::size_t below = drawn_[0];  // draws of the values up to `at`
    const auto reach = [&](std::size_t place) {
      while (below <= place) below += drawn_[++at];
      return sorted_[at];
    };
    if (size % 2 == 1) return reach(size / 2);
    const double lower = reach(size / 2 - 1);
    return (lower + reach(size / 2)) / 2;
  }

 private:
  std::vector<double> sorted_;
  std::vector<std::size_t> rank_;     ///< of each value, in the order they were given
  std::vector<std::uint32_t> drawn_;  ///< by rank
};

bool usable(std::span<const double> values) {
  return values.size() >= 2 &&
         std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v) && v > 0; });
}

Interval percentile_interval(std::vector<double>& draws, double level) {
  std::sort(draws.begin(), draws.end());
  return {quantile_of_sorted(draws, (1 - level) / 2), quantile_of_sorted(draws, (1 + level) / 2)};
}

}  // namespace

std::optional<double> median(std::span<const double> values) {
  if (values.empty()) return {};
  std::vector<double> copy(values.begin(), values.end());
  return median_in_place(copy);
}

std::optional<double> quantile(std::span<const double> values, double q) {
  if (values.empty()) return {};
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return quantile_of_sorted(sorted, q);
}

std::optional<double> geometric_mean(std::span<const double> values) {
  if (values.empty()) return {};
  double sum = 0;
  for (const double value : values) {
    if (!std::isfinite(value) || value <= 0) return {};
    sum += std::log(value);
  }
  return std::exp(sum / static_cast<double>(values.size()));
}

std::uint64_t counter_random(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed * 0xD1342543DE82EF95ULL + index * 0x9E3779B97F4A7C15ULL + 0x632BE59BD9B4E019ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

std::optional<Interval> bootstrap_ratio_of_medians(std::span<const double> numerator,
                                                   std::span<const double> denominator, double level,
                                                   int resamples, std::uint64_t seed) {
  if (!usable(numerator) || !usable(denominator)) return {};
  std::vector<double> draws;
  Resampler top(numerator), bottom(denominator);
  for (int round = 0; round < resamples; ++round) {
    const auto r = static_cast<std::uint64_t>(round);
    draws.push_back(top.median(2 * seed, r) / bottom.median(2 * seed + 1, r));
  }
  return percentile_interval(draws, level);
}

std::optional<Interval> bootstrap_geomean_of_ratios(std::span<const SamplePair> pairs, double level,
                                                    int resamples, std::uint64_t seed) {
  const auto whole = [](const SamplePair& pair) {
    return usable(pair.numerator) && usable(pair.denominator);
  };
  if (pairs.empty() || !std::all_of(pairs.begin(), pairs.end(), whole)) return {};
  std::vector<double> draws;
  std::vector<std::pair<Resampler, Resampler>> resamplers;
  for (const SamplePair& pair : pairs)
    resamplers.emplace_back(Resampler(pair.numerator), Resampler(pair.denominator));
  for (int round = 0; round < resamples; ++round) {
    const auto r = static_cast<std::uint64_t>(round);
    double logs = 0;
    std::uint64_t stream = 2 * seed;  // a single pair draws what bootstrap_ratio_of_medians draws
    for (auto& [numerator, denominator] : resamplers) {
      logs += std::log(numerator.median(stream, r));
      logs -= std::log(denominator.median(stream + 1, r));
      stream += 2;
    }
    draws.push_back(std::exp(logs / static_cast<double>(pairs.size())));
  }
  return percentile_interval(draws, level);
}

std::optional<Interval> bootstrap_median(std::span<const double> values, double level, int resamples,
                                         std::uint64_t seed) {
  if (!usable(values)) return {};
  std::vector<double> draws;
  Resampler resampler(values);
  for (int round = 0; round < resamples; ++round) {
    draws.push_back(resampler.median(seed, static_cast<std::uint64_t>(round)));
  }
  return percentile_interval(draws, level);
}

}  // namespace plumbline
