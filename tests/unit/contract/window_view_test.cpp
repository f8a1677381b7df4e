// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/window_view.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "plumbline/contract/check.h"
#include "plumbline/contract/parse.h"

namespace plumbline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

WindowView view_of(const std::string& text) {
  const auto parsed = parse_contract(text, "w");
  EXPECT_TRUE(parsed.ok());
  const ContractVerdict verdict = check_contract(*parsed.value);
  return collect_window(*parsed.value, verdict.findings, verdict.warnings);
}

constexpr const char* kContract = R"([reference]
inputs = ["q", "lse"]
outputs = ["o"]
[student]
inputs = ["q", "raw", "extra"]
outputs = ["o"]
[[asymmetry]]
ref_input = "lse"
class = "price"
derived_from = "raw"
student_kernel_regex = "fwd"
)";

TEST(WindowView, EveryTensorIsOneRow) {
  const WindowView view = view_of(kContract);
  ASSERT_EQ(view.rows.size(), 5U);
  EXPECT_EQ(view.rows[1].tensor, "lse");
  EXPECT_EQ(view.rows[1].entry_class, "price");
  EXPECT_EQ(view.rows[1].payer, "student");
  EXPECT_EQ(view.rows[1].detail, "fwd");
  EXPECT_EQ(view.rows[2].entry_class, "explained");
  EXPECT_EQ(view.rows[3].entry_class, "undeclared");
  EXPECT_TRUE(view.rows[4].output);
  EXPECT_EQ(view.summary, "refused: 1 finding");
}

TEST(WindowView, TheRenderersShowTheSame) {
  const WindowView view = view_of(kContract);
  for (const std::string& text : {render_text(view, Look{}), render_markdown(view)}) {
    EXPECT_THAT(text, HasSubstr("lse is derived from it"));
    EXPECT_THAT(text, HasSubstr("undeclared-student-input"));
    EXPECT_THAT(text, HasSubstr("refused: 1 finding"));
  }
}

TEST(WindowView, AHugeContractStaysBoundedInMarkdown) {
  std::string names;
  for (int i = 0; i < 2000; ++i) names += fmt::format("'{}{}',", std::string(500, 'n'), i);
  const WindowView view = view_of(fmt::format(
      "[reference]\ninputs=[{}]\noutputs=['o']\n[student]\ninputs=['q']\noutputs=['o']\n", names));
  EXPECT_LT(render_markdown(view).size(), 20000U);
  EXPECT_THAT(render_markdown(view), HasSubstr("more rows are not shown"));
}

TEST(WindowView, InputNeverDrivesTheTerminal) {
  const WindowView view = view_of(
      "[reference]\nwindow = \"\\u001b[31m\\n\"\ninputs=[\"a\\u001b[2Jb\\nc\"]\noutputs=['o']\n[student]\n"
      "inputs=['q']\noutputs=['o']\n");
  const std::string text = render_text(view, Look{});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("a\\x1b[2Jb\\nc"));
}

TEST(WindowView, EscapedNamesAreWhole) {
  const WindowView view = view_of(
      "[reference]\ninputs=[\"a\\n\\n\\n\\n\\nb\"]\noutputs=['o']\n[student]\ninputs=['q']\noutputs=['o']\n");
  EXPECT_THAT(render_text(view, Look{}), HasSubstr("  a\\n\\n\\n\\n\\nb  "));
}

TEST(WindowJson, HasTheFieldsOfTheCommandLinePage) {
  const auto parsed = parse_contract(kContract, "w");
  const ContractVerdict verdict = check_contract(*parsed.value);
  const Json json = window_json("", &*parsed.value, verdict.findings, verdict.warnings);
  EXPECT_EQ(json["malformed"], nullptr);
  EXPECT_EQ(json["declared"], true);
  EXPECT_EQ(json["findings"][0]["code"], "undeclared-student-input");
  EXPECT_EQ(json["findings"][0]["line"], 5);
  EXPECT_EQ(json["priced"][0]["regex"], "fwd");
  EXPECT_EQ(window_json("toml-syntax", nullptr, {}, {})["malformed"], "toml-syntax");
}

}  // namespace
}  // namespace plumbline
