// SPDX-License-Identifier: Apache-2.0
#include "plumbline/contract/check.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "plumbline/contract/parse.h"

namespace plumbline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A contract in which the reference has `ref_only` and the student `student_only` beside a shared q.
std::string contract(const std::string& entries, const std::string& ref_only = "",
                     const std::string& student_only = "", const std::string& ref_outputs = "",
                     const std::string& student_outputs = "") {
  return fmt::format(
      "[reference]\ninputs = ['q', {}]\noutputs = ['o', {}]\n[student]\ninputs = ['q', {}]\noutputs = ['o', "
      "{}]\n{}",
      ref_only, ref_outputs, student_only, student_outputs, entries);
}

ContractVerdict verdict_of(const std::string& text) {
  const auto parsed = parse_contract(text, "w");
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? check_contract(*parsed.value) : ContractVerdict{};
}

std::vector<std::string> codes(const Findings& findings) {
  std::vector<std::string> out;
  for (const Finding& finding : findings) out.push_back(finding.diagnostic.code);
  return out;
}

std::vector<std::string> codes_of(const std::string& text) { return codes(verdict_of(text).findings); }

TEST(CheckContract, ACleanContractHasNothing) {
  const ContractVerdict verdict = verdict_of(
      contract("[[asymmetry]]\nref_input = 'lse'\nclass = 'price'\nstudent_kernel_regex = 'fwd'\n", "'lse'"));
  EXPECT_THAT(verdict.findings, IsEmpty());
  EXPECT_THAT(verdict.warnings, IsEmpty());
}

TEST(CheckContract, EachEmptyListIsOneFindingAndNothingElseIsSaid) {
  const ContractVerdict verdict =
      verdict_of("[reference]\ninputs = ['q']\n[student]\noutputs = [' ']\n[[asymmetry]]\nref_input = 'x'\n");
  EXPECT_THAT(codes(verdict.findings), ElementsAre("list-empty", "list-empty", "list-empty"));
  EXPECT_EQ(verdict.findings[0].list, "[student].inputs");
  EXPECT_EQ(verdict.findings[0].diagnostic.line, 3);  // the side's table, since the list is missing
  EXPECT_EQ(verdict.findings[2].list, "[student].outputs");
  EXPECT_EQ(verdict.findings[2].diagnostic.line, 4);
  EXPECT_EQ(verdict.findings[2].diagnostic.column, 11);
}

TEST(CheckContract, OneSidedNamesAreFoundInTheOrderOfTheLists) {
  const ContractVerdict verdict = verdict_of(contract("", "'a'", "'b'", "'c'", "'d'"));
  EXPECT_THAT(codes(verdict.findings), ElementsAre("undeclared-ref-input", "undeclared-student-input",
                                                   "undeclared-ref-output", "undeclared-student-output"));
  EXPECT_EQ(verdict.findings[0].diagnostic.line, 2);
  EXPECT_EQ(verdict.findings[0].diagnostic.column, 16);
  EXPECT_THAT(verdict.findings[0].diagnostic.message, HasSubstr("ref_input = \"a\""));
}

TEST(CheckContract, DerivedFromExplainsTheOtherSidesInputsOnly) {
  EXPECT_THAT(codes_of(contract("[[asymmetry]]\nref_input = 'a'\nclass = 'accept'\nderived_from = 'b d'\n",
                                "'a'", "'b'", "", "'d'")),
              ElementsAre("undeclared-student-output"));
  EXPECT_THAT(codes_of(contract("[[asymmetry]]\nref_input = 'a'\nclass = 'accept'\nderived_from = 'c'\n",
                                "'a', 'c'")),
              ElementsAre("undeclared-ref-input"));
}

TEST(CheckContract, ADuplicateIsNotExaminedAndExplainsNothing) {
  EXPECT_THAT(codes_of(contract("[[asymmetry]]\nref_input = 'a'\nclass = 'accept'\n"
                                "[[asymmetry]]\nref_input = 'a'\nclass = 'nonsense'\nderived_from = 'b'\n",
                                "'a'", "'b'")),
              ElementsAre("duplicate-entry", "undeclared-student-input"));
}

TEST(CheckContract, AnEntryIsExaminedInTheStatedOrder) {
  EXPECT_THAT(
      codes_of(contract("[[asymmetry]]\nref_input = 'a'\nclass = 'symmetrize'\nproduced_by = 'nobody'\n"
                        "ref_kernel_regex = 'x'\nstudent_kernel_regex = 'y'\n")),
      ElementsAre("name-not-listed", "symmetrize-one-sided", "unknown-producer", "missing-shape",
                  "missing-dtype", "regex-wrong-side", "regex-not-priced"));
}

TEST(CheckContract, AnUnknownClassStopsTheEntry) {
  const ContractVerdict verdict = verdict_of(
      contract("[[asymmetry]]\nref_input = 'a'\nclass = 'symmetrise'\nproduced_by = 'nobody'\n", "'a'"));
  EXPECT_THAT(codes(verdict.findings), ElementsAre("unknown-class"));
  EXPECT_THAT(verdict.findings[0].diagnostic.message, HasSubstr("did you mean symmetrize?"));
  EXPECT_EQ(verdict.findings[0].diagnostic.line, 9);
}

TEST(CheckContract, TheSidesOfAnEntry) {
  struct Row {
    const char* entry;
    std::string ref, student, ref_out, student_out;
    std::vector<std::string> codes;
  };
  const std::vector<Row> rows = {
      {"student_output = 'a'\nclass = 'symmetrize'\nshape = [1]\ndtype = 'i8'",
       "",
       "",
       "",
       "'a'",
       {"output-symmetrized"}},
      {"ref_output = 'a'\nclass = 'accept'", "", "", "'a'", "'a'", {"output-on-both-sides"}},
      {"student_input = 'a'\nclass = 'accept'", "'a'", "'a'", "", "", {"input-on-both-sides"}},
      {"student_input = 'a'\nclass = 'symmetrize'\nproduced_by = 'cache'",
       "",
       "'a'",
       "",
       "",
       {"symmetrize-one-sided"}},
      {"student_input = 'a'\nclass = 'symmetrize'\nproduced_by = 'cache'\ndtype = 'i8'",
       "'a'",
       "'a'",
       "",
       "",
       {"stray-shape-dtype"}},
      {"ref_input = 'a'\nclass = 'accept'\nshape = [1]", "'a'", "", "", "", {"stray-shape-dtype"}},
      {"ref_input = 'a'\nclass = 'price'\nref_kernel_regex = '('", "'a'", "", "", "", {"regex-wrong-side"}},
      {"ref_input = 'a'\nclass = 'price'\nstudent_kernel_regex = '('", "'a'", "", "", "", {"regex-invalid"}},
      {"ref_output = 'a'\nclass = 'price'\nref_kernel_regex = 'x'", "", "", "'a'", "", {}},
  };
  for (const Row& row : rows) {
    EXPECT_THAT(codes_of(contract(fmt::format("[[asymmetry]]\n{}\n", row.entry), row.ref, row.student,
                                  row.ref_out, row.student_out)),
                ::testing::ElementsAreArray(row.codes))
        << row.entry;
  }
}

TEST(CheckContract, AnInvalidRegexSaysWhere) {
  const ContractVerdict verdict = verdict_of(
      contract("[[asymmetry]]\nref_input = 'a'\nclass = 'price'\nstudent_kernel_regex = 'é(b'\n", "'a'"));
  ASSERT_THAT(codes(verdict.findings), ElementsAre("regex-invalid"));
  EXPECT_THAT(verdict.findings[0].diagnostic.message, HasSubstr("at character 4"));
  EXPECT_EQ(verdict.findings[0].diagnostic.line, 10);
}

TEST(CheckContract, APriceWithoutARegexWarns) {
  const ContractVerdict verdict =
      verdict_of(contract("[[asymmetry]]\nstudent_output = 'a'\nclass = 'price'\n", "", "", "", "'a'"));
  EXPECT_THAT(verdict.findings, IsEmpty());
  ASSERT_THAT(codes(verdict.warnings), ElementsAre("price-without-regex"));
  EXPECT_EQ(verdict.warnings[0].kind, "student_output");
  EXPECT_EQ(verdict.warnings[0].name, "a");
}

TEST(CheckContract, ARegexThatBacktracksWithoutEndWarns) {
  const auto warnings_of = [](const std::string& regex) {
    return codes(
        verdict_of(
            contract(
                fmt::format("[[asymmetry]]\nref_input = 'a'\nclass = 'price'\nstudent_kernel_regex = '{}'\n",
                            regex),
                "'a'"))
            .warnings);
  };
  for (const char* slow : {"(a+)+$", "(k|k)*$", "([a-z]+)*#$", "(?:a|ab?)+c"}) {
    EXPECT_THAT(warnings_of(slow), ElementsAre("regex-slow")) << slow;
  }
  for (const char* quick :
       {"flash_fwd", "void (?:at::native|cub)::", "nvjet_[a-z]+_\\d+x\\d+", "chunk.*fwd.*h$"}) {
    EXPECT_THAT(warnings_of(quick), IsEmpty()) << quick;
  }
}

TEST(CheckContract, AHugeNameIsCutInTheMessageAndWholeInTheData) {
  const std::string huge(10000, 'n');
  const ContractVerdict verdict = verdict_of(contract("", "'" + huge + "'"));
  ASSERT_THAT(codes(verdict.findings), ElementsAre("undeclared-ref-input"));
  EXPECT_LT(verdict.findings[0].diagnostic.message.size(), 400U);
  EXPECT_EQ(verdict.findings[0].name, huge);
}

TEST(Payers, FollowTheKind) {
  EXPECT_EQ(payer_of(EntryKind::ref_input), Payer::student);
  EXPECT_EQ(payer_of(EntryKind::student_output), Payer::student);
  EXPECT_EQ(payer_of(EntryKind::student_input), Payer::reference);
  EXPECT_EQ(payer_of(EntryKind::ref_output), Payer::reference);
}

TEST(Entries, PricedUnpricedAndPrepAreAnsweredForAnUndeclaredContractToo) {
  const auto parsed = parse_contract(
      "[[asymmetry]]\nref_input = 'a'\nclass = 'price'\nstudent_kernel_regex = 'x'\n"
      "[[asymmetry]]\nref_output = 'b'\nclass = 'price'\nstudent_kernel_regex = 'x'\n"
      "[[asymmetry]]\nref_input = 'c'\nclass = 'symmetrize'\n"
      "[[asymmetry]]\nref_input = 'd'\nclass = 'symmetrize'\nproduced_by = 'cache'\n",
      "w");
  ASSERT_TRUE(parsed.ok());
  EXPECT_FALSE(parsed.value->declared());
  const auto priced = priced_entries(*parsed.value);
  ASSERT_EQ(priced.size(), 1U);
  EXPECT_EQ(priced[0].name, "a");
  EXPECT_EQ(priced[0].payer, Payer::student);
  const auto unpriced = unpriced_entries(*parsed.value);
  ASSERT_EQ(unpriced.size(), 1U);
  EXPECT_EQ(unpriced[0].payer, Payer::reference);
  const auto prep = prep_entries(*parsed.value);
  ASSERT_EQ(prep.size(), 1U);
  EXPECT_EQ(prep[0]->name.text, "c");
}

TEST(ExplainedInputs, AreThoseOfTheChecks) {
  const auto parsed =
      parse_contract(contract("[[asymmetry]]\nref_input = 'a'\nclass = 'x'\nderived_from = 'b,c b'\n"
                              "[[asymmetry]]\nstudent_input = 's'\nderived_from = 'r'\n"
                              "[[asymmetry]]\nref_input = 'a'\nderived_from = 'z'\n"
                              "[[asymmetry]]\nref_output = 'a'\nderived_from = 'y'\n"),
                     "w");
  ASSERT_TRUE(parsed.ok());
  const ExplainedInputs explained = explained_inputs(*parsed.value);
  EXPECT_THAT(explained.student, ElementsAre("b", "c"));
  EXPECT_THAT(explained.reference, ElementsAre("r"));
}

}  // namespace
}  // namespace plumbline
