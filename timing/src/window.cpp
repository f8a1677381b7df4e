// SPDX-License-Identifier: Apache-2.0
#include "window.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "statistics.h"

namespace plumbline::timing {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
// Longest that the blocking kernel waits for the host. Enqueueing takes milliseconds; a call that waits for
// the GPU would wait for ever.
constexpr double kEnqueueLimitMs = 400;
// The drained time may be this much, as a floor and as a share of the window. An idle device says that it is
// idle within about a microsecond of the closing event; where several streams were used and joined it takes
// more: 20 us with no share called two honest students out of 23 late on an H200, this none.
constexpr double kLateFloorMs = 0.05;
constexpr double kLateShare = 0.05;
// What is drained beyond this is added to the window: work behind it gains nothing. Honest code stays under
// it (medians of 23 students on an H200: at most 5.9 us, with a joined side stream).
constexpr double kFreeDrainMs = 0.02;

void fill_health(Device& device, pl_reading& reading) {
  const Health health = device.health();
  reading.temperature_c = health.temperature_c;
  reading.reasons = health.reasons;
}

/// Waits for the closing event, then for the device, and compares.
void close_window(Device& device, pl_reading& reading, const Ordered* ordered, int epoch) {
  device.wait(1);
  const double closed = device.host_ns();
  device.drain();
  reading.drained_ms = (device.host_ns() - closed) * 1e-6;
  if (ordered != nullptr) ordered->drained(epoch);
  reading.window_ms = device.elapsed_ms(0, 1);
  if (reading.drained_ms > kLateFloorMs + kLateShare * reading.window_ms) reading.flags |= PL_FLAG_LATE_WORK;
  reading.window_ms += std::max(0.0, reading.drained_ms - kFreeDrainMs);
  reading.ms = reading.window_ms / reading.calls;
}

}  // namespace

pl_reading blank_reading(int kind, int calls) {
  pl_reading reading{};
  reading.kind = kind;
  reading.calls = calls;
  reading.ms = reading.window_ms = reading.drained_ms = reading.host_ms = reading.sm_mhz =
      reading.temperature_c = kUnknown;
  return reading;
}

std::vector<pl_reading> per_call_windows(Device& device, const Call& call, int first, int count, bool cold,
                                         const Ordered* ordered) {
  std::vector<pl_reading> readings;
  readings.reserve(static_cast<std::size_t>(count));
  for (int i = first; i < first + count; ++i) {
    const int epoch = ordered != nullptr ? ordered->epoch + i - first : 0;
    if (ordered != nullptr) {
      device.epoch(epoch);
      ordered->ready(epoch);
    }
    if (cold) device.flush();
    device.drain();
    pl_reading reading = blank_reading(PL_PER_CALL, 1);
    device.mark(0);
    device.drain();
    device.record(0);
    const double start = device.host_ns();
    call(i);
    reading.host_ms = (device.host_ns() - start) * 1e-6;
    device.record(1);
    device.mark(1);
    close_window(device, reading, ordered, epoch);
    readings.push_back(reading);
  }
  if (!readings.empty()) {
    fill_health(device, readings.back());
    for (pl_reading& reading : readings) {
      reading.temperature_c = readings.back().temperature_c;
      reading.reasons = readings.back().reasons;
    }
  }
  return readings;
}

pl_reading pipelined_window(Device& device, const Call& call, int count, const Gate& gate, double gate_ms,
                            const Ordered* ordered) {
  pl_reading reading = blank_reading(PL_PIPELINED, count);
  const int epoch = ordered != nullptr ? ordered->epoch : 0;
  if (ordered != nullptr) device.epoch(epoch);
  device.drain();
  device.block(kEnqueueLimitMs, kEnqueueLimitMs + (gate ? gate_ms : 0));
  device.mark(0);
  device.stamp(0);
  device.record(0);
  try {
    const double start = device.host_ns();
    for (int i = 0; i < count; ++i) call(i);
    reading.host_ms = (device.host_ns() - start) * 1e-6;
    device.record(1);
    device.mark(1);
    device.armed();
    if (gate) gate();
  } catch (...) {
    device.abandon();
    device.drain();
    throw;
  }
  device.release();
  close_window(device, reading, ordered, epoch);
  device.stamp(1);
  device.drain();
  reading.sm_mhz = device.clock_mhz();
  if (device.block_expired()) {
    // The GPU ran on while the host was still enqueueing: this is not a pipelined window.
    reading.flags |= PL_FLAG_HOST_BLOCKED;
    reading.ms = kUnknown;
  }
  fill_health(device, reading);
  return reading;
}

pl_overhead measure_overhead(Device& device) {
  const auto nothing = [](int) {};
  pl_overhead result{};
  std::vector<double> empty;
  std::vector<double> drained;
  for (const pl_reading& reading : per_call_windows(device, nothing, 0, 25, true)) {
    empty.push_back(reading.window_ms * 1e3);
    drained.push_back(reading.drained_ms * 1e3);
  }
  result.per_call_us = median(empty);
  result.per_call_spread_us = quantile(empty, 0.75) - quantile(empty, 0.25);
  result.drain_us = median(drained);
  std::vector<double> floors;
  for (int i = 0; i < 5; ++i) {
    floors.push_back(pipelined_window(
                         device, [&](int) { device.launch_empty(); }, 100, {}, 0)
                         .ms *
                     1e3);
  }
  result.launch_floor_us = median(floors);
  std::vector<double> flushes;
  for (int i = 0; i < 5; ++i) {
    const double start = device.host_ns();
    device.flush();
    flushes.push_back((device.host_ns() - start) * 1e-3);
  }
  result.flush_us = median(flushes);
  return result;
}

}  // namespace plumbline::timing
