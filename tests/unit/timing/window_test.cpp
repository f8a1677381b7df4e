// SPDX-License-Identifier: Apache-2.0
#include "window.h"

#include <gtest/gtest.h>

#include <cmath>

#include "scripted_device.h"

namespace plumbline::timing {
namespace {

TEST(TimingWindow, PipelinedHidesTheHostAndPerCallShowsIt) {
  ScriptedDevice device;
  device.host_takes(5000);
  const Call call = [&](int) { device.work(3000, false); };
  EXPECT_NEAR(pipelined_window(device, call, 50, {}, 0).ms, 0.003, 1e-9);
  // The kernel starts when the host has launched it: 5 us of host time, then 3 us of work.
  EXPECT_NEAR(per_call_windows(device, call, 0, 1, true)[0].ms, 0.008, 1e-9);
}

TEST(TimingWindow, CallsGetTheirNumbers) {
  ScriptedDevice device;
  std::vector<int> seen;
  const Call call = [&](int index) { seen.push_back(index); };
  per_call_windows(device, call, 3, 2, true);
  pipelined_window(device, call, 3, {}, 0);
  EXPECT_EQ(seen, (std::vector<int>{3, 4, 0, 1, 2}));
}

TEST(TimingWindow, WorkOnAnotherStreamIsLate) {
  ScriptedDevice device;
  const Call call = [&](int) { device.work(10000, true); };
  const pl_reading reading = pipelined_window(device, call, 100, {}, 0);
  EXPECT_TRUE(reading.flags & PL_FLAG_LATE_WORK);
  // Nothing of it could run before the window opened.
  EXPECT_NEAR(reading.drained_ms, 1.0, 1e-6);
}

TEST(TimingWindow, HonestWorkIsNotLate) {
  ScriptedDevice device;
  const Call call = [&](int) { device.work(10000, false); };
  EXPECT_EQ(pipelined_window(device, call, 100, {}, 0).flags, 0);
  EXPECT_EQ(per_call_windows(device, call, 0, 1, true)[0].flags, 0);
}

TEST(TimingWindow, ACallThatWaitsHasNoPipelinedReading) {
  ScriptedDevice device;
  const Call call = [&](int) {
    device.work(1000, false);
    device.synchronize();
  };
  const pl_reading reading = pipelined_window(device, call, 4, {}, 0);
  EXPECT_TRUE(reading.flags & PL_FLAG_HOST_BLOCKED);
  EXPECT_TRUE(std::isnan(reading.ms));
  EXPECT_GT(per_call_windows(device, call, 0, 1, true)[0].ms, 0);
}

TEST(TimingWindow, TheGateRunsBehindTheCallsAndBeforeTheWindow) {
  ScriptedDevice device;
  int calls = 0;
  int calls_at_gate = -1;
  const Call call = [&](int) {
    ++calls;
    device.work(1000, false);
  };
  pipelined_window(
      device, call, 5, [&] { calls_at_gate = calls; }, 100);
  EXPECT_EQ(calls_at_gate, 5);
}

TEST(TimingWindow, AFailedCallReleasesTheDevice) {
  ScriptedDevice device;
  const Call failing = [](int) { throw Failure(PL_CALL_FAILED, "no"); };
  EXPECT_THROW(pipelined_window(device, failing, 3, {}, 0), Failure);
  EXPECT_NEAR(pipelined_window(
                  device, [&](int) { device.work(1000, false); }, 3, {}, 0)
                  .ms,
              0.001, 1e-9);
}

TEST(TimingWindow, ClockAndHealthAreRead) {
  ScriptedDevice device;
  device.clocks({1000, 500});
  device.reasons({0, 1});
  const Call call = [&](int) { device.work(1000, false); };
  EXPECT_EQ(pipelined_window(device, call, 2, {}, 0).sm_mhz, 1000);
  const pl_reading slow = pipelined_window(device, call, 2, {}, 0);
  EXPECT_EQ(slow.sm_mhz, 500);
  EXPECT_EQ(slow.reasons, 1);
  EXPECT_NEAR(slow.ms, 0.002, 1e-9);  // half the clock, twice the time
  EXPECT_EQ(slow.temperature_c, 40);
}

TEST(TimingWindow, OverheadIsMeasured) {
  ScriptedDevice device;
  const pl_overhead overhead = measure_overhead(device);
  EXPECT_NEAR(overhead.launch_floor_us, 1, 1e-9);
  EXPECT_NEAR(overhead.flush_us, 1, 1e-9);
  EXPECT_EQ(overhead.per_call_us, 0);
}

}  // namespace
}  // namespace plumbline::timing
