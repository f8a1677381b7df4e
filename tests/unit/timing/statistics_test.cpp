// SPDX-License-Identifier: Apache-2.0
#include "statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace plumbline::timing {
namespace {

TEST(TimingStatistics, NothingHasNoMedian) {
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_TRUE(std::isnan(median_interval({}).low));
  EXPECT_TRUE(std::isnan(trimmed_mean(std::vector<double>{1, 2}, 0.2).mean));
}

TEST(TimingStatistics, MedianAndQuantiles) {
  const std::vector<double> values = {5, 1, 3, 2, 4};
  EXPECT_EQ(median(values), 3);
  EXPECT_EQ(quantile(values, 0), 1);
  EXPECT_EQ(quantile(values, 1), 5);
  EXPECT_EQ(quantile(values, 0.25), 2);
  EXPECT_EQ(median(std::vector<double>{1, 2}), 1.5);
}

TEST(TimingStatistics, TrimmedMeanKeepsTheMiddleAndItsIndices) {
  const std::vector<double> values = {100, 1, 2, 3, -100};
  const TrimmedMean result = trimmed_mean(values, 0.2);
  EXPECT_DOUBLE_EQ(result.mean, 2);
  EXPECT_EQ(result.kept, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(result.degrees, 2);
}

TEST(TimingStatistics, StandardErrorIsYuens) {
  // Winsorized at one of five: 1 1 2 3 3, variance 1, so 1 / (0.6 * sqrt(5)).
  const TrimmedMean result = trimmed_mean(std::vector<double>{-100, 1, 2, 3, 100}, 0.2);
  EXPECT_NEAR(result.standard_error, 1 / (0.6 * std::sqrt(5.0)), 1e-12);
}

TEST(TimingStatistics, IntervalsCoverAsOftenAsTheySay) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(10, 1);
  int mean_covered = 0;
  int median_covered = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<double> values(20);
    for (double& value : values) value = normal(random);
    const TrimmedMean trimmed = trimmed_mean(values, 0.2);
    const double margin = student_t95(trimmed.degrees) * trimmed.standard_error;
    mean_covered += std::fabs(trimmed.mean - 10) <= margin ? 1 : 0;
    const MedianInterval interval = median_interval(values);
    median_covered += interval.low <= 10 && 10 <= interval.high ? 1 : 0;
  }
  EXPECT_GT(mean_covered, 925);
  EXPECT_LT(mean_covered, 980);
  EXPECT_GT(median_covered, 920);
}

TEST(TimingStatistics, StudentsTable) {
  EXPECT_TRUE(std::isnan(student_t95(0)));
  EXPECT_DOUBLE_EQ(student_t95(1), 12.706);
  EXPECT_DOUBLE_EQ(student_t95(30), 2.042);
  EXPECT_NEAR(student_t95(60), 2.000, 0.003);
  EXPECT_NEAR(student_t95(100000), 1.960, 0.001);
}

}  // namespace
}  // namespace plumbline::timing
