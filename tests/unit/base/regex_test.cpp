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

/// Where PCRE2 alone would read the same text otherwise, Python's meaning holds.
TEST(Regex, PythonMeaning) {
  const auto found = [](std::string_view pattern, std::string_view text) {
    const auto compiled = Regex::compile(pattern);
    return compiled.ok() && compiled.regex[0].search(text) == Regex::Match::yes;
  };
  EXPECT_TRUE(found("^xa{,3}y", "xaay"));
  EXPECT_FALSE(found("^xa{,3}y", "xaaaay"));
  EXPECT_TRUE(found("^xa{,}y", "xaaaay"));
  EXPECT_FALSE(found("^xa{,3}y", "xa{,3}y"));
  EXPECT_TRUE(found("a{,x}", "a{,x}"));
  EXPECT_TRUE(found("end\\Z", "the end"));
  EXPECT_FALSE(found("end\\Z", "the end\n"));
  EXPECT_TRUE(found("end$", "the end\n"));
  EXPECT_TRUE(found("^[[:alpha:]]$", ":]"));
  EXPECT_FALSE(found("^[[:alpha:]]$", "b"));
  EXPECT_TRUE(found("^[]a]$", "]"));
  EXPECT_TRUE(found("^[^]a]{2}$", "[{"));
  EXPECT_TRUE(found("[\\]{,2}]x", "{x"));
  const auto broken = Regex::compile("ab{,3}(");
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.offset, 7U);  // of the text as written
}

}  // namespace
}  // namespace plumbline
