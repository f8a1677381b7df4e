// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/text_table.h"

#include <gtest/gtest.h>

namespace plumbline {
namespace {

TextTable sample() {
  return {{{"kernel", Align::left, 8}, {"ns", Align::right, 0}},
          {{"a", "1"}, {}, {Cell("long_kernel_name", Style::good), "1,000"}}};
}

TEST(RenderText, AlignsAndCutsInTheMiddle) {
  EXPECT_EQ(render_text(sample(), false, 1),
            " kernel       ns\n a             1\n ───────────────\n long…ame  1,000\n");
}

TEST(RenderText, ColoursOnlyWhenAsked) {
  EXPECT_EQ(render_text(sample(), false).find('\x1b'), std::string::npos);
  EXPECT_NE(render_text(sample(), true).find("\x1b[32mlong…ame\x1b[0m"), std::string::npos);
}

TEST(RenderMarkdown, EscapesAndBoundsRows) {
  TextTable table{{{"k"}}, {}};
  for (int i = 0; i < 30; ++i) table.rows.push_back({"a|b<c>"});
  const std::string text = render_markdown(table, 2);
  EXPECT_EQ(text, "| k |\n|---|\n| a\\|b\\<c\\> |\n| a\\|b\\<c\\> |\n\n28 more rows are not shown.\n");
}

}  // namespace
}  // namespace plumbline
