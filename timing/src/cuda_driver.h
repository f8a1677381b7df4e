// SPDX-License-Identifier: Apache-2.0
// The few functions of the CUDA driver and of NVML that the harness calls, declared here and found at run
// time, so that it builds without CUDA's headers and loads without a GPU. Signatures: CUDA Driver API 12.0
// and NVML 12.0 reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace plumbline::timing {

using CuDevice = int;
using CuDevicePtr = unsigned long long;
using CuContext = struct CuContextTag*;
using CuModule = struct CuModuleTag*;
using CuFunction = struct CuFunctionTag*;
using CuStream = struct CuStreamTag*;
using CuEvent = struct CuEventTag*;
struct CuIpcHandle {
  char bytes[64];
};
struct CuUuid {
  unsigned char bytes[16];
};

// name in this struct, exported symbol, parameters
#define PLUMBLINE_CUDA_FUNCTIONS(X)                                                                      \
  X(init, "cuInit", (unsigned))                                                                          \
  X(driver_version, "cuDriverGetVersion", (int*))                                                        \
  X(device_count, "cuDeviceGetCount", (int*))                                                            \
  X(device_get, "cuDeviceGet", (CuDevice*, int))                                                         \
  X(device_name, "cuDeviceGetName", (char*, int, CuDevice))                                              \
  X(device_uuid, "cuDeviceGetUuid", (CuUuid*, CuDevice))                                                 \
  X(device_attribute, "cuDeviceGetAttribute", (int*, int, CuDevice))                                     \
  X(device_memory, "cuDeviceTotalMem_v2", (std::size_t*, CuDevice))                                      \
  X(context_retain, "cuDevicePrimaryCtxRetain", (CuContext*, CuDevice))                                  \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (CuDevice))                                         \
  X(context_set, "cuCtxSetCurrent", (CuContext))                                                         \
  X(context_synchronize, "cuCtxSynchronize", ())                                                         \
  X(reset_persisting, "cuCtxResetPersistingL2Cache", ())                                                 \
  X(module_load, "cuModuleLoadData", (CuModule*, const void*))                                           \
  X(module_unload, "cuModuleUnload", (CuModule))                                                         \
  X(module_function, "cuModuleGetFunction", (CuFunction*, CuModule, const char*))                        \
  X(function_attribute, "cuFuncSetAttribute", (CuFunction, int, int))                                    \
  X(launch, "cuLaunchKernel",                                                                            \
    (CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CuStream, void**, \
     void**))                                                                                            \
  X(alloc, "cuMemAlloc_v2", (CuDevicePtr*, std::size_t))                                                 \
  X(free, "cuMemFree_v2", (CuDevicePtr))                                                                 \
  X(host_alloc, "cuMemHostAlloc", (void**, std::size_t, unsigned))                                       \
  X(host_free, "cuMemFreeHost", (void*))                                                                 \
  X(host_device_pointer, "cuMemHostGetDevicePointer_v2", (CuDevicePtr*, void*, unsigned))                \
  X(host_register, "cuMemHostRegister_v2", (void*, std::size_t, unsigned))                               \
  X(host_unregister, "cuMemHostUnregister", (void*))                                                     \
  X(fill, "cuMemsetD32Async", (CuDevicePtr, unsigned, std::size_t, CuStream))                            \
  X(fill_bytes, "cuMemsetD8Async", (CuDevicePtr, unsigned char, std::size_t, CuStream))                  \
  X(copy, "cuMemcpyDtoDAsync_v2", (CuDevicePtr, CuDevicePtr, std::size_t, CuStream))                     \
  X(read, "cuMemcpyDtoH_v2", (void*, CuDevicePtr, std::size_t))                                          \
  X(event_create, "cuEventCreate", (CuEvent*, unsigned))                                                 \
  X(event_destroy, "cuEventDestroy_v2", (CuEvent))                                                       \
  X(event_record, "cuEventRecord", (CuEvent, CuStream))                                                  \
  X(event_synchronize, "cuEventSynchronize", (CuEvent))                                                  \
  X(event_elapsed, "cuEventElapsedTime", (float*, CuEvent, CuEvent))                                     \
  X(stream_synchronize, "cuStreamSynchronize", (CuStream))                                               \
  X(address_range, "cuMemGetAddressRange_v2", (CuDevicePtr*, std::size_t*, CuDevicePtr))                 \
  X(ipc_get, "cuIpcGetMemHandle", (CuIpcHandle*, CuDevicePtr))                                           \
  X(ipc_open, "cuIpcOpenMemHandle_v2", (CuDevicePtr*, CuIpcHandle, unsigned))                            \
  X(ipc_close, "cuIpcCloseMemHandle", (CuDevicePtr))                                                     \
  X(error_name, "cuGetErrorName", (int, const char**))                                                   \
  X(error_text, "cuGetErrorString", (int, const char**))

/// The driver's functions; every pointer is set.
struct CudaDriver {
#define X(name, symbol, parameters) int(*name) parameters = nullptr;
  PLUMBLINE_CUDA_FUNCTIONS(X)
#undef X
};

/// The driver, initialised. Failures: PL_NO_DRIVER (the library, a function or cuInit), PL_NO_DEVICE.
const CudaDriver& cuda_driver();

using NvmlDevice = struct NvmlDeviceTag*;
struct NvmlProcess {  // nvmlProcessInfo_v2_t
  unsigned pid;
  unsigned long long bytes;
  unsigned instance;
  unsigned compute_instance;
};

// Optional: a missing function leaves the pointer null.
#define PLUMBLINE_NVML_FUNCTIONS(X)                                                              \
  X(init, "nvmlInit_v2", ())                                                                     \
  X(by_uuid, "nvmlDeviceGetHandleByUUID", (const char*, NvmlDevice*))                            \
  X(temperature, "nvmlDeviceGetTemperature", (NvmlDevice, int, unsigned*))                       \
  X(max_clock, "nvmlDeviceGetMaxClockInfo", (NvmlDevice, int, unsigned*))                        \
  X(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons", (NvmlDevice, unsigned long long*))     \
  X(processes, "nvmlDeviceGetComputeRunningProcesses_v3", (NvmlDevice, unsigned*, NvmlProcess*)) \
  X(driver_text, "nvmlSystemGetDriverVersion", (char*, unsigned))

struct Nvml {
#define X(name, symbol, parameters) int(*name) parameters = nullptr;
  PLUMBLINE_NVML_FUNCTIONS(X)
#undef X
};

/// NVML, initialised, or nullptr where it is not there.
const Nvml* nvml();

}  // namespace plumbline::timing
