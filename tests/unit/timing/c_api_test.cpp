// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "plumbline/timing.h"

namespace {

struct Sides {
  pl_session* session;
  double ns[3] = {5000, 4000, 5000};
  int side = 0;
};

int call(void* user, int32_t) {
  auto* sides = static_cast<Sides*>(user);
  return pl_script_work(sides->session, sides->ns[sides->side], 0);
}

int window(void* user, int32_t side, int32_t, int32_t, pl_reading* out) {
  auto* sides = static_cast<Sides*>(user);
  sides->side = side;
  return pl_pipelined(sides->session, call, sides, 20, nullptr, 0, out);
}

int fail(void*, int32_t) { return 1; }

class TimingCApi : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(pl_open_scripted(&session_), PL_OK); }
  void TearDown() override { pl_close(session_); }
  pl_session* session_ = nullptr;
};

TEST_F(TimingCApi, AComparisonFromEndToEnd) {
  Sides sides{session_};
  pl_options options;
  pl_default_options(&options);
  pl_comparison result;
  std::vector<double> reference(64), student(64);
  std::vector<int32_t> kept(64);
  int32_t count = 0;
  ASSERT_EQ(pl_compare(session_, window, &sides, &options, &result, reference.data(), student.data(),
                       kept.data(), 64, &count),
            PL_OK);
  EXPECT_NEAR(result.ratio, 1.25, 1e-9);
  EXPECT_EQ(count, 16);
  EXPECT_NEAR(reference[0], 0.005, 1e-9);
  EXPECT_NEAR(student[15], 0.004, 1e-9);
  EXPECT_EQ(kept[0], 1);
}

TEST_F(TimingCApi, FailuresHaveAStatusAndAText) {
  pl_reading reading;
  EXPECT_EQ(pl_pipelined(session_, fail, nullptr, 2, nullptr, 0, &reading), PL_CALL_FAILED);
  EXPECT_NE(std::string(pl_last_error()).find("timed call"), std::string::npos);
  EXPECT_EQ(pl_pipelined(session_, fail, nullptr, 0, nullptr, 0, &reading), PL_USAGE);
  EXPECT_EQ(pl_per_call(session_, fail, nullptr, -1, 1, 1, &reading), PL_USAGE);
  EXPECT_EQ(pl_open(0, nullptr, nullptr), PL_USAGE);
}

TEST(TimingCApiOpen, SaysWhatIsMissing) {
  pl_session* session = nullptr;
  const int status = pl_open(4096, nullptr, &session);
  EXPECT_TRUE(status == PL_NO_DRIVER || status == PL_NO_DEVICE) << status;
  EXPECT_EQ(session, nullptr);
  EXPECT_FALSE(std::string(pl_last_error()).empty());
  EXPECT_FALSE(std::string(pl_describe()).empty());
}

TEST_F(TimingCApi, MemoryIsSharedByHandle) {
  uint64_t address = 0;
  ASSERT_EQ(pl_alloc(session_, 4096, &address), PL_OK);
  ASSERT_EQ(pl_fill(session_, address, 0x01020304, 4096), PL_OK);
  unsigned char handle[64];
  ASSERT_EQ(pl_share(session_, address, handle), PL_OK);
  pl_session* other = nullptr;
  ASSERT_EQ(pl_open_scripted(&other), PL_OK);
  uint64_t attached = 0;
  ASSERT_EQ(pl_attach(other, handle, &attached), PL_OK);
  uint32_t word = 0;
  ASSERT_EQ(pl_read(other, &word, attached + 4092, 4), PL_OK);
  EXPECT_EQ(word, 0x01020304U);
  EXPECT_EQ(pl_detach(other, attached), PL_OK);
  pl_close(other);
  EXPECT_EQ(pl_free(session_, address), PL_OK);
  EXPECT_EQ(pl_free(session_, address), PL_USAGE);
}

TEST_F(TimingCApi, InfoAndOverhead) {
  pl_device_info info;
  ASSERT_EQ(pl_info(session_, &info), PL_OK);
  EXPECT_EQ(info.scripted, 1);
  EXPECT_STREQ(info.name, "scripted device");
  pl_overhead overhead;
  ASSERT_EQ(pl_measure_overhead(session_, &overhead), PL_OK);
  EXPECT_GT(overhead.launch_floor_us, 0);
}

}  // namespace
