// SPDX-License-Identifier: Apache-2.0
#include "plumbline/contract/prep_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plumbline/contract/parse.h"

namespace plumbline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

WindowContract contract(const std::string& more = "") {
  auto parsed = parse_contract(
      fmt::format(
          "[reference]\ninputs = ['q', 'lse']\noutputs = ['o']\n[student]\ninputs = ['q', 'lse']\noutputs = "
          "['o']\n"
          "[[asymmetry]]\nref_input = 'lse'\nclass = 'symmetrize'\nshape = [2, 16]\ndtype = 'fp32'\n{}",
          more),
      "window.toml");
  EXPECT_TRUE(parsed.ok());
  return *parsed.value;
}

/// "code name workload,workload" of each finding.
std::vector<std::string> found(const WindowContract& with, const std::string& report) {
  const auto parsed = parse_json_ordered(report, "eval.json");
  EXPECT_TRUE(parsed.ok()) << report;
  std::vector<std::string> out;
  for (const Finding& finding : check_prep_report(with, *parsed.value, "eval.json")) {
    out.push_back(
        fmt::format("{} {} {}", finding.diagnostic.code, finding.name, fmt::join(finding.workloads, ",")));
  }
  return out;
}

std::string output(const std::string& name, const std::string& shape, const std::string& dtype) {
  return fmt::format(R"("{}": {{"shape": {}, "dtype": "{}"}})", name, shape, dtype);
}

TEST(PrepReport, HoldsWhatIsDeclared) {
  EXPECT_THAT(found(contract(), "{\"outputs\": {" + output("lse", "[2, 16]", "torch.float32") + "}}"),
              IsEmpty());
  EXPECT_THAT(found(contract(), "{\"mutated\": [\"lse\"], \"outputs\": {" + output("x", "[2]", "u8") + "," +
                                    output("lse", "[16, 2]", "bf16") + "}}"),
              ElementsAre("prep-mutated  ", "prep-shape lse ", "prep-dtype lse ", "prep-undeclared x "));
}

TEST(PrepReport, NoReportIsADefectOfTheBench) {
  for (const char* report :
       {"null", "1", "[]", "{}", R"({"outputs": null})", R"({"outputs": []})", R"({"workloads": []})"}) {
    EXPECT_THAT(found(contract(), report), ElementsAre("prep-unreported  ")) << report;
  }
  EXPECT_THAT(check_prep_report(contract(), nullptr)[0].diagnostic.message,
              HasSubstr("no edit of the student"));
}

TEST(PrepReport, OneProblemOfSeveralWorkloadsIsSaidOnce) {
  const std::string good = output("lse", "[2, 16]", "float");
  const std::string bad = output("lse", "[3, 16]", "float");
  EXPECT_THAT(
      found(contract(),
            fmt::format(R"({{"workloads": [{{"name": "a", "outputs": {{{1}}}}}, {{"outputs": {{{0}}}}},
                                                               {{"outputs": {{{1}}}}}, {{"name": "d"}}]}})",
                        good, bad)),
      ElementsAre("prep-shape lse a,2", "prep-unreported  d"));
}

TEST(PrepReport, AWorkloadMayHaveItsOwnShape) {
  const WindowContract with = contract("workload_shapes = { long = [1, 32] }\n");
  EXPECT_THAT(
      found(
          with,
          fmt::format(
              R"({{"workloads": [{{"name": "short", "outputs": {{{}}}}}, {{"name": "long", "outputs": {{{}}}}}]}})",
              output("lse", "[2, 16]", "fp32"), output("lse", "[1, 32]", "fp32"))),
      IsEmpty());
  EXPECT_THAT(found(with, fmt::format(R"({{"workloads": [{{"name": "long", "outputs": {{{}}}}}]}})",
                                      output("lse", "[2, 16]", "fp32"))),
              ElementsAre("prep-shape lse long"));
}

TEST(PrepReport, OddValuesAreFoundAndNeverCrash) {
  for (const char* shape :
       {"\"2,16\"", "{}", "[2, 16.0]", "[2, true]", "[[2, 16]]", "[2, 99999999999999999999]", "7"}) {
    EXPECT_THAT(found(contract(), "{\"outputs\": {" + output("lse", shape, "fp32") + "}}"),
                ElementsAre("prep-shape lse "))
        << shape;
  }
  EXPECT_THAT(found(contract(), R"({"outputs": {"lse": {"shape": [2, 16], "dtype": 5}}})"),
              ElementsAre("prep-dtype lse "));
  EXPECT_THAT(found(contract(), R"({"outputs": {"lse": {"shape": [2, 16]}}})"),
              ElementsAre("prep-dtype lse "));
  EXPECT_THAT(found(contract(), R"({"outputs": {"lse": null}})"), ElementsAre("prep-missing lse "));
}

TEST(PrepReport, AMissingTensorAmongThousandsIsAShortMessage) {
  std::string outputs;
  for (int i = 0; i < 5000; ++i) outputs += fmt::format("{}\"t{}\": null", i > 0 ? "," : "", i);
  const auto parsed = parse_json_ordered("{\"outputs\": {" + outputs + "}}", "eval.json");
  ASSERT_TRUE(parsed.ok());
  const Findings findings = check_prep_report(contract(), *parsed.value);
  ASSERT_EQ(findings.size(), 5001U);
  EXPECT_LT(findings[0].diagnostic.message.size(), 500U);
}

TEST(PrepReport, NothingIsHeldWithoutPrepEntries) {
  const auto undeclared = parse_contract("[[asymmetry]]\nref_input = 'a'\nclass = 'symmetrize'\n", "w");
  EXPECT_THAT(check_prep_report(*undeclared.value, nullptr), IsEmpty());
}

TEST(NormalDtype, ComparesByMeaning) {
  EXPECT_EQ(normal_dtype(" torch.BFloat16\n"), "bf16");
  EXPECT_EQ(normal_dtype("half"), "fp16");
  EXPECT_EQ(normal_dtype("Double"), "fp64");
  EXPECT_EQ(normal_dtype("torch.float8_e4m3fn"), "e4m3");
  EXPECT_EQ(normal_dtype("long"), "i64");
  EXPECT_EQ(normal_dtype("torch.bool"), "bool");
  EXPECT_EQ(normal_dtype("torch.torch.float"), "torch.float");  // one prefix only
  EXPECT_EQ(normal_dtype("complex64"), "complex64");
  EXPECT_EQ(normal_dtype(""), "");
}

}  // namespace
}  // namespace plumbline
