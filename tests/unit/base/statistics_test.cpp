// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace plumbline {
namespace {

using Values = std::vector<double>;

TEST(Median, OfOddEvenAndNothing) {
  EXPECT_EQ(median(Values{3, 1, 2}), 2.0);
  EXPECT_EQ(median(Values{4, 1, 3, 2}), 2.5);
  EXPECT_FALSE(median(Values{}));
}

TEST(Quantile, InterpolatesAsNumpyDoes) {
  EXPECT_DOUBLE_EQ(*quantile(Values{1, 2, 3, 4}, 0.9), 3.7);
  EXPECT_EQ(quantile(Values{5}, 0.5), 5.0);
}

TEST(GeometricMean, RefusesWhatWouldBeALie) {
  EXPECT_DOUBLE_EQ(*geometric_mean(Values{0.1, 10}), 1.0);
  EXPECT_FALSE(geometric_mean(Values{}));
  EXPECT_FALSE(geometric_mean(Values{1, 0}));
  EXPECT_FALSE(geometric_mean(Values{1, -1}));
  EXPECT_FALSE(geometric_mean(Values{1, std::numeric_limits<double>::infinity()}));
  EXPECT_FALSE(geometric_mean(Values{1, std::nan("")}));
}

TEST(CounterRandom, IsAFixedFunctionOfSeedAndIndex) {
  EXPECT_EQ(counter_random(1, 0), counter_random(1, 0));
  EXPECT_NE(counter_random(1, 0), counter_random(1, 1));
  EXPECT_NE(counter_random(1, 0), counter_random(2, 0));
  double mean = 0;
  for (std::uint64_t i = 0; i < 10000; ++i)
    mean += static_cast<double>(counter_random(3, i) >> 11) / 9007199254740992.0;
  EXPECT_NEAR(mean / 10000, 0.5, 0.01);
}

TEST(Bootstrap, CoversTheRatioAndRepeats) {
  Values a;
  Values b;
  for (std::uint64_t i = 0; i < 20; ++i) {
    a.push_back(1.0 + 0.01 * static_cast<double>(counter_random(1, i) % 100) / 100);
    b.push_back(2.0 + 0.02 * static_cast<double>(counter_random(2, i) % 100) / 100);
  }
  const auto first = bootstrap_ratio_of_medians(a, b);
  const auto second = bootstrap_ratio_of_medians(a, b);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->low, second->low);
  EXPECT_LE(first->low, *median(a) / *median(b));
  EXPECT_GE(first->high, *median(a) / *median(b));
  EXPECT_LT(first->high - first->low, 0.01);
  EXPECT_FALSE(bootstrap_ratio_of_medians(Values{1}, b));
  EXPECT_FALSE(bootstrap_ratio_of_medians(a, Values{1, 0}));
}

TEST(Bootstrap, IntervalOfTheMedianContainsItAtTheClaimedRate) {
  int covered = 0;
  for (std::uint64_t round = 0; round < 2000; ++round) {
    Values sample;
    for (std::uint64_t i = 0; i < 25; ++i) {
      sample.push_back(1 + static_cast<double>(counter_random(100 + round, i) >> 11) / 9007199254740992.0);
    }
    const auto interval = bootstrap_median(sample, 0.95, 300, round);
    covered += interval && interval->low <= 1.5 && 1.5 <= interval->high;
  }
  EXPECT_GE(covered, 1840);  // percentile bootstrap of 25 values: a little under nominal
}

TEST(Bootstrap, IsThatOfTheMediansOfWrittenOutResamples) {
  for (const Values& values : {Values{3, 1, 2}, Values{5, 4, 4, 9}, Values{1, 2}, Values{2, 2, 2, 7, 1, 7}}) {
    Values medians;
    for (std::uint64_t round = 0; round < 200; ++round) {
      Values drawn;
      for (std::uint64_t i = 0; i < values.size(); ++i) {
        const std::uint64_t bits = counter_random(7, round * values.size() + i);
        drawn.push_back(values[static_cast<std::size_t>(((bits >> 32) * values.size()) >> 32)]);
      }
      medians.push_back(*median(drawn));
    }
    const auto interval = bootstrap_median(values, 0.9, 200, 7);
    ASSERT_TRUE(interval);
    EXPECT_EQ(interval->low, *quantile(medians, (1 - 0.9) / 2));
    EXPECT_EQ(interval->high, *quantile(medians, (1 + 0.9) / 2));
  }
}

}  // namespace
}  // namespace plumbline
