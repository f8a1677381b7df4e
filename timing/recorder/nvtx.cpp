// SPDX-License-Identifier: Apache-2.0
// NVTX ranges (NVTX_INJECTION64_PATH): the recorder opens and closes with the range that was asked for.
#include <nvtx3/nvToolsExt.h>

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "session.h"

namespace {

using plumbline::recorder::Recorder;

// Pushed ranges are nested within a thread and a domain; started ones end by their number.
thread_local std::map<nvtxDomainHandle_t, std::vector<std::string>> stacks;
std::mutex names_mutex;
std::map<nvtxRangeId_t, std::string> ranges;
nvtxRangeId_t next_range = 1;
// Registered strings and domains, by the address of their text: they live as long as the process.
std::set<std::string>& texts() {
  static auto* all = new std::set<std::string>;
  return *all;
}

const std::string* intern(std::string text) {
  const std::lock_guard<std::mutex> guard(names_mutex);
  return &*texts().insert(std::move(text)).first;
}

std::string utf8(const wchar_t* wide) {
  std::string out;
  for (; wide != nullptr && *wide != 0; ++wide) {
    const auto c = static_cast<unsigned>(*wide);
    const auto byte = [&out](unsigned value) { out += static_cast<char>(value); };
    if (c < 0x80) {
      byte(c);
    } else if (c < 0x800) {
      byte(0xC0 | c >> 6);
      byte(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
      byte(0xE0 | c >> 12);
      byte(0x80 | (c >> 6 & 0x3F));
      byte(0x80 | (c & 0x3F));
    } else {
      byte(0xF0 | (c >> 18 & 0x07));
      byte(0x80 | (c >> 12 & 0x3F));
      byte(0x80 | (c >> 6 & 0x3F));
      byte(0x80 | (c & 0x3F));
    }
  }
  return out;
}

std::string ascii(const char* text) { return text != nullptr ? text : ""; }

std::string text_of(const nvtxEventAttributes_t* attributes) {
  if (attributes == nullptr) return "";
  switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return ascii(attributes->message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
      return utf8(attributes->message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED: {
      const auto* text = reinterpret_cast<const std::string*>(attributes->message.registered);
      return text != nullptr ? *text : "";
    }
    default:
      return "";
  }
}

nvtxDomainHandle_t create_domain(std::string name) {
  // Apart from the strings of the same text.
  return reinterpret_cast<nvtxDomainHandle_t>(const_cast<std::string*>(intern("domain " + name)));
}
nvtxDomainHandle_t NVTX_API create_domain_ascii(const char* name) { return create_domain(ascii(name)); }
nvtxDomainHandle_t NVTX_API create_domain_wide(const wchar_t* name) { return create_domain(utf8(name)); }

nvtxStringHandle_t register_text(std::string text) {
  return reinterpret_cast<nvtxStringHandle_t>(const_cast<std::string*>(intern(std::move(text))));
}
nvtxStringHandle_t NVTX_API register_ascii(nvtxDomainHandle_t, const char* text) {
  return register_text(ascii(text));
}
nvtxStringHandle_t NVTX_API register_wide(nvtxDomainHandle_t, const wchar_t* text) {
  return register_text(utf8(text));
}

int push(nvtxDomainHandle_t domain, const std::string& name) {
  auto& stack = stacks[domain];
  stack.push_back(name);
  Recorder::get().range_begin(name);
  return static_cast<int>(stack.size()) - 1;
}
int NVTX_API push_ascii(const char* name) { return push(nullptr, ascii(name)); }
int NVTX_API push_wide(const wchar_t* name) { return push(nullptr, utf8(name)); }
int NVTX_API push_ex(const nvtxEventAttributes_t* attributes) { return push(nullptr, text_of(attributes)); }
int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  return push(domain, text_of(attributes));
}
int NVTX_API domain_pop(nvtxDomainHandle_t domain) {
  auto& stack = stacks[domain];
  if (stack.empty()) return -1;
  Recorder::get().range_end(stack.back());
  stack.pop_back();
  return static_cast<int>(stack.size());
}
int NVTX_API pop() { return domain_pop(nullptr); }

nvtxRangeId_t start(const std::string& name) {
  nvtxRangeId_t id = 0;
  {
    const std::lock_guard<std::mutex> guard(names_mutex);
    id = next_range++;
    ranges[id] = name;
  }
  Recorder::get().range_begin(name);
  return id;
}
nvtxRangeId_t NVTX_API start_ascii(const char* name) { return start(ascii(name)); }
nvtxRangeId_t NVTX_API start_wide(const wchar_t* name) { return start(utf8(name)); }
nvtxRangeId_t NVTX_API start_ex(const nvtxEventAttributes_t* attributes) {
  return start(text_of(attributes));
}
nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t, const nvtxEventAttributes_t* attributes) {
  return start_ex(attributes);
}
void NVTX_API end(nvtxRangeId_t id) {
  std::string name;
  {
    const std::lock_guard<std::mutex> guard(names_mutex);
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
  put(table, size, NVTX_CBID_CORE_RangePushW, push_wide);
  put(table, size, NVTX_CBID_CORE_RangePushEx, push_ex);
  put(table, size, NVTX_CBID_CORE_RangePop, pop);
  put(table, size, NVTX_CBID_CORE_RangeStartA, start_ascii);
  put(table, size, NVTX_CBID_CORE_RangeStartW, start_wide);
  put(table, size, NVTX_CBID_CORE_RangeStartEx, start_ex);
  put(table, size, NVTX_CBID_CORE_RangeEnd, end);
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) != 0) {
    put(table, size, NVTX_CBID_CORE2_DomainCreateA, create_domain_ascii);
    put(table, size, NVTX_CBID_CORE2_DomainCreateW, create_domain_wide);
    put(table, size, NVTX_CBID_CORE2_DomainRegisterStringA, register_ascii);
    put(table, size, NVTX_CBID_CORE2_DomainRegisterStringW, register_wide);
    put(table, size, NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
    put(table, size, NVTX_CBID_CORE2_DomainRangePop, domain_pop);
    put(table, size, NVTX_CBID_CORE2_DomainRangeStartEx, domain_start);
    put(table, size, NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
  }
  return 1;
}
