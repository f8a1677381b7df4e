// SPDX-License-Identifier: Apache-2.0
#include "scripted_device.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

namespace plumbline::timing {
namespace {

template <class T>
T at_or_last(const std::vector<T>& values, std::size_t index) {
  return values[std::min(index, values.size() - 1)];
}

}  // namespace

double ScriptedDevice::clock() const { return at_or_last(clocks_, window_ == 0 ? 0 : window_ - 1); }

void ScriptedDevice::work(double ns, bool other_stream) {
  host_ += host_step_ns_;
  const double scaled = ns * clocks_.front() / clock();
  if (other_stream) {
    // The blocking kernel holds every multiprocessor: the other stream waits as well.
    if (blocked_) {
      pending_other_ns_ += scaled;
    } else {
      other_end_ = std::max(other_end_, host_) + scaled;
    }
    return;
  }
  if (blocked_) {
    pending_.push_back({scaled, -1});
  } else {
    run({scaled, -1});
  }
}

void ScriptedDevice::run(const Item& item) {
  main_end_ = std::max(main_end_, host_);
  if (item.event >= 0) {
    events_[item.event] = main_end_;
    if (item.event >= 2 && page_ != nullptr)
      (item.event == 2 ? page_->marks->opened : page_->marks->closed) = epoch_;
  } else {
    main_end_ += item.ns;
  }
}

void ScriptedDevice::synchronize() {
  if (blocked_) {
    host_ = std::max(host_, block_start_ + block_limit_ns_);
    expired_ = true;
    open_window();
  }
  drain();
}

pl_device_info ScriptedDevice::info() {
  pl_device_info result{};
  std::strcpy(result.name, "scripted device");
  std::strcpy(result.uuid, "scripted");
  result.multiprocessors = 1;
  result.l2_bytes = 1 << 20;
  result.memory_bytes = 1LL << 32;
  result.sm_mhz_max = clocks_.front();
  result.scripted = 1;
  result.nvml = 1;
  return result;
}

void ScriptedDevice::block(double limit_ms, double armed_ms) {
  ++window_;
  blocked_ = true;
  expired_ = false;
  block_start_ = host_;
  block_limit_ns_ = limit_ms * 1e6;
  armed_limit_ns_ = armed_ms * 1e6;
}

void ScriptedDevice::release() {
  if (page_ != nullptr) {
    while (blocked_ && page_->orders->gate < epoch_)
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  open_window();
}

void ScriptedDevice::open_window() {
  if (!blocked_) return;
  blocked_ = false;
  main_end_ = std::max(main_end_, host_);
  if (pending_other_ns_ > 0) other_end_ = std::max(other_end_, main_end_) + pending_other_ns_;
  pending_other_ns_ = 0;
  for (const Item& item : pending_) run(item);
  pending_.clear();
}

void ScriptedDevice::mark(int which) { record(2 + which); }

void ScriptedDevice::record(int event) {
  if (blocked_) {
    pending_.push_back({0, event});
  } else {
    run({0, event});
  }
}

void ScriptedDevice::stamp(int) {}
void ScriptedDevice::wait(int event) { host_ = std::max(host_, events_[event]); }
void ScriptedDevice::drain() { host_ = std::max({host_, main_end_, other_end_}); }
double ScriptedDevice::elapsed_ms(int from, int to) { return (events_[to] - events_[from]) * 1e-6; }
Health ScriptedDevice::health() { return {40, at_or_last(reasons_, window_ == 0 ? 0 : window_ - 1)}; }
void ScriptedDevice::flush() { host_ += 1000; }
void ScriptedDevice::spin(std::uint64_t ticks, std::uint64_t) {
  work(static_cast<double>(ticks) * 1e3 / clocks_.front(), false);
}

// Device memory is an anonymous file here, so that another process can attach it: a handle is process and
// descriptor.
std::uint64_t ScriptedDevice::map(int file, std::uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) throw Failure(PL_CUDA_ERROR, "mapping scripted memory failed");
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  memory_[address] = {file, bytes};
  return address;
}
std::uint64_t ScriptedDevice::alloc(std::uint64_t bytes) {
  const int file = memfd_create("plumbline-scripted", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    throw Failure(PL_CUDA_ERROR, "no scripted memory");
  }
  return map(file, bytes);
}
void ScriptedDevice::free(std::uint64_t address) {
  const auto found = memory_.find(address);
  if (found == memory_.end()) throw Failure(PL_USAGE, "this address was not allocated here");
  munmap(reinterpret_cast<void*>(address), found->second.bytes);
  close(found->second.file);
  memory_.erase(found);
}
void ScriptedDevice::fill(std::uint64_t address, std::uint32_t word, std::uint64_t bytes) {
  auto* target = reinterpret_cast<unsigned char*>(address);
  for (std::uint64_t i = 0; i < bytes; ++i) target[i] = static_cast<unsigned char>(word >> (8 * (i % 4)));
}
void ScriptedDevice::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
}
void ScriptedDevice::gather(std::uint64_t to, std::uint64_t from, const Layout& layout, int item_bytes) {
  const std::uint64_t count = layout.count();
  const auto item = static_cast<std::uint64_t>(item_bytes);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t rest = i;
    std::int64_t offset = 0;
    for (int d = layout.dims - 1; d >= 0; --d) {
      offset += static_cast<std::int64_t>(rest % layout.sizes[d]) * layout.strides[d];
      rest /= layout.sizes[d];
    }
    std::memcpy(reinterpret_cast<char*>(to) + i * item,
                reinterpret_cast<const char*>(from) + offset * static_cast<std::int64_t>(item), item);
  }
}
void ScriptedDevice::read(void* to, std::uint64_t from, std::uint64_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
}
void ScriptedDevice::share(std::uint64_t address, unsigned char* handle) {
  const auto found = memory_.find(address);
  if (found == memory_.end()) throw Failure(PL_USAGE, "this address was not allocated here");
  std::memset(handle, 0, 64);
  const std::int64_t fields[3] = {getpid(), found->second.file,
                                  static_cast<std::int64_t>(found->second.bytes)};
  std::memcpy(handle, fields, sizeof fields);
}
std::uint64_t ScriptedDevice::attach(const unsigned char* handle) {
  std::int64_t fields[3];
  std::memcpy(fields, handle, sizeof fields);
  const std::string path = "/proc/" + std::to_string(fields[0]) + "/fd/" + std::to_string(fields[1]);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) throw Failure(PL_CUDA_ERROR, "cannot attach scripted memory " + path);
  return map(file, static_cast<std::uint64_t>(fields[2]));
}
void ScriptedDevice::detach(std::uint64_t address) { free(address); }

}  // namespace plumbline::timing
