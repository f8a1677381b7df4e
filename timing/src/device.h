// SPDX-License-Identifier: Apache-2.0
// What a window needs of a GPU. Two implementations: the CUDA driver, and a scripted fake for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "plumbline/timing.h"

namespace plumbline::timing {

/// A failure with the status that the C interface returns.
class Failure : public std::runtime_error {
 public:
  Failure(pl_status status, const std::string& what) : std::runtime_error(what), status_(status) {}
  pl_status status() const { return status_; }

 private:
  pl_status status_;
};

/// Temperature and throttle reasons at one moment. NaN and 0 where they cannot be read.
struct Health {
  double temperature_c;
  std::int32_t reasons = 0;
};

/// Events and stamps are small numbers: 0 opens a window, 1 closes it.
class Device {
 public:
  virtual ~Device() = default;

  virtual pl_device_info info() = 0;

  /// Enqueues a kernel that keeps the whole GPU until release() or for `limit_ms`.
  virtual void block(double limit_ms) = 0;
  virtual void release() = 0;
  /// Did the last block() end by its limit?
  virtual bool block_expired() = 0;

  /// Enqueues an event; a cycle stamp.
  virtual void record(int event) = 0;
  virtual void stamp(int slot) = 0;
  virtual void wait(int event) = 0;
  /// Until everything on the device is done, on every stream.
  virtual void drain() = 0;
  virtual double elapsed_ms(int from, int to) = 0;
  /// Mean SM clock between stamps 0 and 1, NaN where they were taken on different multiprocessors.
  virtual double clock_mhz() = 0;
  virtual Health health() = 0;

  /// Resets the persisting lines of L2, writes twice its size, and waits for the end.
  virtual void flush() = 0;
  virtual void launch_empty() = 0;
  virtual void spin(std::uint64_t ticks, std::uint64_t stamps) = 0;
  /// Monotonic host clock.
  virtual double host_ns() = 0;

  virtual std::uint64_t alloc(std::uint64_t bytes) = 0;
  virtual void free(std::uint64_t address) = 0;
  virtual void fill(std::uint64_t address, std::uint32_t word, std::uint64_t bytes) = 0;
  virtual void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) = 0;
  virtual void read(void* to, std::uint64_t from, std::uint64_t bytes) = 0;
  virtual void share(std::uint64_t address, unsigned char* handle) = 0;
  virtual std::uint64_t attach(const unsigned char* handle) = 0;
  virtual void detach(std::uint64_t address) = 0;
};

/// The GPU `ordinal` through the CUDA driver. Failures: PL_NO_DRIVER, PL_NO_DEVICE, PL_CUDA_ERROR.
std::unique_ptr<Device> open_cuda_device(int ordinal, void* stream);

/// One line on the driver and NVML of this machine.
std::string describe_cuda();

}  // namespace plumbline::timing
