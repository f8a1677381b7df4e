// SPDX-License-Identifier: Apache-2.0
#include "plumbline/pricing/matcher.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "plumbline/base/json.h"
#include "plumbline/contract/parse.h"

namespace plumbline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RequiredLiterals, WhatEveryMatchMustHold) {
  EXPECT_THAT(required_literals("flash_fwd"), ElementsAre("flash_fwd"));
  EXPECT_THAT(required_literals("^transpose_copy$"), ElementsAre("transpose_copy"));
  EXPECT_THAT(required_literals("\\bfoo\\b"), ElementsAre("foo"));
  EXPECT_THAT(required_literals("ab+cd?e"), ElementsAre("ab"));
  EXPECT_THAT(required_literals("k\\.fwd<\\d{2,}> x"), ElementsAre("k.fwd<"));
  EXPECT_THAT(required_literals("x(one|two)yz"), ElementsAre("yz"));
  EXPECT_THAT(required_literals("flash(?:_fwd|_bwd)+_k"), ElementsAre("flash"));
  EXPECT_THAT(required_literals("cumsum|solve_[0-9]+"), ElementsAre("cumsum", "solve_"));
  EXPECT_THAT(required_literals("noyau_é?tape"), ElementsAre("noyau_"));
}

TEST(RequiredLiterals, SaysNothingWhereItCannotBeSure) {
  for (const char* pattern : {"(?i)abc", "abc|.", "a|bc", ".*", "a{x|bc}", "ab{", "\\Qab\\E", "[[:alpha:]]bc",
                              "(*UTF)abc", "abc\\", "(abc", "abc)", "\\x41bc", "[ab", "[\\Q]\\E]bc"}) {
    EXPECT_THAT(required_literals(pattern), IsEmpty()) << pattern;
  }
}

/// The shortcut never changes an answer: every pattern of the contract and credit cases on every kernel name.
TEST(NameMatcher, AgreesWithTheRegexAlone) {
  std::set<std::string> patterns = {"(a|b)?c", "a(?:b)c", "x*abc", "abc{0}", "ab{0,1}", "[]ab]c", "a\\|b"};
  std::set<std::string> names = {"", "ac", "abc", "xabc", "a|b", "]c"};
  std::ifstream file(std::string(PLUMBLINE_SOURCE_DIR) + "/tests/conformance/cases/credit.jsonl");
  for (std::string line; std::getline(file, line);) {
    const Json test = Json::parse(line);
    for (const char* key : {"student_kernels", "ref_kernels"}) {
      for (const Json& row : test[key]) names.insert(row["name"].get<std::string>());
    }
    if (!test["toml"].is_string()) continue;
    const auto contract = parse_contract(test["toml"].get<std::string>(), "");
    if (!contract.ok()) continue;
    for (const PricedEntry& entry : priced_entries(*contract.value)) patterns.insert(entry.regex);
  }
  ASSERT_GT(patterns.size(), 100U);
  ASSERT_GT(names.size(), 100U);
  std::size_t filtered = 0;
  for (const std::string& pattern : patterns) {
    const auto plain = Regex::compile(pattern);
    if (!plain.ok()) continue;
    NameMatcher matcher(pattern);
    filtered += required_literals(pattern).empty() ? 0 : 1;
    for (const std::string& name : names) {
      ASSERT_EQ(matcher.search(name), plain.regex[0].search(name)) << pattern << " on " << name;
      ASSERT_EQ(matcher.find_all(name), plain.regex[0].find_all(name)) << pattern << " on " << name;
    }
  }
  EXPECT_GT(filtered, patterns.size() / 3);
}

TEST(NameMatcher, InvalidPatternFindsNothing) {
  NameMatcher matcher("abc(");
  EXPECT_EQ(matcher.search("abc("), Regex::Match::no);
  EXPECT_THAT(matcher.find_all("abc("), IsEmpty());
  NameMatcher not_utf8("abc\xFC");
  EXPECT_EQ(not_utf8.search("abc\xFC"), Regex::Match::no);
}

}  // namespace
}  // namespace plumbline
