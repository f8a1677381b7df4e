// SPDX-License-Identifier: Apache-2.0
#include "recording.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "plumbline/base/json.h"
#include "plumbline/profile/recording.h"

namespace plumbline {
namespace {

using recorder::cover;
using recorder::Launch;
using recorder::Recording;

TEST(Recording, BusyIsTheUnion) {
  const auto result = cover({{10, 20}, {15, 30}, {40, 50}, {42, 45}});
  EXPECT_EQ(result.busy_ns, 30);
  EXPECT_EQ(result.span_ns, 40);
  EXPECT_EQ(cover({}).span_ns, 0);
}

Recording sample() {
  Recording recording;
  recording.devices[0] = "NVIDIA H200";
  recording.calls = 2;
  recording.begin_region();
  for (std::uint64_t call = 0; call < 2; ++call) {
    const std::uint64_t at = 1000 + call * 500;
    recording.add({at, at + 100, recording.intern("_Z4gemmPf"), 0, 7, 0});
    recording.add({at + 150, at + 200, recording.intern("copy<\"x\">"), 0, 7, 3});
  }
  return recording;
}

TEST(Recording, BecomesATable) {
  const auto table = table_of_recordings({{sample().json(), "r"}});
  ASSERT_TRUE(table.ok()) << table.diagnostics[0].message;
  ASSERT_EQ(table.value->kernels.size(), 2U);
  EXPECT_EQ(table.value->source, "recorder");
  EXPECT_EQ(table.value->device, "NVIDIA H200");
  EXPECT_EQ(table.value->kernels[0].name, "gemm(float*)");
  EXPECT_EQ(table.value->kernels[0].identity, "gemm");
  EXPECT_EQ(table.value->kernels[0].launches, 2);
  EXPECT_EQ(table.value->kernels[0].time_ns, 200);
  EXPECT_EQ(table.value->kernels[1].name, "copy<\"x\">");
  EXPECT_EQ(table.value->time_ns_per_call, 150);
  EXPECT_EQ(table.value->busy_ns, 300);
  EXPECT_EQ(table.value->gaps_ns, 400);
  EXPECT_EQ(table.value->streams, 1);
  EXPECT_EQ(table.value->account.kept, 4);
}

TEST(Recording, TheHarnessOwnKernelsAreLeftOut) {
  Recording recording = sample();
  recording.add({1, 900, recording.intern("plumbline_block"), 0, 7, 0});
  recording.add({1900, 1905, recording.intern("plumbline_stamp"), 0, 7, 0});
  const auto table = table_of_recordings({{recording.json(), "r"}});
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table.value->kernels.size(), 2U);
  EXPECT_EQ(table.value->busy_ns, 300);
  EXPECT_EQ(table.value->gaps_ns, 400);
  EXPECT_EQ(table.value->account.rows, 6);
  EXPECT_EQ(table.value->account.kept, 4);
  EXPECT_EQ(table.value->account.ignored, 2);
}

TEST(Recording, CallsOfTheCallerWin) {
  const auto table = table_of_recordings({{sample().json(), "r"}}, {1, {}});
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table.value->calls, 1);
  EXPECT_EQ(table.value->time_ns_per_call, 300);
}

std::string code_of(const Parsed<KernelTable>& table) {
  return table.ok() ? "" : table.diagnostics.front().code;
}

TEST(Recording, LostRecordsRefuse) {
  Recording lost = sample();
  lost.dropped = 1;
  EXPECT_EQ(code_of(table_of_recordings({{lost.json(), "r"}})), "record-lost");
  Recording broken = sample();
  broken.add({500, 400, 0, 0, 7, 0});
  EXPECT_EQ(broken.broken, 1);
  EXPECT_EQ(code_of(table_of_recordings({{broken.json(), "r"}})), "record-lost");
}

TEST(Recording, RefusalsAreNamed) {
  Recording nothing;
  EXPECT_EQ(code_of(table_of_recordings({{nothing.json(), "r"}})), "record-no-region");
  EXPECT_EQ(code_of(table_of_recordings({})), "record-no-region");
  nothing.error = "libcupti was not found";
  EXPECT_EQ(code_of(table_of_recordings({{nothing.json(), "r"}})), "record-failed");
  EXPECT_EQ(code_of(table_of_recordings({{sample().json(), "a"}, {sample().json(), "b"}})),
            "record-several-processes");
  Recording two = sample();
  two.add({5000, 5001, 0, 1, 7, 0});
  EXPECT_EQ(code_of(table_of_recordings({{two.json(), "r"}})), "record-several-devices");
  EXPECT_EQ(code_of(table_of_recordings({{sample().json(), "r"}}, {{}, 3})), "record-several-devices");
  for (const char* text : {"", "{", "[]", "{\"schema\": \"plumbline-recording/2\"}",
                           "{\"schema\": \"plumbline-recording/1\", \"pid\": \"x\"}"}) {
    EXPECT_EQ(code_of(table_of_recordings({{text, "r"}})), "record-malformed") << text;
  }
}

TEST(Recording, AChildThatLaunchedNothingDoesNotMatter) {
  Recording idle;
  EXPECT_TRUE(table_of_recordings({{idle.json(), "a"}, {sample().json(), "b"}}).ok());
}

TEST(Recording, JsonIsJsonForAnyName) {
  Recording recording;
  recording.begin_region();
  recording.add({1, 2, recording.intern("a\"b\\c\n\x01"), 0, 7, 0});
  recording.add({3, 4, recording.intern(nullptr), 0, 7, 0});
  const auto json = parse_json(recording.json(), "r");
  ASSERT_TRUE(json.ok()) << json.diagnostics[0].message;
  EXPECT_EQ((*json.value)["kernels"][0]["name"], "a\"b\\c\n\x01");
}

TEST(Recording, LaunchesAsCsv) {
  const std::string csv = sample().launches_csv();
  EXPECT_NE(csv.find("1,\"gemm(float*)\",0,7,0,1000,1100\n"), std::string::npos);
  EXPECT_NE(csv.find("\"copy<\"\"x\"\">\""), std::string::npos);
}

TEST(Recording, ManyLaunchesAreSummedRight) {
  constexpr std::int64_t kMany = 200'000;
  Recording recording;
  recording.begin_region();
  for (std::uint64_t i = 0; i < std::uint64_t{kMany}; ++i)
    recording.add({1 + i * 10, 6 + i * 10, recording.intern("k"), 0, 7, 0});
  const auto table = table_of_recordings({{recording.json(), "r"}});
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table.value->kernels[0].launches, kMany);
  EXPECT_EQ(table.value->busy_ns, 1e6);
}

}  // namespace
}  // namespace plumbline
