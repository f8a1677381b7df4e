// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plumbline::profile {
namespace {

/// Kernels are letters; launches are counted from the sequence.
RegionShape shape(const std::string& sequence, std::optional<std::int64_t> asked = {},
                  std::int64_t ranges = 0) {
  RegionShape s;
  for (const char c : sequence) {
    const std::string name(1, c);
    const auto it = std::find(s.names.begin(), s.names.end(), name);
    const auto place = static_cast<std::uint32_t>(it - s.names.begin());
    if (it == s.names.end()) {
      s.names.push_back(name);
      s.launches.push_back(0);
    }
    ++s.launches[place];
    s.sequence.push_back(place);
  }
  s.asked = asked;
  s.range_instances = ranges;
  return s;
}

TEST(WindowCalls, AreTheEqualRepeatsOfTheLaunches) {
  EXPECT_EQ(find_window_calls(shape("abcabcabc")).calls, 3);
  EXPECT_EQ(find_window_calls(shape("aabaab")).calls, 2);
  EXPECT_EQ(find_window_calls(shape("aabb")).calls, std::nullopt);  // equal counts, and no repeat
  EXPECT_EQ(find_window_calls(shape("abc")).calls, 1);
  EXPECT_EQ(find_window_calls(shape("aaaa")).calls, 4);
}

TEST(WindowCalls, AskedForMustDivideEveryKernel) {
  EXPECT_EQ(find_window_calls(shape("abab", 2)).calls, 2);
  EXPECT_TRUE(find_window_calls(shape("abab", 2)).refusal.empty());
  EXPECT_THAT(find_window_calls(shape("abab", 3)).refusal, testing::HasSubstr("not the window"));
  RegionShape storm;
  storm.names = {"gemm", "add"};
  storm.launches = {128, 5};
  storm.asked = 5;
  EXPECT_THAT(find_window_calls(storm).refusal, testing::Not(testing::HasSubstr("autotuner")));
  storm.names = {"void gemm<64>(int)", "void gemm<128>(int)",
                 "add"};  // configurations, tried unequally often
  storm.launches = {128, 33, 5};
  EXPECT_THAT(find_window_calls(storm).refusal, testing::HasSubstr("autotuner"));
}

TEST(WindowCalls, SetUpBeforeTheFirstCallIsReported) {
  const WindowCalls found = find_window_calls(shape("xabcabcabc"));
  ASSERT_EQ(found.doubts.size(), 1U);
  EXPECT_THAT(found.doubts[0], testing::HasSubstr("1 launch (x ×1) comes before 3 equal calls"));
  EXPECT_FALSE(found.calls.has_value());
}

TEST(WindowCalls, ARangeCountsByItsInstances) {
  EXPECT_EQ(find_window_calls(shape("abab", {}, 2)).calls, 2);
  EXPECT_FALSE(find_window_calls(shape("abab", {}, 3)).doubts.empty());
}

TEST(WindowCalls, WithoutAnOrderEqualCountsTell) {
  RegionShape s;
  s.names = {"a", "b"};
  s.launches = {7, 7};
  EXPECT_EQ(find_window_calls(s).calls, 7);
  s.launches = {7, 14};
  EXPECT_EQ(find_window_calls(s).calls, std::nullopt);
}

}  // namespace
}  // namespace plumbline::profile
