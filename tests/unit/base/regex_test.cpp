// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/regex.h"

#include <gtest/gtest.h>

#include <chrono>

namespace plumbline {
namespace {

TEST(Regex, SearchesAnywhere) {
  const auto compiled = Regex::compile("flash_(fwd|bwd)");
  ASSERT_TRUE(compiled.ok());
  EXPECT_EQ(compiled.regex[0].search("void flash_fwd_kernel<T>()"), Regex::Match::yes);
  EXPECT_EQ(compiled.regex[0].search("gemm"), Regex::Match::no);
}

TEST(Regex, AcceptsWhatPythonAuthorsWrite) {
  for (const char* pattern : {"(?P<n>a)(?P=n)", "(?<!x)y", "(?i)ABC", R"(\bk\d+_)", "a{2,}", "^(?:a|b)$"}) {
    EXPECT_TRUE(Regex::compile(pattern).ok()) << pattern;
  }
}

TEST(Regex, SaysWhereAPatternIsWrong) {
  const auto compiled = Regex::compile("a(b");
  ASSERT_FALSE(compiled.ok());
  EXPECT_FALSE(compiled.error.empty());
  EXPECT_EQ(compiled.offset, 3U);
  EXPECT_FALSE(Regex::compile("\\").ok());
}

TEST(Regex, ACatastrophicPatternGivesUpSoon) {
  for (const bool jit : {false, true}) {
    const auto compiled = Regex::compile("(a+)+$", jit);
    ASSERT_TRUE(compiled.ok());
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(compiled.regex[0].search(std::string(60, 'a') + "b"), Regex::Match::limit);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  }
}

TEST(Regex, AnyBytesMayBeSearched) {
  const auto compiled = Regex::compile("b");
  EXPECT_EQ(compiled.regex[0].search("\xff\xfe b"), Regex::Match::yes);
}

TEST(Regex, FindsEveryMatchAndEndsOnEmptyOnes) {
  EXPECT_EQ(Regex::compile("a").regex[0].find_all("abca").size(), 2U);
  EXPECT_EQ(Regex::compile("x*").regex[0].find_all("äb").size(), 3U);
}

}  // namespace
}  // namespace plumbline
