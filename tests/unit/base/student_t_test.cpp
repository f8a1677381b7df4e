// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/student_t.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace plumbline {
namespace {

TEST(StudentT, AgreesWithScipy) {
  const double p[][3] = {{0.5, 1.0, 0.7048327646991336},       {2.0, 3.5, 0.1261385225759135},
                         {5.0, 10.0, 0.0005373336027564525},   {12.0, 4.0, 0.000276428548502973},
                         {40.0, 30.0, 1.3726045194406362e-27}, {1.96, 1000000000.0, 0.049995790573729715},
                         {1e-09, 5.0, 0.9999999992407866}};
  for (const auto& [t, freedom, expected] : p) {
    EXPECT_NEAR(student_t_two_sided(t, freedom) / expected, 1, 1e-8) << t << " " << freedom;
    EXPECT_NEAR(student_t_two_sided(-t, freedom) / expected, 1, 1e-8);
  }
  const double upper[][3] = {{0.025, 4.0, 2.7764451051977996},
                             {0.05, 10.0, 1.8124611228107341},
                             {1e-06, 7.3, 13.49352306266749},
                             {0.025, 1000000000000.0, 1.9599639845424266}};
  for (const auto& [tail, freedom, expected] : upper)
    EXPECT_NEAR(student_t_upper(tail, freedom), expected, 1e-8 * (1 + expected)) << tail << " " << freedom;
}

TEST(Moderated, DrawsTowardsWhatAllHaveInCommon) {
  std::mt19937_64 random(7);
  // 200 quantities of one variance, four degrees of freedom each: apart only by chance.
  std::vector<Variance> all;
  for (int i = 0; i < 200; ++i) {
    std::chi_squared_distribution<double> chi(4);
    all.push_back({9e-6 * chi(random) / 4, 4});
  }
  const auto drawn = moderated(all, 1e-12);
  for (const Variance& v : drawn) {
    EXPECT_NEAR(v.value, 9e-6, 2.5e-6);
    EXPECT_GT(v.freedom, 20);
  }
  // Half of them a hundred times as large: what is common says little then.
  for (std::size_t i = 0; i < 100; ++i) all[i].value *= 100;
  const auto apart = moderated(all, 1e-12);
  for (const Variance& v : apart) EXPECT_LT(v.freedom, 8);
}

TEST(Moderated, OneThatWasNotRepeatedGetsTheCommonOne) {
  const std::vector<Variance> some = {{4e-6, 5}, {0, 0}, {4e-6, 5}};
  const auto drawn = moderated(some, 1e-12);
  ASSERT_EQ(drawn.size(), 3U);
  EXPECT_GT(drawn[1].value, 1e-6);
  EXPECT_LE(drawn[1].freedom, 10);
  EXPECT_TRUE(moderated(std::vector<Variance>{{0, 0}}, 1e-12).empty());
  // One repeat is one repeat, however it is looked at.
  EXPECT_LE(moderated(std::vector<Variance>{{4e-6, 1}}, 1e-12)[0].freedom, 1);
  EXPECT_GE(moderated(std::vector<Variance>{{0, 3}}, 1e-8)[0].value, 1e-8);
}

TEST(RejectAtRate, IsBenjaminiHochberg) {
  // The example of their paper: four of fifteen at 0.05.
  const std::vector<double> p = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0};
  const auto out = reject_at_rate(p, 0.05);
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_EQ(out[i], i < 4) << i;
  EXPECT_TRUE(reject_at_rate({}, 0.05).empty());
}

}  // namespace
}  // namespace plumbline
