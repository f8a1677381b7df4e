// SPDX-License-Identifier: Apache-2.0
#include "plumbline/ledger/change_points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "plumbline/base/statistics.h"

namespace plumbline::ledger {
namespace {

/// Ratios around 0.8 with a relative scatter of `sigma`, times `factor` from `at` on.
std::vector<double> ratios(std::uint64_t seed, std::size_t n, double sigma, std::size_t at, double factor) {
  std::vector<double> out;
  for (std::size_t i = 0; i < n; ++i) {
    const auto draw = [&](std::uint64_t k) {
      return (static_cast<double>(counter_random(seed, 2 * i + k) >> 11) + 0.5) / 9007199254740992.0;
    };
    const double normal = std::sqrt(-2 * std::log(draw(0))) * std::cos(2 * std::numbers::pi * draw(1));
    out.push_back(0.8 * std::exp(sigma * normal) * (i >= at ? factor : 1));
  }
  return out;
}

TEST(ChangePoints, AStepIsFoundWithItsSize) {
  for (const double factor : {1.05, 0.97}) {
    const auto found = change_points(ratios(3, 60, 0.004, 33, factor));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NEAR(static_cast<double>(found[0].at), 33, 1);
    EXPECT_NEAR(found[0].change, factor - 1, 3 * found[0].error);
    EXPECT_LT(found[0].error, 0.002);
  }
}

TEST(ChangePoints, NothingMovesInNoise) {
  int alarms = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed)
    alarms += change_points(ratios(seed, 10 + seed % 150, 0.003, 9999, 1)).empty() ? 0 : 1;
  EXPECT_LE(alarms, 10);
}

TEST(ChangePoints, OneValueThatStandsOutIsNoStep) {
  auto values = ratios(5, 40, 0.003, 9999, 1);
  values[20] *= 1.3;
  EXPECT_TRUE(change_points(values).empty());
}

TEST(ChangePoints, FewValuesAndBadOnesHaveNone) {
  EXPECT_TRUE(change_points({}).empty());
  EXPECT_TRUE(change_points(std::vector<double>{1, 1, 1, 2, 2, 2, 2}).empty());
  std::vector<double> values(20, 1.0);
  EXPECT_TRUE(change_points(values).empty());
  values[3] = 0;
  EXPECT_TRUE(change_points(values).empty());
}

}  // namespace
}  // namespace plumbline::ledger
