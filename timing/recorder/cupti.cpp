// SPDX-License-Identifier: Apache-2.0
// The only file that knows CUPTI. The library is found at run time; PyTorch has usually loaded it already.
#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>

#include <cstdlib>

#include "session.h"

namespace plumbline::recorder {
namespace {

// The record type grows with CUDA's versions by fields at its end; the fields read here keep their places.
#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
using DeviceRecord = CUpti_ActivityDevice5;
using CopyRecord = CUpti_ActivityMemcpy6;
using FillRecord = CUpti_ActivityMemset4;
#else
using KernelRecord = CUpti_ActivityKernel9;
using DeviceRecord = CUpti_ActivityDevice5;
using CopyRecord = CUpti_ActivityMemcpy5;
using FillRecord = CUpti_ActivityMemset4;
#endif

constexpr std::size_t kBufferBytes = 8U << 20;
constexpr std::size_t kAlignment = 8;
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMSET};

struct Cupti {
  decltype(&cuptiGetVersion) get_version = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush = nullptr;
  decltype(&cuptiActivityGetNextRecord) next = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped = nullptr;
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiEnableCallback) enable_callback = nullptr;
  CUresult (*synchronize)() = nullptr;
};
Cupti cupti;
Recorder* owner = nullptr;
CUpti_SubscriberHandle subscriber = nullptr;

std::string failed(const char* what, CUptiResult code) {
  if (code == CUPTI_SUCCESS) return "";
  const char* text = nullptr;
  cupti.result_string(code, &text);
  return std::string(what) + ": " + (text != nullptr ? text : "unknown error");
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
  *size = *buffer != nullptr ? kBufferBytes : 0;  // without a buffer CUPTI counts the records as dropped
  *records = 0;
}

void take(const CUpti_Activity* record, Recording& recording) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto* kernel = reinterpret_cast<const KernelRecord*>(record);
      recording.add({kernel->start, kernel->end, recording.intern(kernel->name), kernel->deviceId,
                     kernel->streamId, kernel->graphId});
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto* copy = reinterpret_cast<const CopyRecord*>(record);
      ++recording.copies.count;
      recording.copies.bytes += copy->bytes;
      recording.copies.time_ns += static_cast<double>(copy->end - copy->start);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto* fill = reinterpret_cast<const FillRecord*>(record);
      ++recording.fills.count;
      recording.fills.bytes += fill->bytes;
      recording.fills.time_ns += static_cast<double>(fill->end - fill->start);
      break;
    }
    case CUPTI_ACTIVITY_KIND_DEVICE: {
      const auto* device = reinterpret_cast<const DeviceRecord*>(record);
      recording.devices[device->id] = device->name != nullptr ? device->name : "";
      break;
    }
    default:
      break;
  }
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                          std::size_t valid) {
  {
    const std::lock_guard<std::mutex> guard(owner->mutex);
    CUpti_Activity* record = nullptr;
    while (valid > 0 && cupti.next(buffer, valid, &record) == CUPTI_SUCCESS) take(record, owner->recording);
    std::size_t lost = 0;
    if (cupti.dropped(context, stream, &lost) == CUPTI_SUCCESS) {
      owner->recording.dropped += static_cast<std::int64_t>(lost);
    }
  }
  std::free(buffer);
}

void CUPTIAPI on_call(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  const auto* call = static_cast<const CUpti_CallbackData*>(data);
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API) return;
  // Opened when start returns, closed when stop is entered: what lies between is the region.
  if (id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart && call->callbackSite == CUPTI_API_EXIT)
    owner->open_region();
  if (id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop && call->callbackSite == CUPTI_API_ENTER)
    owner->close_region();
}

template <class Function>
bool find(void* library, const char* name, Function& target) {
  target = reinterpret_cast<Function>(dlsym(library, name));
  return target != nullptr;
}

std::string load() {
  void* library = nullptr;
  const std::string versioned = "libcupti.so." + std::to_string(CUDA_VERSION / 1000);
  for (const std::string& name : {versioned, std::string("libcupti.so"), "/usr/local/cuda/lib64/" + versioned,
                                  "/usr/local/cuda/extras/CUPTI/lib64/" + versioned}) {
    library = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library != nullptr) break;
  }
  if (library == nullptr) {
    return versioned +
           " was not found: it comes with the CUDA toolkit and with PyTorch (nvidia-cuda-cupti); add its "
           "folder to LD_LIBRARY_PATH";
  }
  const bool whole = find(library, "cuptiGetVersion", cupti.get_version) &&
                     find(library, "cuptiGetResultString", cupti.result_string) &&
                     find(library, "cuptiActivityRegisterCallbacks", cupti.register_callbacks) &&
                     find(library, "cuptiActivityEnable", cupti.enable) &&
                     find(library, "cuptiActivityDisable", cupti.disable) &&
                     find(library, "cuptiActivityFlushAll", cupti.flush) &&
                     find(library, "cuptiActivityGetNextRecord", cupti.next) &&
                     find(library, "cuptiActivityGetNumDroppedRecords", cupti.dropped) &&
                     find(library, "cuptiSubscribe", cupti.subscribe) &&
                     find(library, "cuptiEnableCallback", cupti.enable_callback);
  if (!whole) return "the libcupti that was found lacks a function of the activity API";
  if (void* driver = dlopen("libcuda.so.1", RTLD_NOW)) find(driver, "cuCtxSynchronize", cupti.synchronize);
  return "";
}

}  // namespace

std::string cupti_attach(Recorder& recorder, bool listen_for_profiler) {
  owner = &recorder;
  std::string failure = load();
  if (!failure.empty()) return failure;
  std::uint32_t version = 0;
  cupti.get_version(&version);
  recorder.recording.cupti_version = version;
  if (version / 10000 != CUPTI_API_VERSION / 10000) {
    return "the recorder was built for CUPTI " + std::to_string(CUPTI_API_VERSION) + " and found " +
           std::to_string(version) + ": its records have another layout";
  }
  failure = failed("registering the buffers", cupti.register_callbacks(give_buffer, take_buffer));
  if (failure.empty()) failure = failed("asking for the device", cupti.enable(CUPTI_ACTIVITY_KIND_DEVICE));
  if (failure.empty() && listen_for_profiler) {
    failure =
        failed("subscribing (is another profiler attached?)", cupti.subscribe(&subscriber, on_call, nullptr));
    for (const auto id : {CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop}) {
      if (failure.empty()) {
        failure = failed("listening for profiler.start",
                         cupti.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id));
      }
    }
  }
  return failure;
}

std::string cupti_enable() {
  // What was enqueued before belongs to no region.
  if (cupti.synchronize != nullptr) cupti.synchronize();
  for (const CUpti_ActivityKind kind : kKinds) {
    const std::string failure = failed("enabling the activity records", cupti.enable(kind));
    if (!failure.empty()) return failure;
  }
  return "";
}

std::string cupti_disable_and_flush() {
  if (cupti.synchronize != nullptr) cupti.synchronize();
  std::string failure = failed("flushing the activity records", cupti.flush(0));
  for (const CUpti_ActivityKind kind : kKinds) cupti.disable(kind);
  return failure;
}

}  // namespace plumbline::recorder
