// SPDX-License-Identifier: Apache-2.0
#include "cuda_driver.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <initializer_list>
#include <memory>
#include <new>

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
  // In memory of its own that is read-only from here on: a measured process that writes there ends.
  static const CudaDriver& driver = *[] {
    const CudaDriver loaded = load_driver();
    void* page =
        mmap(nullptr, sizeof(CudaDriver), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw Failure(PL_NO_DRIVER, "no memory for the driver's functions");
    const auto* kept = new (page) CudaDriver(loaded);
    mprotect(page, sizeof(CudaDriver), PROT_READ);
    return kept;
  }();
  return driver;
}

const Nvml* nvml() {
  static const std::unique_ptr<Nvml> functions = load_nvml();
  return functions.get();
}

}  // namespace plumbline::timing
