// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/diagnostics.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "plumbline/base/codes.h"
#include "plumbline/base/files.h"

namespace plumbline {
namespace {

TEST(FormatDiagnostic, IsOneLineWithCodeAndPlace) {
  const Diagnostic d = diagnose("toml-syntax", "expected =", {"window.toml", 12, 3});
  EXPECT_EQ(format_diagnostic(d), "window.toml:12:3: error: expected = [toml-syntax]");
}

TEST(FormatDiagnostic, PutsTheCaretUnderTheColumn) {
  const Diagnostic d = diagnose("toml-syntax", "expected =", {"w", 2, 3});
  EXPECT_EQ(format_diagnostic(d, "a\n\täb\n"), "w:2:3: error: expected = [toml-syntax]\n  \täb\n  \t ^");
}

TEST(FormatDiagnostic, NeverLetsInputDriveTheTerminal) {
  const Diagnostic d = diagnose("file-missing", "no \x1b[2J file", {"a\x1b]0;b"});
  EXPECT_EQ(format_diagnostic(d).find('\x1b'), std::string::npos);
}

TEST(Codes, AreUniqueKebabCaseSlugs) {
  std::set<std::string_view> seen;
  for (const CodeInfo& info : all_codes()) {
    EXPECT_TRUE(seen.insert(info.code).second) << info.code;
    for (const char c : info.code)
      EXPECT_TRUE((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-') << info.code;
  }
  EXPECT_THROW(diagnose("no-such-code", ""), std::logic_error);
}

TEST(Codes, TheDocumentIsTheTable) {
  const auto page = read_text_file(PLUMBLINE_SOURCE_DIR "/docs/diagnostics.md");
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(*page.value, codes_markdown())
      << "regenerate: plumbline explain --all --md > docs/diagnostics.md";
}

}  // namespace
}  // namespace plumbline
