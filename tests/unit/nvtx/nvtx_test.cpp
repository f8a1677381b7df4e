// SPDX-License-Identifier: Apache-2.0
// The recorder's NVTX callbacks, attached to NVTX itself, before a recorder that only notes what it is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>

#include <string>
#include <vector>

#include "session.h"

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);

namespace {
std::vector<std::string> told;
}

namespace plumbline::recorder {
Recorder::Recorder() = default;
Recorder& Recorder::get() {
  static Recorder recorder;
  return recorder;
}
void Recorder::range_begin(const std::string& name) { told.push_back("+" + name); }
void Recorder::range_end(const std::string& name) { told.push_back("-" + name); }
}  // namespace plumbline::recorder

namespace {

using ::testing::ElementsAre;

nvtxEventAttributes_t event() {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return attributes;
}

class Nvtx : public ::testing::Test {
 protected:
  void SetUp() override {
#if NVTX_LOAD_SEQUENCE_VERSION >= 2
    InitializeInjectionNvtx2_fnptr = InitializeInjectionNvtx2;
#else
    GTEST_SKIP() << "these headers of NVTX cannot be given an injection from within the program";
#endif
    told.clear();
  }
};

TEST_F(Nvtx, PushedRangesAreNested) {
  EXPECT_EQ(nvtxRangePushA("outer"), 0);
  EXPECT_EQ(nvtxRangePushW(L"w\u00fcnsche \u2192 \U0001F600"), 1);
  EXPECT_EQ(nvtxRangePop(), 1);
  EXPECT_EQ(nvtxRangePop(), 0);
  EXPECT_EQ(nvtxRangePop(), -1);
  EXPECT_THAT(told, ElementsAre("+outer", "+w\u00fcnsche \u2192 \U0001F600",
                                "-w\u00fcnsche \u2192 \U0001F600", "-outer"));
}

TEST_F(Nvtx, StartedRangesEndInAnyOrder) {
  const nvtxRangeId_t first = nvtxRangeStartA("first");
  const nvtxRangeId_t second = nvtxRangeStartW(L"second");
  nvtxRangeEnd(first);
  nvtxRangeEnd(second);
  nvtxRangeEnd(second);
  EXPECT_THAT(told, ElementsAre("+first", "+second", "-first", "-second"));
}

TEST_F(Nvtx, RegisteredNamesOfDomains) {
  // As the nvtx package of Python announces its ranges.
  const nvtxDomainHandle_t one = nvtxDomainCreateA("one");
  const nvtxDomainHandle_t two = nvtxDomainCreateW(L"two");
  ASSERT_NE(one, nullptr);
  ASSERT_NE(one, two);
  nvtxEventAttributes_t attributes = event();
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(one, "region");
  nvtxDomainRangePushEx(one, &attributes);
  attributes.message.registered = nvtxDomainRegisterStringW(two, L"other");
  nvtxDomainRangePushEx(two, &attributes);
  nvtxDomainRangePop(one);  // each domain has a stack of its own
  const nvtxRangeId_t id = nvtxDomainRangeStartEx(two, &attributes);
  nvtxDomainRangeEnd(two, id);
  nvtxDomainRangePop(two);
  EXPECT_THAT(told, ElementsAre("+region", "+other", "-region", "+other", "-other", "-other"));
}

TEST_F(Nvtx, EventsWithoutATextHaveAnEmptyName) {
  nvtxEventAttributes_t attributes = event();
  nvtxRangePushEx(&attributes);
  nvtxRangePushEx(nullptr);
  attributes.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  attributes.message.unicode = L"wide";
  nvtxRangePushEx(&attributes);
  for (int i = 0; i < 3; ++i) nvtxRangePop();
  EXPECT_THAT(told, ElementsAre("+", "+", "+wide", "-wide", "-", "-"));
}

}  // namespace
