// SPDX-License-Identifier: Apache-2.0
// NVTX ranges (NVTX_INJECTION64_PATH): the recorder opens and closes with the range that was asked for.
#include <nvtx3/nvToolsExt.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "session.h"

namespace {

using plumbline::recorder::Recorder;

thread_local std::vector<std::string> stack;
std::mutex ranges_mutex;
std::map<nvtxRangeId_t, std::string> ranges;
nvtxRangeId_t next_range = 1;

std::string text_of(const nvtxEventAttributes_t* attributes) {
  if (attributes == nullptr) return "";
  if (attributes->messageType == NVTX_MESSAGE_TYPE_ASCII && attributes->message.ascii != nullptr) {
    return attributes->message.ascii;
  }
  return "";
}

int push(const std::string& name) {
  stack.push_back(name);
  Recorder::get().range_begin(name);
  return static_cast<int>(stack.size()) - 1;
}
int NVTX_API push_ascii(const char* name) { return push(name != nullptr ? name : ""); }
int NVTX_API push_ex(const nvtxEventAttributes_t* attributes) { return push(text_of(attributes)); }
int NVTX_API pop() {
  if (stack.empty()) return -1;
  Recorder::get().range_end(stack.back());
  stack.pop_back();
  return static_cast<int>(stack.size());
}
int NVTX_API domain_push(nvtxDomainHandle_t, const nvtxEventAttributes_t* attributes) {
  return push_ex(attributes);
}
int NVTX_API domain_pop(nvtxDomainHandle_t) { return pop(); }

nvtxRangeId_t start(const std::string& name) {
  nvtxRangeId_t id = 0;
  {
    const std::lock_guard<std::mutex> guard(ranges_mutex);
    id = next_range++;
    ranges[id] = name;
  }
  Recorder::get().range_begin(name);
  return id;
}
nvtxRangeId_t NVTX_API start_ascii(const char* name) { return start(name != nullptr ? name : ""); }
nvtxRangeId_t NVTX_API start_ex(const nvtxEventAttributes_t* attributes) {
  return start(text_of(attributes));
}
nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t, const nvtxEventAttributes_t* attributes) {
  return start_ex(attributes);
}
void NVTX_API end(nvtxRangeId_t id) {
  std::string name;
  {
    const std::lock_guard<std::mutex> guard(ranges_mutex);
    const auto found = ranges.find(id);
    if (found == ranges.end()) return;
    name = found->second;
    ranges.erase(found);
  }
  Recorder::get().range_end(name);
}
void NVTX_API domain_end(nvtxDomainHandle_t, nvtxRangeId_t id) { end(id); }

template <class Function>
void put(NvtxFunctionTable table, unsigned size, unsigned id, Function function) {
  if (id < size && table[id] != nullptr) *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table);
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0)
    return 0;
  put(table, size, NVTX_CBID_CORE_RangePushA, push_ascii);
  put(table, size, NVTX_CBID_CORE_RangePushEx, push_ex);
  put(table, size, NVTX_CBID_CORE_RangePop, pop);
  put(table, size, NVTX_CBID_CORE_RangeStartA, start_ascii);
  put(table, size, NVTX_CBID_CORE_RangeStartEx, start_ex);
  put(table, size, NVTX_CBID_CORE_RangeEnd, end);
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) != 0) {
    put(table, size, NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
    put(table, size, NVTX_CBID_CORE2_DomainRangePop, domain_pop);
    put(table, size, NVTX_CBID_CORE2_DomainRangeStartEx, domain_start);
    put(table, size, NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
  }
  return 1;
}
