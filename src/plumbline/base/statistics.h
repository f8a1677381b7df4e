// SPDX-License-Identifier: Apache-2.0
// Statistics of readings. An empty or unusable sample gives no number, never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace plumbline {

/// The middle value (mean of the two middle ones for an even count). None when empty.
std::optional<double> median(std::span<const double> values);

/// Linear-interpolation quantile, 0 <= q <= 1 (as numpy's default). None when empty.
std::optional<double> quantile(std::span<const double> values, double q);

/// exp(mean(log x)). None when empty or when any value is not positive and finite: a geometric mean over a
/// zero or a missing workload would be a lie.
std::optional<double> geometric_mean(std::span<const double> values);

/// A closed interval.
struct Interval {
  double low = 0;
  double high = 0;
};

/// The 64 random bits of draw `index` in stream `seed` (SplitMix64 finaliser on a counter): the same
/// everywhere, in any order, on any number of threads.
std::uint64_t counter_random(std::uint64_t seed, std::uint64_t index);

/// Percentile bootstrap interval of median(numerator) / median(denominator), both resampled independently.
/// None when either sample has fewer than two values or a value that is not positive and finite.
std::optional<Interval> bootstrap_ratio_of_medians(std::span<const double> numerator,
                                                   std::span<const double> denominator, double level = 0.95,
                                                   int resamples = 2000, std::uint64_t seed = 1);

/// Samples of one ratio: what stands above the line and below it.
struct SamplePair {
  std::span<const double> numerator;
  std::span<const double> denominator;
};

/// Percentile bootstrap interval of the geometric mean, over the pairs, of median(numerator) /
/// median(denominator). None when there is no pair or any sample is unusable, as above.
std::optional<Interval> bootstrap_geomean_of_ratios(std::span<const SamplePair> pairs, double level = 0.95,
                                                    int resamples = 2000, std::uint64_t seed = 1);

/// Percentile bootstrap interval of the median.
std::optional<Interval> bootstrap_median(std::span<const double> values, double level = 0.95,
                                         int resamples = 2000, std::uint64_t seed = 1);

}  // namespace plumbline
