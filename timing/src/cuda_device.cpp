// SPDX-License-Identifier: Apache-2.0
// Device on the CUDA driver.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "cuda_driver.h"
#include "device.h"
#include "kernels_ptx.h"

namespace plumbline::timing {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// The GPU's large page, and so the granularity of a large allocation.
constexpr std::uint64_t kPageBytes = 2 << 20;

// CUdevice_attribute (cuda.h).
enum Attribute : int {
  kMultiprocessors = 16,
  kL2Bytes = 38,
  kMajor = 75,
  kMinor = 76,
  kSharedOptin = 97,
};
// CUfunction_attribute.
constexpr int kMaxDynamicShared = 8;
constexpr int kSharedCarveout = 9;

void check(int code, const char* what) {
  if (code == 0) return;
  const char* name = nullptr;
  const char* text = nullptr;
  cuda_driver().error_name(code, &name);
  cuda_driver().error_text(code, &text);
  throw Failure(PL_CUDA_ERROR, std::string(what) + ": " + (name != nullptr ? name : "?") + " (" +
                                   (text != nullptr ? text : "?") + ")");
}

/// Host memory that the GPU polls and writes: the blocking kernel's flags, the marks, and the stamps.
struct Mailbox {
  alignas(128) volatile int gate;
  volatile int armed;
  volatile int abandon;
  alignas(128) volatile int expired;
  volatile int marks[2];
  alignas(128) volatile unsigned long long stamps[2][4];
};

class CudaDevice final : public Device {
 public:
  CudaDevice(int ordinal, void* stream) : driver_(cuda_driver()), stream_(static_cast<CuStream>(stream)) {
    int count = 0;
    check(driver_.device_count(&count), "cuDeviceGetCount");
    if (ordinal < 0 || ordinal >= count) {
      throw Failure(PL_NO_DEVICE, "there is no GPU " + std::to_string(ordinal) + ": the driver sees " +
                                      std::to_string(count));
    }
    check(driver_.device_get(&device_, ordinal), "cuDeviceGet");
    check(driver_.context_retain(&context_, device_), "cuDevicePrimaryCtxRetain");
    enter();
    load_kernels();
    make_buffers();
    find_nvml();
  }

  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  ~CudaDevice() override {
    driver_.context_set(context_);
    for (CuEvent event : events_) driver_.event_destroy(event);
    driver_.free(flush_);
    driver_.host_free(mailbox_);
    driver_.module_unload(module_);
    driver_.context_release(device_);
  }

  pl_device_info info() override {
    pl_device_info result{};
    driver_.device_name(result.name, sizeof result.name, device_);
    std::strncpy(result.uuid, uuid_.c_str(), sizeof result.uuid - 1);
    driver_.driver_version(&result.driver_version);
    result.compute_major = attribute(kMajor);
    result.compute_minor = attribute(kMinor);
    result.multiprocessors = attribute(kMultiprocessors);
    result.l2_bytes = attribute(kL2Bytes);
    std::size_t memory = 0;
    driver_.device_memory(&memory, device_);
    result.memory_bytes = static_cast<std::int64_t>(memory);
    result.sm_mhz_max = kUnknown;
    unsigned mhz = 0;
    if (nvml_device_ != nullptr && nvml()->max_clock != nullptr &&
        nvml()->max_clock(nvml_device_, 1, &mhz) == 0) {
      result.sm_mhz_max = mhz;
    }
    result.nvml = nvml_device_ != nullptr ? 1 : 0;
    return result;
  }

  void block(double limit_ms, double armed_ms) override {
    enter();
    if (!served_) ++epoch_;
    CuDevicePtr gate = gate_, armed = at(offsetof(Mailbox, armed)), abandon = at(offsetof(Mailbox, abandon)),
                expired = at(offsetof(Mailbox, expired));
    auto limit_ns = static_cast<unsigned long long>(limit_ms * 1e6);
    auto armed_ns = static_cast<unsigned long long>(armed_ms * 1e6);
    void* arguments[] = {&gate, &armed, &abandon, &expired, &epoch_, &limit_ns, &armed_ns};
    check(driver_.launch(block_, static_cast<unsigned>(attribute(kMultiprocessors)), 1, 1, 1, 1, 1,
                         shared_bytes_, stream_, arguments, nullptr),
          "launching the blocking kernel");
  }
  void armed() override { raise(mailbox_->armed); }
  void release() override {
    if (!served_) raise(mailbox_->gate);
  }
  void abandon() override { raise(mailbox_->abandon); }
  void mark(int which) override {
    void* arguments[] = {&marks_[which], &epoch_};
    check(driver_.launch(mark_, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr),
          "launching the mark kernel");
  }
  void serve(const Page& page) override {
    enter();
    CuDevicePtr base = 0;
    check(driver_.host_register(page.marks, kPage, 2), "registering the marks");  // 2: mapped
    check(driver_.host_device_pointer(&base, page.marks, 0), "cuMemHostGetDevicePointer");
    gate_ = base + offsetof(Marks, gate);
    marks_[0] = base + offsetof(Marks, opened);
    marks_[1] = base + offsetof(Marks, closed);
    // The gate that this process cannot write, where read-only memory (8) can be registered.
    if (driver_.host_register(page.orders, kOrdersBytes, 2 | 8) == 0 &&
        driver_.host_device_pointer(&base, page.orders, 0) == 0) {
      gate_ = base + offsetof(Orders, gate);
    }
    served_ = true;
  }
  void epoch(int number) override { epoch_ = number; }
  bool block_expired() override { return mailbox_->expired == epoch_; }

  void record(int event) override { check(driver_.event_record(events_[event], stream_), "cuEventRecord"); }
  void stamp(int slot) override {
    CuDevicePtr target =
        at(offsetof(Mailbox, stamps)) + sizeof(mailbox_->stamps[0]) * static_cast<unsigned>(slot);
    void* arguments[] = {&target};
    check(driver_.launch(stamp_, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr),
          "launching the stamp kernel");
  }
  void wait(int event) override {
    check(driver_.event_synchronize(events_[event]), "waiting for the closing event");
  }
  void drain() override {
    enter();
    check(driver_.context_synchronize(), "waiting for the device");
  }
  double elapsed_ms(int from, int to) override {
    float ms = 0;
    check(driver_.event_elapsed(&ms, events_[from], events_[to]), "cuEventElapsedTime");
    return static_cast<double>(ms);
  }
  double clock_mhz() override {
    const auto& open = mailbox_->stamps[0];
    const auto& close = mailbox_->stamps[1];
    if (open[2] != close[2] || close[1] <= open[1]) return kUnknown;
    const double mhz =
        static_cast<double>(close[0] - open[0]) / static_cast<double>(close[1] - open[1]) * 1e3;
    return mhz > 1 && mhz < 1e5 ? mhz : kUnknown;
  }

  Health health() override {
    Health result{kUnknown, 0};
    if (nvml_device_ == nullptr) return result;
    unsigned celsius = 0;
    if (nvml()->temperature != nullptr && nvml()->temperature(nvml_device_, 0, &celsius) == 0) {
      result.temperature_c = celsius;
    }
    unsigned long long reasons = 0;
    if (nvml()->reasons != nullptr && nvml()->reasons(nvml_device_, &reasons) == 0) {
      // nvml.h: SwPowerCap 4, HwSlowdown 8, SwThermal 32, HwThermal 64, HwPowerBrake 128
      if ((reasons & 4) != 0) result.reasons |= 1;
      if ((reasons & (32 | 64)) != 0) result.reasons |= 2;
      if ((reasons & (8 | 128)) != 0) result.reasons |= 4;
    }
    return result;
  }

  std::optional<std::vector<unsigned>> processes() override {
    if (nvml_device_ == nullptr || nvml()->processes == nullptr) return std::nullopt;
    NvmlProcess found[256];
    unsigned count = 256;
    if (nvml()->processes(nvml_device_, &count, found) != 0) return std::nullopt;
    std::vector<unsigned> pids;
    for (unsigned i = 0; i < count; ++i) pids.push_back(found[i].pid);
    return pids;
  }

  void flush() override {
    enter();
    driver_.reset_persisting();  // GPUs without persisting lines answer that it is not supported
    check(driver_.fill(flush_, ++flush_word_, flush_bytes_ / 4, stream_), "flushing L2");
    check(driver_.stream_synchronize(stream_), "flushing L2");
  }
  void launch_empty() override { spin(0, 0); }
  void spin(std::uint64_t ticks, std::uint64_t stamps) override {
    unsigned long long length = ticks;
    unsigned long long target = stamps;
    void* arguments[] = {&length, &target};
    check(driver_.launch(spin_, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr),
          "launching the spin kernel");
  }
  double host_ns() override {
    return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
  }

  std::uint64_t alloc(std::uint64_t bytes) override {
    enter();
    CuDevicePtr address = 0;
    // Whole pages: in another process, an allocation that ends within a page is mapped by smaller pages, and
    // kernels bound by memory read it a quarter slower there (benchmarks/gpu/shared_memory.py).
    check(driver_.alloc(&address, (bytes + kPageBytes - 1) / kPageBytes * kPageBytes), "cuMemAlloc");
    return address;
  }
  void free(std::uint64_t address) override {
    enter();
    check(driver_.free(address), "cuMemFree");
  }
  void fill(std::uint64_t address, std::uint32_t word, std::uint64_t bytes) override {
    enter();
    if (address % 4 == 0 && bytes >= 4)
      check(driver_.fill(address, word, bytes / 4, stream_), "cuMemsetD32Async");
    const std::uint64_t tail = address % 4 == 0 ? bytes % 4 : bytes;
    if (tail != 0) {
      check(driver_.fill_bytes(address + bytes - tail, static_cast<unsigned char>(word), tail, stream_),
            "cuMemsetD8Async");
    }
  }
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) override {
    enter();
    check(driver_.copy(to, from, bytes, stream_), "cuMemcpyDtoDAsync");
  }
  void gather(std::uint64_t to, std::uint64_t from, const Layout& layout, int item_bytes) override {
    enter();
    unsigned long long target = to, source = from, count = layout.count();
    if (count == 0) return;
    if (layout.dense()) return copy(to, from, count * static_cast<unsigned>(item_bytes));
    Layout given = layout;
    void* arguments[] = {&target, &source, &given, &count, &item_bytes};
    const unsigned blocks = static_cast<unsigned>(std::min<unsigned long long>((count + 255) / 256, 4096));
    check(driver_.launch(gather_, blocks, 1, 1, 256, 1, 1, 0, stream_, arguments, nullptr),
          "launching the gather kernel");
  }
  void read(void* to, std::uint64_t from, std::uint64_t bytes) override {
    enter();
    check(driver_.read(to, from, bytes), "cuMemcpyDtoH");
  }
  void share(std::uint64_t address, unsigned char* handle) override {
    enter();
    CuIpcHandle result{};
    check(driver_.ipc_get(&result, address), "cuIpcGetMemHandle");
    std::memcpy(handle, result.bytes, sizeof result.bytes);
  }
  std::uint64_t attach(const unsigned char* handle) override {
    enter();
    CuIpcHandle source{};
    std::memcpy(source.bytes, handle, sizeof source.bytes);
    CuDevicePtr address = 0;
    check(driver_.ipc_open(&address, source, 1), "cuIpcOpenMemHandle");
    return address;
  }
  void detach(std::uint64_t address) override {
    enter();
    check(driver_.ipc_close(address), "cuIpcCloseMemHandle");
  }

 private:
  // The student may have made another context current.
  void enter() { check(driver_.context_set(context_), "cuCtxSetCurrent"); }

  int attribute(Attribute which) {
    int value = 0;
    check(driver_.device_attribute(&value, which, device_), "cuDeviceGetAttribute");
    return value;
  }

  CuDevicePtr at(std::size_t offset) const { return mailbox_device_ + offset; }
  void raise(volatile int& flag) { __atomic_store_n(const_cast<int*>(&flag), epoch_, __ATOMIC_SEQ_CST); }

  void load_kernels() {
    check(driver_.module_load(&module_, kKernelsPtx), "loading the harness's kernels");
    check(driver_.module_function(&block_, module_, "plumbline_block"), "plumbline_block");
    check(driver_.module_function(&mark_, module_, "plumbline_mark"), "plumbline_mark");
    check(driver_.module_function(&gather_, module_, "plumbline_gather"), "plumbline_gather");
    check(driver_.module_function(&stamp_, module_, "plumbline_stamp"), "plumbline_stamp");
    check(driver_.module_function(&spin_, module_, "plumbline_spin"), "plumbline_spin");
    // One block a multiprocessor, with all the shared memory that a block may have: nothing else fits beside
    // it.
    shared_bytes_ = static_cast<unsigned>(attribute(kSharedOptin));
    check(driver_.function_attribute(block_, kMaxDynamicShared, static_cast<int>(shared_bytes_)),
          "cuFuncSetAttribute");
    check(driver_.function_attribute(block_, kSharedCarveout, 100), "cuFuncSetAttribute");
  }

  void make_buffers() {
    for (CuEvent& event : events_) check(driver_.event_create(&event, 0), "cuEventCreate");
    void* host = nullptr;
    check(driver_.host_alloc(&host, sizeof(Mailbox), 1 | 2), "cuMemHostAlloc");  // portable, mapped
    std::memset(host, 0, sizeof(Mailbox));
    mailbox_ = static_cast<Mailbox*>(host);
    check(driver_.host_device_pointer(&mailbox_device_, host, 0), "cuMemHostGetDevicePointer");
    gate_ = at(offsetof(Mailbox, gate));
    marks_[0] = at(offsetof(Mailbox, marks));
    marks_[1] = marks_[0] + sizeof(int);
    const int l2 = attribute(kL2Bytes);
    flush_bytes_ = 2 * static_cast<std::size_t>(l2 > 0 ? l2 : 64 << 20);
    check(driver_.alloc(&flush_, flush_bytes_), "cuMemAlloc");
  }

  void find_nvml() {
    CuUuid id{};
    if (driver_.device_uuid(&id, device_) != 0) return;
    char text[48];
    std::snprintf(text, sizeof text,
                  "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", id.bytes[0],
                  id.bytes[1], id.bytes[2], id.bytes[3], id.bytes[4], id.bytes[5], id.bytes[6], id.bytes[7],
                  id.bytes[8], id.bytes[9], id.bytes[10], id.bytes[11], id.bytes[12], id.bytes[13],
                  id.bytes[14], id.bytes[15]);
    uuid_ = text;
    if (nvml() == nullptr || nvml()->by_uuid(uuid_.c_str(), &nvml_device_) != 0) nvml_device_ = nullptr;
  }

  const CudaDriver& driver_;
  CuStream stream_;
  CuDevice device_ = 0;
  CuContext context_ = nullptr;
  CuModule module_ = nullptr;
  CuFunction block_ = nullptr, mark_ = nullptr, gather_ = nullptr, stamp_ = nullptr, spin_ = nullptr;
  unsigned shared_bytes_ = 0;
  CuEvent events_[2] = {};
  Mailbox* mailbox_ = nullptr;
  CuDevicePtr mailbox_device_ = 0;
  CuDevicePtr gate_ = 0;       ///< what the blocking kernel polls: the mailbox's, or another process's
  CuDevicePtr marks_[2] = {};  ///< where the marks go
  int epoch_ = 0;
  bool served_ = false;
  CuDevicePtr flush_ = 0;
  std::size_t flush_bytes_ = 0;
  unsigned flush_word_ = 0x9e3779b9U;
  std::string uuid_;
  NvmlDevice nvml_device_ = nullptr;
};

}  // namespace

std::unique_ptr<Device> open_cuda_device(int ordinal, void* stream) {
  return std::make_unique<CudaDevice>(ordinal, stream);
}

std::string describe_cuda() {
  try {
    const CudaDriver& driver = cuda_driver();
    int version = 0;
    int count = 0;
    driver.driver_version(&version);
    driver.device_count(&count);
    char driver_text[96] = "?";
    if (nvml() != nullptr && nvml()->driver_text != nullptr)
      nvml()->driver_text(driver_text, sizeof driver_text);
    return "driver " + std::string(driver_text) + ", CUDA " + std::to_string(version / 1000) + "." +
           std::to_string(version % 1000 / 10) + ", " + std::to_string(count) + " GPU(s), NVML " +
           (nvml() != nullptr ? "found" : "missing: no throttle reasons, no temperature");
  } catch (const Failure& failure) {
    return failure.what();
  }
}

}  // namespace plumbline::timing
