// SPDX-License-Identifier: Apache-2.0
#include "plumbline/contract/parse.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "plumbline/base/toml.h"
#include "plumbline/contract/check.h"
#include "plumbline/contract/scaffold.h"

namespace plumbline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// "code line:column" of each diagnostic.
std::vector<std::string> places(const Diagnostics& diagnostics) {
  std::vector<std::string> out;
  for (const Diagnostic& d : diagnostics) out.push_back(fmt::format("{} {}:{}", d.code, d.line, d.column));
  return out;
}

std::vector<std::string> errors_of(const std::string& text) {
  return places(parse_contract(text, "w").diagnostics);
}

TEST(ParseContract, ReadsEveryField) {
  const auto parsed = parse_contract(R"(schema_version = 1
reference = { window = " bwd ", inputs = ["q", " lse ", "", "q"], outputs = ["dq"] }
student = { inputs = ["q"], outputs = ["dq"] }
[[asymmetry]]
ref_input = " lse "
class = "price"
produced_by = "forward"
derived_from = "q"
student_kernel_regex = " fwd "
note = "n"
)",
                                     "w");
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(parsed.diagnostics.empty());
  const WindowContract& contract = *parsed.value;
  EXPECT_EQ(contract.reference.window.text, "bwd");
  ASSERT_THAT(contract.reference.inputs, SizeIs(2));
  EXPECT_EQ(contract.reference.inputs[1].text, "lse");
  EXPECT_EQ(contract.reference.inputs[1].at.line, 2);
  EXPECT_EQ(contract.reference.inputs[1].at.column, 48);
  ASSERT_THAT(contract.asymmetries, SizeIs(1));
  const Asymmetry& entry = contract.asymmetries[0];
  EXPECT_EQ(entry.kind, EntryKind::ref_input);
  EXPECT_EQ(entry.name.text, "lse");
  EXPECT_EQ(entry.payer_regex().text, "fwd");
  EXPECT_EQ(entry.payer_regex().at.line, 9);
  EXPECT_TRUE(contract.declared());
}

TEST(ParseContract, EveryLoadErrorIsReportedWithItsPlace) {
  EXPECT_THAT(
      errors_of("schema_version = 2\nreference = 1\nasymmetry = 3\n[student]\ninputs = [1]\noutputs = 5\n"),
      ElementsAre("schema-version 1:18", "wrong-type 2:13", "wrong-type 3:13", "wrong-type 5:11",
                  "wrong-type 6:11"));
  EXPECT_THAT(errors_of("[[asymmetry]]\nclass = 'x'\n[[asymmetry]]\nref_input='a'\nref_output='b'\n"
                        "[[asymmetry]]\nref_input='a'\nshape=[1, true]\n"),
              ElementsAre("asymmetry-key 1:1", "asymmetry-key 3:1", "shape-type 8:11"));
  EXPECT_THAT(errors_of("[reference]\nwindow = 7\n"), ElementsAre("wrong-type 2:10"));
}

TEST(ParseContract, AKeyOfAnotherTypeIsNoMissingKey) {
  EXPECT_THAT(errors_of("[[asymmetry]]\nref_input = 1\n"), ElementsAre("wrong-type 2:13"));
}

TEST(ParseContract, AnUnknownKeyIsAWarningWithTheNearestKnownKey) {
  const auto parsed = parse_contract(
      "[reference]\nimputs = []\n[[asymmetry]]\nref_input = 'a'\ncalss = 'price'\nzzz = 1\n", "w");
  ASSERT_TRUE(parsed.ok());
  EXPECT_THAT(places(parsed.diagnostics),
              ElementsAre("unknown-key 2:1", "unknown-key 5:1", "unknown-key 6:1"));
  EXPECT_THAT(parsed.diagnostics[0].message, HasSubstr("did you mean inputs?"));
  EXPECT_THAT(parsed.diagnostics[1].message, HasSubstr("did you mean class?"));
  EXPECT_THAT(parsed.diagnostics[2].message, ::testing::Not(HasSubstr("did you mean")));
  EXPECT_EQ(parsed.diagnostics[0].severity, Severity::warning);
}

TEST(ParseContract, AnUnknownKeyExplainsARefusedFile) {
  // The typo is why the entry has no key: both are said.
  EXPECT_THAT(errors_of("[[asymmetry]]\nref_inptu = 'a'\n"),
              ElementsAre("asymmetry-key 1:1", "unknown-key 2:1"));
}

TEST(ParseContract, CrLfAndABomAreFineALoneCrIsNot) {
  EXPECT_TRUE(
      parse_contract("\xEF\xBB\xBFschema_version = 1\r\n[reference]\r\ninputs = ['a']\r\n", "w").ok());
  EXPECT_THAT(errors_of("schema_version = 1\r[reference]\r"),
              ElementsAre(::testing::StartsWith("toml-syntax")));
}

TEST(ParseContract, ANumberBeyond64BitsIsReadAsTheNearestAndSaid) {
  const auto parsed = parse_contract("a = 1e400\nb = [-99999999999999999999, 0xFFFFFFFFFFFFFFFFFF]\n", "w");
  ASSERT_TRUE(parsed.ok());
  EXPECT_THAT(places(parsed.diagnostics),
              ElementsAre("unknown-key 1:1", "unknown-key 2:1", "toml-number-range 1:5",
                          "toml-number-range 2:6", "toml-number-range 2:29"));
  const auto table = parse_toml("a = -1e400 # c\nb = -99999999999999999999", "w");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ((*table.value)["a"].value<double>(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ((*table.value)["b"].value<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
}

TEST(ParseContract, OnlyTheIntegerOneIsAVersion) {
  for (const char* good : {"1", "+1", "0x1", "0b1", "0o1"}) {
    EXPECT_TRUE(parse_contract(fmt::format("schema_version = {}\n", good), "w").ok()) << good;
  }
  for (const char* bad :
       {"0", "2", "1.0", "true", "'1'", "[1]", "{}", "1979-05-27", "nan", "99999999999999999999"}) {
    const auto parsed = parse_contract(fmt::format("schema_version = {}\n", bad), "w");
    ASSERT_FALSE(parsed.ok()) << bad;
    EXPECT_EQ(parsed.diagnostics[0].code, "schema-version") << bad;
  }
}

TEST(ParseContract, HostileTextIsOneDiagnosticEach) {
  EXPECT_THAT(errors_of(std::string(5000, '[')), SizeIs(1));
  EXPECT_THAT(errors_of("a = " + std::string(5000, '[') + "\n"), SizeIs(1));
  std::string tables = "x";
  for (int i = 0; i < 3000; ++i) tables += ".x";
  EXPECT_LE(errors_of(tables + " = 1\n").size(), 1U);
  EXPECT_THAT(errors_of(std::string("a = 'b\0c'\n", 10)), SizeIs(1));
  EXPECT_THAT(errors_of("a = '\xff'\n"), SizeIs(1));
}

TEST(ParseContract, TheNumberOfErrorsIsBounded) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "[[asymmetry]]\nref_input = 'a'\nshape = 1\n";
  EXPECT_THAT(errors_of(text), SizeIs(20));
}

TEST(ParseContract, TenThousandNamesTakeNoTime) {
  std::string names;
  for (int i = 0; i < 10000; ++i) names += fmt::format("'name_{}', ", i);
  const auto parsed = parse_contract(fmt::format("[reference]\ninputs = [{0}]\noutputs = ['o']\n[student]\n"
                                                 "inputs = [{0}]\noutputs = ['o']\n",
                                                 names),
                                     "w");
  ASSERT_TRUE(parsed.ok());
  EXPECT_THAT(parsed.value->reference.inputs, SizeIs(10000));
  EXPECT_THAT(check_contract(*parsed.value).findings, SizeIs(0));
  EXPECT_THAT(boundary_sets(*parsed.value).both_inputs, SizeIs(10000));
}

TEST(Scaffold, ParsesAndIsUndeclared) {
  const auto parsed = parse_contract(contract_scaffold("my \"card\"\n"), "w");
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(parsed.diagnostics.empty());
  const ContractVerdict verdict = check_contract(*parsed.value);
  EXPECT_THAT(verdict.findings, SizeIs(4));
  EXPECT_EQ(verdict.findings[0].diagnostic.code, "list-empty");
}

TEST(Scaffold, ItsCommentedExamplesAreRead) {
  std::string text = contract_scaffold("card");
  std::string example;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("[") || line.starts_with("# [[") || line.find(" = ") != std::string::npos) {
      example += (line.starts_with("# ") ? line.substr(2) : line) + "\n";
    }
  }
  const auto parsed = parse_contract(example, "w");
  ASSERT_TRUE(parsed.ok()) << format_diagnostic(parsed.diagnostics.front(), example);
  EXPECT_TRUE(parsed.diagnostics.empty()) << format_diagnostic(parsed.diagnostics.front(), example);
  EXPECT_THAT(parsed.value->asymmetries, SizeIs(2));
}

}  // namespace
}  // namespace plumbline
