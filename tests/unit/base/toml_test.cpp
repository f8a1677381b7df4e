// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/toml.h"

#include <gtest/gtest.h>

namespace plumbline {
namespace {

TEST(Toml, LettersOutsideStringsAreASyntaxErrorAtTheirPlace) {
  for (const char* text : {"a = 1\nwindow\xCE\x9B = 1\n", "a = 1\nl\xCE\xA0 = 2", "a = 1\na \xC3\xA9",
                           "a = 1\n\xD0\x96", "a = 1\nb = \xCE\x9B", "a = 1\n[t\xC3\xA9]"}) {
    const auto parsed = parse_toml(text, "a.toml");
    ASSERT_FALSE(parsed.ok()) << text;
    ASSERT_EQ(parsed.diagnostics.size(), 1U) << text;
    EXPECT_EQ(parsed.diagnostics[0].code, "toml-syntax");
    EXPECT_EQ(parsed.diagnostics[0].line, 2) << text;
  }
  EXPECT_TRUE(parse_toml("\"l\xCE\xA0\" = \"\xCE\x9B\"  # \xD0\x96", "a.toml").ok());
}

TEST(Toml, DepthIsBoundedBeforeTheParserRecurses) {
  std::string key = "a";
  for (int i = 0; i < 150000; ++i) key += ".a";
  for (const std::string& text : {key + " = 1", "[" + key + "]", "x = " + std::string(100000, '[')}) {
    const auto result = parse_toml(text, "f");
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.diagnostics[0].code, "toml-too-deep");
  }
  // What only looks deep: strings, comments, many flat keys.
  std::string flat = "a = \"" + std::string(500, '[') + "\"\n# " + std::string(500, '.') + "\nb = '''\n" +
                     std::string(500, '{') + "'''\n";
  for (int i = 0; i < 500; ++i) flat += "k" + std::to_string(i) + ".x = 1.5\n";
  EXPECT_TRUE(parse_toml(flat, "f").ok());
}

}  // namespace
}  // namespace plumbline
