// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "page.h"
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

// Each function that takes a struct, with the struct of the caller, its size and its name.
using Taker = int (*)(pl_session*, void*);
struct Sized {
  const char* name;
  std::size_t size;
  Taker take;
};
int per_call_of(pl_session* session, void* out) {
  Sides sides{session};
  return pl_per_call(session, call, &sides, 0, 1, 1, static_cast<pl_reading*>(out));
}
int pipelined_of(pl_session* session, void* out) {
  Sides sides{session};
  return pl_pipelined(session, call, &sides, 4, nullptr, 0, static_cast<pl_reading*>(out));
}
int compared_of(pl_session* session, void* out) {
  Sides sides{session};
  pl_options options;
  pl_default_options(&options);
  return pl_compare(session, window, &sides, &options, static_cast<pl_comparison*>(out), nullptr, nullptr,
                    nullptr, 0, nullptr);
}
int options_of(pl_session* session, void* options) {
  Sides sides{session};
  pl_comparison result;
  return pl_compare(session, window, &sides, static_cast<pl_options*>(options), &result, nullptr, nullptr,
                    nullptr, 0, nullptr);
}
const Sized kSized[] = {
    {"pl_reading", sizeof(pl_reading), per_call_of},
    {"pl_reading", sizeof(pl_reading), pipelined_of},
    {"pl_device_info", sizeof(pl_device_info),
     [](pl_session* s, void* out) { return pl_info(s, static_cast<pl_device_info*>(out)); }},
    {"pl_overhead", sizeof(pl_overhead),
     [](pl_session* s, void* out) { return pl_measure_overhead(s, static_cast<pl_overhead*>(out)); }},
    {"pl_options", sizeof(pl_options),
     [](pl_session*, void* out) { return pl_default_options(static_cast<pl_options*>(out)); }},
    {"pl_options", sizeof(pl_options), options_of},
    {"pl_comparison", sizeof(pl_comparison), compared_of},
};

TEST_F(TimingCApi, ASizeThatTheLibraryDoesNotKnowIsRefused) {
  for (const Sized& one : kSized) {
    for (const std::size_t wrong : {std::size_t{0}, std::size_t{8}, one.size + 1, one.size + 8, SIZE_MAX}) {
      std::vector<std::size_t> memory(1024, 0x5a5a5a5a);
      memory[0] = wrong;
      const std::vector<std::size_t> before = memory;
      EXPECT_EQ(one.take(session_, memory.data()), PL_USAGE) << one.name << ' ' << wrong;
      EXPECT_EQ(std::string(pl_last_error()).find(std::string(one.name) + ".struct_size is "), 0U)
          << pl_last_error();
      EXPECT_EQ(memory, before);
    }
    EXPECT_EQ(one.take(session_, nullptr), PL_USAGE);
    EXPECT_EQ(std::string(pl_last_error()), std::string(one.name) + ": the pointer is null");
  }
}

TEST_F(TimingCApi, AShorterStructGetsTheFieldsThatItHas) {
  for (const Sized& one : kSized) {
    if (one.take == options_of) continue;  // the library reads that one
    std::vector<std::size_t> memory(1024, 0x5a5a5a5a);
    memory[0] = one.size - 8;
    EXPECT_EQ(one.take(session_, memory.data()), PL_OK) << one.name << pl_last_error();
    EXPECT_EQ(memory[0], one.size - 8);
    EXPECT_NE(memory[1], 0x5a5a5a5aU) << one.name;
    EXPECT_EQ(memory[one.size / 8 - 1], 0x5a5a5a5aU) << one.name;
  }
}

// pl_options as a first version might have had it: what it lacks takes the defaults, which are valid.
TEST_F(TimingCApi, AShorterStructGivesTheFieldsThatItHas) {
  struct {
    std::size_t struct_size;
    double noise;
    double time_limit_s;
    int32_t aa_rounds;
    int32_t min_rounds;
  } first{sizeof first, 0.01, 30, 4, 5};
  pl_comparison result;
  Sides sides{session_};
  ASSERT_EQ(pl_compare(session_, window, &sides, reinterpret_cast<pl_options*>(&first), &result, nullptr,
                       nullptr, nullptr, 0, nullptr),
            PL_OK)
      << pl_last_error();
  EXPECT_EQ(result.rounds, 5);
}

TEST_F(TimingCApi, AnArrayHasTheStepOfItsFirstElement) {
  constexpr std::size_t kWords = sizeof(pl_reading) / 8 - 1;  // all but the temperature
  std::size_t memory[3 * kWords + 1];
  memory[0] = kWords * 8;
  memory[3 * kWords] = 7;
  Sides sides{session_};
  ASSERT_EQ(pl_per_call(session_, call, &sides, 0, 3, 1, reinterpret_cast<pl_reading*>(memory)), PL_OK);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(memory[i * kWords], kWords * 8);
    double ms = 0;
    std::memcpy(&ms, reinterpret_cast<char*>(memory + i * kWords) + offsetof(pl_reading, ms), sizeof ms);
    EXPECT_NEAR(ms, 0.0051, 1e-9);  // with what the fake takes between its marks
  }
  EXPECT_EQ(memory[3 * kWords], 7U);
}

TEST_F(TimingCApi, AWindowThatSaysItHoldsNothingIsRefused) {
  pl_options options;
  pl_default_options(&options);
  pl_comparison result;
  const auto empty = [](void*, int32_t, int32_t, int32_t, pl_reading* out) {
    out->struct_size = 0;
    return 0;
  };
  EXPECT_EQ(pl_compare(session_, empty, nullptr, &options, &result, nullptr, nullptr, nullptr, 0, nullptr),
            PL_USAGE);
  EXPECT_EQ(std::string(pl_last_error()), "pl_reading.struct_size is 0: set it to sizeof(pl_reading)");
}

TEST_F(TimingCApi, PythonCallsCarryTheirSizeToo) {
  pl_python calls{0, nullptr, nullptr};
  pl_reading reading;
  EXPECT_EQ(pl_pipelined(session_, pl_python_call, &calls, 1, nullptr, 0, &reading), PL_USAGE);
  EXPECT_EQ(std::string(pl_last_error()), "pl_python.struct_size is 0: set it to sizeof(pl_python)");
}

// What the other process answers is its own: it may not write past the caller's readings.
TEST_F(TimingCApi, APageTakesSizesAndNoMoreReadingsThanWereOrdered) {
  int32_t orders = -1, answers = -1, state = 0;
  pl_page* page = nullptr;
  ASSERT_EQ(pl_page_open(&orders, &answers, &page), PL_OK);
  pl_order order{};
  order.struct_size = sizeof order + 8;
  EXPECT_EQ(pl_page_order(page, &order), PL_USAGE);
  order.struct_size = sizeof order;
  order.kind = PL_PIPELINED;
  order.calls = 2;
  ASSERT_EQ(pl_page_order(page, &order), PL_OK);
  pl_bracket bracket;
  bracket.struct_size = 0;
  EXPECT_EQ(pl_page_watch(page, 0, -1, 0, &state, &bracket), PL_USAGE);
  EXPECT_EQ(std::string(pl_last_error()), "pl_bracket.struct_size is 0: set it to sizeof(pl_bracket)");

  plumbline::timing::Page other = plumbline::timing::map_page(orders, answers, false);
  other.answers->answer.calls = 1024;
  other.answers->answer.struct_size = 4096;
  other.answers->done = order.number;
  std::vector<pl_reading> readings(3);
  readings[2].ms = 42;
  double scripted[3] = {0, 0, 42};
  pl_answer answer;
  ASSERT_EQ(pl_page_answer(page, -1, 1, &state, &answer, readings.data(), scripted), PL_OK);
  EXPECT_EQ(answer.struct_size, sizeof answer);
  EXPECT_EQ(readings[1].struct_size, sizeof(pl_reading));
  EXPECT_EQ(readings[2].ms, 42);
  EXPECT_EQ(scripted[2], 42);
  readings[0].struct_size = 0;
  EXPECT_EQ(pl_page_answer(page, -1, 1, &state, &answer, readings.data(), scripted), PL_USAGE);
  plumbline::timing::unmap_page(other);
  pl_page_close(page);
}

}  // namespace
