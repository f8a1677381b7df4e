// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/text.h"

#include <gtest/gtest.h>

#include "plumbline/base/toml.h"

#include <array>

namespace plumbline {
namespace {

TEST(Trim, RemovesUnicodeWhiteSpaceAndNothingElse) {
  EXPECT_EQ(trim("  a b \t"), "a b");
  EXPECT_EQ(trim("\u00A0\u3000x\u0085\x1c"), "x");
  EXPECT_EQ(trim("\u200Bx\uFEFF"), "\u200Bx\uFEFF");
  EXPECT_EQ(trim(" \n "), "");
}

TEST(SplitAny, DropsEmptyPieces) {
  EXPECT_EQ(split_any("q, k,,v  w", ",", true), (std::vector<std::string_view>{"q", "k", "v", "w"}));
  EXPECT_EQ(split_any("a\u3000b", ",", true), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_EQ(split_any("a b", ",", false), (std::vector<std::string_view>{"a b"}));
  EXPECT_TRUE(split_any("", ",", true).empty());
}

TEST(NearestName, FindsATypoAndNothingFar) {
  constexpr std::array<std::string_view, 3> kKnown{"student_kernel_regex", "ref_kernel_regex", "shape"};
  EXPECT_EQ(nearest_name("student_kernal_regex", kKnown), "student_kernel_regex");
  EXPECT_EQ(nearest_name("shpae", kKnown), "shape");
  EXPECT_FALSE(nearest_name("zzzzzzzz", kKnown));
}

TEST(CutMiddle, KeepsBothEndsAndNeverCutsACharacter) {
  EXPECT_EQ(cut_middle("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_middle("abcdefgh", 5), "ab…gh");
  EXPECT_EQ(cut_middle("äöüäöüäöü", 4), "äö…ü");
  EXPECT_EQ(display_width(cut_middle(std::string(10000, 'x'), 64)), 64U);
}

TEST(Utf8, FindsTheFirstBadByte) {
  EXPECT_FALSE(first_invalid_utf8("äöü€😀"));
  EXPECT_EQ(first_invalid_utf8("ab\xff"), 2U);
  EXPECT_EQ(first_invalid_utf8("\xc0\xaf"), 0U);      // overlong
  EXPECT_EQ(first_invalid_utf8("\xed\xa0\x80"), 0U);  // surrogate
  EXPECT_EQ(first_invalid_utf8("a\xe2\x82"), 1U);     // truncated
}

TEST(PositionAt, CountsCodePoints) {
  const TextPosition at = position_at("ä\nbö€x", 9);
  EXPECT_EQ(at.line, 2);
  EXPECT_EQ(at.column, 4);
}

TEST(Printable, MakesControlCharactersVisible) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable("ok ä"), "ok ä");
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\u202Ex"), "\\xe2\\x80\\xaex");
}

TEST(Text, QuotesForTomlReadBack) {
  for (const std::string& text : {std::string("a\"b\\c\n\t\x01\x7f"), std::string("ä ⟶ '"), std::string()}) {
    const auto table = parse_toml("v = " + toml_quoted(text), "f");
    ASSERT_TRUE(table.ok()) << text;
    EXPECT_EQ((*table.value)["v"].value<std::string>(), text);
  }
}

TEST(Text, NothingHiddenReachesATerminal) {
  EXPECT_EQ(one_line("a\nb\tc"), "a\\nb\\tc");
  for (const char* hidden : {"\u200b", "\u202e", "\u2066", "\ufeff", "\u00ad", "\U000e0041", "\x1b"}) {
    EXPECT_EQ(printable(std::string("a") + hidden + "b").find(hidden), std::string::npos) << hidden;
  }
}

}  // namespace
}  // namespace plumbline
