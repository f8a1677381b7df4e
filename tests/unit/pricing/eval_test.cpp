// SPDX-License-Identifier: Apache-2.0
#include "plumbline/pricing/eval.h"
#include "plumbline/evidence/checks.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "plumbline/base/json_locate.h"

namespace plumbline {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json side(double ms) {
  return {
      {"pipelined_ms", ms}, {"per_call_ms", ms + 0.02}, {"host_tax_ms", 0.02}, {"samples_ms", {ms, ms, ms}}};
}

Json workload(const std::string& name, double student_ms, double ref_ms) {
  return {{"name", name},
          {"student", side(student_ms)},
          {"ref", side(ref_ms)},
          {"ratio", ref_ms / student_ms},
          {"aa_ratio", 1.0001}};
}

/// Ratios 2, 1 and 0.5: the geometric mean is 1, the arithmetic one 1.1667.
Json good() {
  Json performance = {
      {"student_ms", 1.0}, {"ref_ms", 2.0}, {"ratio", 1.0}, {"n_workloads", 3}, {"window", "pipelined"}};
  performance["workloads"] = {workload("a", 1.0, 2.0), workload("b", 2.0, 2.0), workload("c", 4.0, 2.0)};
  return {{"schema_version", 1}, {"op", "demo"}, {"performance", performance}, {"machine", {{"gpu", "GPU"}}}};
}

std::vector<std::string> codes(const Diagnostics& diagnostics) {
  std::vector<std::string> out;
  for (const Diagnostic& d : diagnostics) out.push_back(d.code);
  return out;
}

std::vector<std::string> held(const Json& eval, bool leaderboard = false) {
  const auto parsed = parse_eval(write_json(eval), "eval.json");
  EXPECT_TRUE(parsed.ok());
  return parsed.ok() ? codes(check_eval(*parsed.value, leaderboard)) : std::vector<std::string>{"not parsed"};
}

std::vector<std::string> refused(const std::string& text) {
  const auto parsed = parse_eval(text, "eval.json");
  EXPECT_FALSE(parsed.ok());
  return codes(parsed.diagnostics);
}

TEST(Eval, ReadsWhatTheBenchWrites) {
  const auto parsed = parse_eval(write_json(good()), "eval.json");
  ASSERT_TRUE(parsed.ok());
  const EvalReport& eval = *parsed.value;
  EXPECT_EQ(eval.op, "demo");
  EXPECT_EQ(eval.device, "GPU");
  EXPECT_EQ(eval.student_ms, 1.0);
  ASSERT_EQ(eval.workloads.size(), 3U);
  EXPECT_EQ(eval.campaign, 0U);
  EXPECT_EQ(eval.workloads[1].name, "b");
  EXPECT_THAT(eval.workloads[2].student.samples_ms, ElementsAre(4.0, 4.0, 4.0));
  EXPECT_NEAR(*geometric_ratio(eval), 1.0, 1e-12);
  EXPECT_THAT(check_eval(eval, false), IsEmpty());
}

TEST(Eval, CampaignIsTheMarkedWorkload) {
  Json eval = good();
  eval["performance"]["workloads"][1]["campaign"] = true;
  eval["performance"]["student_ms"] = 2.0;
  const auto parsed = parse_eval(write_json(eval), "eval.json");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value->campaign_workload()->name, "b");
  EXPECT_THAT(check_eval(*parsed.value, false), IsEmpty());
  eval["performance"]["workloads"][2]["campaign"] = true;
  EXPECT_THAT(held(eval), ElementsAre("eval-campaign"));
}

TEST(Eval, TooFewWorkloads) {
  Json eval = good();
  eval["performance"].erase("n_workloads");
  EXPECT_THAT(held(eval), ElementsAre("eval-workloads-too-few"));
  EXPECT_THAT(held(eval, true), IsEmpty());  // a leaderboard's board decides what is timed
  eval["performance"]["n_workloads"] = 2;
  EXPECT_THAT(held(eval), ElementsAre("eval-workloads-too-few", "eval-workload-count"));
}

TEST(Eval, MissingReadings) {
  for (const Json& nothing : {Json(nullptr), Json(0), Json(0.0)}) {
    Json eval = good();
    eval["performance"]["workloads"][1]["ref"]["pipelined_ms"] = nothing;
    eval["performance"]["workloads"][1]["ref"].erase("per_call_ms");
    EXPECT_THAT(held(eval), ElementsAre("eval-reading-missing"));
    eval = good();
    eval["performance"]["student_ms"] = nothing;
    EXPECT_THAT(held(eval), ElementsAre("eval-reading-missing"));
    eval = good();
    eval["performance"]["ratio"] = nothing;
    eval["performance"]["workloads"][2]["ratio"] = nothing;
    EXPECT_THAT(held(eval), Contains("eval-reading-missing"));
    eval["performance"].erase("workloads");
    EXPECT_THAT(held(eval), ElementsAre("eval-workloads-unlisted", "eval-reading-missing"));
  }
}

TEST(Eval, LeftOutRatiosAreComputedWithheldOnesAreNot) {
  Json eval = good();
  eval["performance"].erase("ratio");
  eval["performance"]["workloads"][2].erase("ratio");
  EXPECT_THAT(held(eval), IsEmpty());
  EXPECT_NEAR(*raw_ratio(*parse_eval(write_json(eval), "e").value), 1.0, 1e-12);
  eval["performance"]["ratio"] =
      nullptr;  // the readings would give one, and the bench says that there is none
  eval["performance"]["refused"] = {"b: the student changed an input"};
  EXPECT_THAT(held(eval), ElementsAre("eval-refused", "eval-reading-missing"));
  EXPECT_FALSE(raw_ratio(*parse_eval(write_json(eval), "e").value));
  eval = good();
  eval["performance"]["workloads"][1]["ratio"] = nullptr;
  EXPECT_THAT(held(eval), ElementsAre("eval-reading-missing"));
}

TEST(Eval, PerCallSamplesBelongToThePerCallWindow) {
  Json eval = good();
  eval["performance"]["window"] = "per_call";
  eval["performance"]["student_ms"] = 1.02;
  eval["performance"]["ref_ms"] = 2.02;
  for (Json& w : eval["performance"]["workloads"]) w.erase("ratio");
  eval["performance"].erase("ratio");
  eval["performance"]["workloads"][0]["student"]["per_call_samples_ms"] = {1.02, 1.03, 1.01};
  const auto parsed = parse_eval(write_json(eval), "e");
  ASSERT_TRUE(parsed.ok());
  EXPECT_THAT(parsed.value->workloads[0].student.samples_ms, ElementsAre(1.02, 1.03, 1.01));
  EXPECT_THAT(check_eval(*parsed.value, false), IsEmpty());
}

TEST(Eval, ArithmeticMeanIsNoVerdict) {
  Json eval = good();
  eval["performance"]["ratio"] = 1.1667;
  EXPECT_THAT(held(eval), ElementsAre("eval-ratio-mismatch"));
  eval["performance"]["ratio"] = 1.0003;  // rounded to three places it agrees
  EXPECT_THAT(held(eval), IsEmpty());
  eval = good();
  eval["performance"]["workloads"][0]["ratio"] = 2.2;
  EXPECT_THAT(held(eval), Contains("eval-ratio-mismatch"));
}

TEST(Eval, MixedWindows) {
  Json eval = good();
  eval["performance"]["workloads"][0]["student"].erase("pipelined_ms");
  EXPECT_THAT(held(eval), ElementsAre("eval-mixed-window"));
  eval = good();
  eval["performance"]["student_ms"] = 1.02;  // the per-call reading beside a pipelined reference
  EXPECT_THAT(held(eval), ElementsAre("eval-mixed-window"));
  eval["performance"]["student_ms"] = 1.5;
  EXPECT_THAT(held(eval), ElementsAre("eval-campaign"));
  eval = good();
  eval["performance"]["workloads"][2]["student"]["timer"] = "host";
  eval["performance"]["workloads"][2]["ref"]["timer"] = "events";
  EXPECT_THAT(held(eval), ElementsAre("eval-mixed-window"));
}

TEST(Eval, SampleCountsDiffer) {
  Json eval = good();
  eval["performance"]["workloads"][1]["student"]["samples_ms"].erase(0);
  EXPECT_THAT(held(eval), ElementsAre("eval-sample-count"));
}

TEST(Eval, DoubtsAreWarnings) {
  Json eval = good();
  eval["performance"]["workloads"][0]["aa_ratio"] = 2.5;
  eval["performance"]["workloads"][1]["distinguishable"] = false;
  eval["performance"]["workloads"][2]["throttle"] = {"power cap"};
  eval["harness"] = {{"order", "AABB"}};
  const auto parsed = parse_eval(write_json(eval), "eval.json");
  ASSERT_TRUE(parsed.ok());
  const Diagnostics all = check_eval(*parsed.value, false);
  EXPECT_THAT(codes(all), ElementsAre("eval-order", "eval-aa-spread", "eval-aa-spread", "eval-throttled"));
  for (const Diagnostic& d : all) EXPECT_EQ(d.severity, Severity::warning);
}

TEST(Eval, ValuesThatNoReadingHas) {
  Json eval = good();
  eval["performance"]["workloads"][1]["student"]["pipelined_ms"] = -2.0;
  const auto parsed = parse_eval(write_json(eval), "eval.json");
  ASSERT_FALSE(parsed.ok());
  ASSERT_THAT(codes(parsed.diagnostics), ElementsAre("eval-value"));
  EXPECT_THAT(parsed.diagnostics[0].message, HasSubstr("performance.workloads[1].student.pipelined_ms"));
  EXPECT_GT(parsed.diagnostics[0].line, 10);
  eval["performance"]["workloads"][1]["student"]["pipelined_ms"] = "2 ms";
  EXPECT_THAT(refused(write_json(eval)), ElementsAre("eval-value"));
  eval = good();
  eval["performance"]["workloads"][0]["ref"]["samples_ms"][2] = nullptr;
  EXPECT_THAT(refused(write_json(eval)), ElementsAre("eval-value"));
  eval["performance"]["workloads"][0]["ref"]["samples_ms"] = std::vector<int>(100'000, -1);
  EXPECT_LT(refused(write_json(eval)).size(), 20U);
}

TEST(Eval, NotFinite) {
  const auto parsed = parse_eval("{\"op\": \"NaN\",\n \"performance\": {\"student_ms\": NaN}}", "eval.json");
  ASSERT_FALSE(parsed.ok());
  ASSERT_THAT(codes(parsed.diagnostics), ElementsAre("eval-not-finite"));
  EXPECT_EQ(parsed.diagnostics[0].line, 2);
  EXPECT_EQ(parsed.diagnostics[0].column, 32);
  EXPECT_THAT(refused("{\"performance\": {\"student_ms\": -Infinity}}"), ElementsAre("eval-not-finite"));
  EXPECT_THAT(refused("{\"performance\": {\"student_ms\": 1e999}}"), ElementsAre("json-syntax"));
  EXPECT_THAT(refused("{\"op\": \"NaN\", }"), ElementsAre("json-syntax"));
}

TEST(Eval, OtherDocuments) {
  EXPECT_THAT(refused("[]"), ElementsAre("eval-schema"));
  EXPECT_THAT(refused("{}"), ElementsAre("eval-schema"));
  EXPECT_THAT(refused("{\"performance\": 3}"), ElementsAre("eval-schema"));
  EXPECT_THAT(refused("{\"performance\": {\"workloads\": {}}}"), ElementsAre("eval-schema"));
  EXPECT_THAT(refused("{\"performance\": {\"workloads\": [3]}}"), ElementsAre("eval-schema"));
  EXPECT_THAT(refused("{\"schema_version\": 2, \"performance\": {}}"), ElementsAre("eval-schema"));
  EXPECT_THAT(refused(""), ElementsAre("json-syntax"));
  EXPECT_THAT(refused(std::string(1000, '[')), ElementsAre("json-too-deep"));
}

TEST(Eval, PrepOfTheCampaignWorkload) {
  Json eval = good();
  eval["performance"]["prep"] = {{"workloads", {{{"name", "b"}, {"ms", 3}}, {{"name", "a"}, {"ms", 0.5}}}}};
  EXPECT_EQ(parse_eval(write_json(eval), "e").value->prep_ms, 0.5);
  eval["performance"]["prep"]["ms"] = 0.25;
  EXPECT_EQ(parse_eval(write_json(eval), "e").value->prep_ms, 0.25);
  EXPECT_FALSE(parse_eval(write_json(good()), "e").value->prep);
}

TEST(LocateJson, ValuesKeysAndParents) {
  const std::string text =
      "{\n  \"a\": [1, {\"b~/\": \"x,]}\"}, 3],\n  \"c\": {\"d\": true}, \"c\": {\"d\": 7}}";
  const auto at = [&](std::string_view pointer) {
    const Location place = locate_json(text, pointer, "f");
    return std::pair(place.line, place.column);
  };
  EXPECT_EQ(at(""), std::pair(1, 1));
  EXPECT_EQ(at("/a"), std::pair(2, 8));
  EXPECT_EQ(at("/a/1/b~0~1"), std::pair(2, 20));
  EXPECT_EQ(at("/a/2"), std::pair(2, 29));
  EXPECT_EQ(at("/c/d"), std::pair(3, 32));
  EXPECT_EQ(at("/c/nothing"), std::pair(3, 26));
  EXPECT_EQ(locate_json("[[", "/0/0/0", "f").line, 1);
  EXPECT_EQ(locate_json("{\"a", "/a", "f").line, 1);
}

}  // namespace
}  // namespace plumbline
