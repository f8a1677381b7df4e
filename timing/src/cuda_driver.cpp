// SPDX-License-Identifier: Apache-2.0
#include "cuda_driver.h"

#include <dlfcn.h>

#include <initializer_list>
#include <memory>

#include "device.h"

namespace plumbline::timing {
namespace {

void* open_first(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_GLOBAL)) return library;
  }
  return nullptr;
}

template <class Function>
bool find(void* library, const char* symbol, Function& target) {
  target = reinterpret_cast<Function>(dlsym(library, symbol));
  return target != nullptr;
}

CudaDriver load_driver() {
  void* library = open_first({"libcuda.so.1", "libcuda.so"});
  if (library == nullptr) {
    throw Failure(PL_NO_DRIVER,
                  "no CUDA driver: libcuda.so.1 is not on this machine (it comes with NVIDIA's driver)");
  }
  CudaDriver driver;
#define X(name, symbol, parameters)                                                                  \
  if (!find(library, symbol, driver.name)) {                                                         \
    throw Failure(PL_NO_DRIVER,                                                                      \
                  "the CUDA driver is too old: it lacks " symbol " (CUDA 11.4 or newer is needed)"); \
  }
  PLUMBLINE_CUDA_FUNCTIONS(X)
#undef X
  if (const int code = driver.init(0); code != 0) {
    const char* text = nullptr;
    driver.error_text(code, &text);
    throw Failure(code == 100 ? PL_NO_DEVICE : PL_NO_DRIVER, std::string("the CUDA driver does not start: ") +
                                                                 (text != nullptr ? text : "unknown error"));
  }
  return driver;
}

std::unique_ptr<Nvml> load_nvml() {
  void* library = open_first({"libnvidia-ml.so.1", "libnvidia-ml.so"});
  if (library == nullptr) return nullptr;
  auto functions = std::make_unique<Nvml>();
#define X(name, symbol, parameters) find(library, symbol, functions->name);
  PLUMBLINE_NVML_FUNCTIONS(X)
#undef X
  if (functions->init == nullptr || functions->by_uuid == nullptr || functions->init() != 0) return nullptr;
  return functions;
}

}  // namespace

const CudaDriver& cuda_driver() {
  static const CudaDriver driver = load_driver();
  return driver;
}

const Nvml* nvml() {
  static const std::unique_ptr<Nvml> functions = load_nvml();
  return functions.get();
}

}  // namespace plumbline::timing
