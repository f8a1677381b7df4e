// SPDX-License-Identifier: Apache-2.0
// What a window needs of a GPU. Two implementations: the CUDA driver, and a scripted fake for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "page.h"
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

/// Sizes and strides (in elements) of a tensor.
struct Layout {
  std::uint64_t sizes[16];
  std::int64_t strides[16];
  int dims;

  std::uint64_t count() const {
    std::uint64_t product = 1;
    for (int i = 0; i < dims; ++i) product *= sizes[i];
    return product;
  }
  /// Row-major without gaps.
  bool dense() const {
    std::int64_t step = 1;
    for (int i = dims - 1; i >= 0; --i) {
      if (sizes[i] != 1 && strides[i] != step) return false;
      step *= static_cast<std::int64_t>(sizes[i]);
    }
    return true;
  }
};

/// Events and stamps are small numbers: 0 opens a window, 1 closes it.
class Device {
 public:
  virtual ~Device() = default;

  virtual pl_device_info info() = 0;

  /// Enqueues a kernel that keeps the whole GPU until release() or for `limit_ms`; after armed() for
  /// `armed_ms`.
  virtual void block(double limit_ms, double armed_ms) = 0;
  /// Everything is enqueued.
  virtual void armed() = 0;
  /// Opens the window; where another process does that, waits for it (the GPU does, or the fake).
  virtual void release() = 0;
  /// Opens it whoever should have: a call failed.
  virtual void abandon() = 0;
  /// Did the last block() end by its limit?
  virtual bool block_expired() = 0;

  /// Enqueues an event; a cycle stamp.
  virtual void record(int event) = 0;
  virtual void stamp(int slot) = 0;
  virtual void wait(int event) = 0;
  /// Enqueues the mark that a window opened (0) or closed (1).
  virtual void mark(int which) = 0;
  /// From now on a window opens by `page`'s gate and marks go there, with these epochs.
  virtual void serve(const Page& page) = 0;
  virtual void epoch(int number) = 0;
  /// Until everything on the device is done, on every stream.
  virtual void drain() = 0;
  virtual double elapsed_ms(int from, int to) = 0;
  /// Mean SM clock between stamps 0 and 1, NaN where they were taken on different multiprocessors.
  virtual double clock_mhz() = 0;
  virtual Health health() = 0;
  /// The processes that compute on this GPU, by NVML; nothing where it does not tell.
  virtual std::optional<std::vector<unsigned>> processes() = 0;

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
  /// Enqueues a copy of a tensor with `strides` (elements) to a dense one.
  virtual void gather(std::uint64_t to, std::uint64_t from, const Layout& layout, int item_bytes) = 0;
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
