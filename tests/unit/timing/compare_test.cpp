// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace plumbline::timing {
namespace {

pl_options defaults() {
  pl_options options{};
  pl_default_options(&options);
  return options;
}

pl_reading reading(double ms, double mhz = 1980, std::int32_t reasons = 0) {
  pl_reading result{};
  result.kind = PL_PIPELINED;
  result.calls = 10;
  result.ms = ms;
  result.window_ms = 10 * ms;
  result.sm_mhz = mhz;
  result.temperature_c = 50;
  result.reasons = reasons;
  return result;
}

/// Seconds that advance by `step` at every look.
std::function<double()> clock(double step) {
  return [now = 0.0, step]() mutable { return now += step; };
}

TEST(TimingCompare, OrderIsReferenceStudentStudentReferenceBehindTheEqualRun) {
  std::vector<int> order;
  pl_options options = defaults();
  options.aa_rounds = 3;
  options.min_rounds = 3;
  const Outcome outcome = compare(
      [&](int side, int, int) {
        order.push_back(side);
        return reading(1);
      },
      options, clock(0.01));
  EXPECT_EQ(std::vector<int>(order.begin(), order.begin() + 4), (std::vector<int>{0, 2, 2, 0}));
  EXPECT_EQ(std::vector<int>(order.end() - 4, order.end()), (std::vector<int>{0, 1, 1, 0}));
  EXPECT_EQ(outcome.summary.rounds, 3);
  EXPECT_EQ(outcome.summary.stop, PL_STOP_NOISE);
}

TEST(TimingCompare, RatioIsReferenceOverStudent) {
  const Outcome outcome = compare([](int side, int, int) { return reading(side == PL_SIDE_STUDENT ? 2 : 3); },
                                  defaults(), clock(0.01));
  EXPECT_DOUBLE_EQ(outcome.summary.ratio, 1.5);
  EXPECT_NEAR(outcome.summary.reference.ms / outcome.summary.student.ms, outcome.summary.ratio, 1e-12);
  EXPECT_DOUBLE_EQ(outcome.summary.aa_ratio, 1);
  EXPECT_LT(outcome.summary.smallest_difference, 1e-12);
}

TEST(TimingCompare, DriftCancels) {
  double drift = 1;
  const Outcome outcome = compare(
      [&](int side, int, int) {
        drift *= 1.01;  // each window a per cent slower than the last
        return reading((side == PL_SIDE_STUDENT ? 1 : 1.2) * drift);
      },
      defaults(), clock(0.01));
  EXPECT_NEAR(outcome.summary.ratio, 1.2, 1e-3);
}

TEST(TimingCompare, StopsByTheTimeLimit) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> noise(0.5, 1.5);
  pl_options options = defaults();
  options.noise = 1e-6;
  options.time_limit_s = 5;
  const Outcome outcome =
      compare([&](int, int, int) { return reading(noise(random)); }, options, clock(0.25));
  EXPECT_EQ(outcome.summary.stop, PL_STOP_TIME);
  EXPECT_LT(outcome.summary.rounds, 40);
}

TEST(TimingCompare, StopsByRounds) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> noise(0.5, 1.5);
  pl_options options = defaults();
  options.noise = 1e-6;
  options.max_rounds = 20;
  const Outcome outcome = compare([&](int, int, int) { return reading(noise(random)); }, options, clock(0));
  EXPECT_EQ(outcome.summary.stop, PL_STOP_ROUNDS);
  EXPECT_EQ(outcome.summary.rounds, 20);
}

TEST(TimingCompare, MoreNoiseNeedsMoreRounds) {
  const auto rounds = [](double spread) {
    std::mt19937_64 random(11);
    std::normal_distribution<double> noise(1, spread);
    return compare([&](int, int, int) { return reading(noise(random)); }, defaults(), clock(0))
        .summary.rounds;
  };
  EXPECT_EQ(rounds(0.001), 8);
  EXPECT_GT(rounds(0.03), 12);
}

TEST(TimingCompare, AThrottledRoundIsDroppedOnBothSides) {
  int window = 0;
  const Outcome outcome = compare(
      [&](int side, int, int) {
        ++window;
        const bool slow = window == 50;  // one window of the comparison
        return reading((side == PL_SIDE_STUDENT ? 1 : 2) * (slow ? 3 : 1), slow ? 990 : 1980);
      },
      defaults(), clock(0.01));
  EXPECT_EQ(outcome.summary.dropped, 1);
  EXPECT_EQ(outcome.summary.kept_throttled, 0);
  EXPECT_EQ(outcome.rounds.size(), 9U);  // one taken again
  EXPECT_DOUBLE_EQ(outcome.summary.ratio, 2);
  EXPECT_DOUBLE_EQ(outcome.summary.rse, 0);
}

TEST(TimingCompare, ThermalAndHardwareSlowdownCountWhateverTheClock) {
  int window = 0;
  const Outcome outcome = compare([&](int, int, int) { return reading(1, 1980, ++window == 40 ? 2 : 0); },
                                  defaults(), clock(0.01));
  EXPECT_EQ(outcome.summary.dropped, 1);
  EXPECT_EQ(outcome.summary.reasons, 2);
}

TEST(TimingCompare, APowerCapAloneIsSaidAndKept) {
  const Outcome outcome = compare([](int, int, int) { return reading(1, 1700, 1); }, defaults(), clock(0.01));
  EXPECT_EQ(outcome.summary.dropped, 0);
  EXPECT_EQ(outcome.summary.reasons, 1);
}

TEST(TimingCompare, RetriesAreBounded) {
  pl_options options = defaults();
  options.max_dropped = 4;
  const Outcome outcome = compare([](int, int, int) { return reading(1, 1980, 2); }, options, clock(0.01));
  EXPECT_EQ(outcome.summary.dropped, 4);
  EXPECT_EQ(outcome.summary.rounds, 8);
  EXPECT_EQ(outcome.summary.kept_throttled, 8 + 8);  // the A/A run's as well
}

TEST(TimingCompare, AStudentThatDrawsMorePowerIsNotThrottled) {
  const Outcome outcome =
      compare([](int side, int, int) { return reading(1, side == PL_SIDE_STUDENT ? 1500 : 1980); },
              defaults(), clock(0.01));
  EXPECT_EQ(outcome.summary.dropped, 0);
  EXPECT_EQ(outcome.summary.student.sm_mhz, 1500);
  EXPECT_EQ(outcome.summary.reference.sm_mhz, 1980);
}

TEST(TimingCompare, OutliersAreTrimmedInPairs) {
  int window = 0;
  const Outcome outcome = compare(
      [&](int side, int, int) {
        ++window;
        return reading((side == PL_SIDE_STUDENT ? 1 : 1.25) * (window == 40 ? 50 : 1));
      },
      defaults(), clock(0.01));
  EXPECT_NEAR(outcome.summary.ratio, 1.25, 1e-9);
}

TEST(TimingCompare, AMissingReadingGivesNoRatio) {
  for (double bad : {std::nan(""), 0.0, -1.0, HUGE_VAL}) {
    const Outcome outcome =
        compare([&](int side, int, int) { return reading(side == PL_SIDE_STUDENT ? bad : 1); }, defaults(),
                clock(0.01));
    EXPECT_TRUE(std::isnan(outcome.summary.ratio));
    EXPECT_TRUE(std::isnan(outcome.summary.smallest_difference));
  }
}

TEST(TimingCompare, TheClaimCoversEqualSides) {
  std::mt19937_64 random(5);
  int covered = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::normal_distribution<double> noise(1, 0.004);
    const pl_comparison summary =
        compare([&](int, int, int) { return reading(noise(random)); }, defaults(), clock(0.01)).summary;
    covered += std::fabs(summary.ratio - 1) <= summary.smallest_difference ? 1 : 0;
    EXPECT_LT(summary.smallest_difference, 0.02);
  }
  EXPECT_GE(covered, 190);
}

TEST(TimingCompare, OptionsAreChecked) {
  const auto refused = [](auto change) {
    pl_options options = defaults();
    change(options);
    try {
      check_options(options);
    } catch (const Failure& failure) {
      return failure.status() == PL_USAGE;
    }
    return false;
  };
  EXPECT_TRUE(refused([](pl_options& o) { o.noise = 0; }));
  EXPECT_TRUE(refused([](pl_options& o) { o.noise = std::nan(""); }));
  EXPECT_TRUE(refused([](pl_options& o) { o.time_limit_s = -1; }));
  EXPECT_TRUE(refused([](pl_options& o) { o.aa_rounds = 2; }));
  EXPECT_TRUE(refused([](pl_options& o) { o.min_rounds = 1; }));
  EXPECT_TRUE(refused([](pl_options& o) { o.max_rounds = 3; }));
  EXPECT_TRUE(refused([](pl_options& o) { o.clock_tolerance = 1; }));
  EXPECT_TRUE(refused([](pl_options& o) { o.max_dropped = -1; }));
  EXPECT_FALSE(refused([](pl_options&) {}));
}

}  // namespace
}  // namespace plumbline::timing
