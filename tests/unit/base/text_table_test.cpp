// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/text_table.h"

#include <gtest/gtest.h>

#include "plumbline/base/text.h"

namespace plumbline {
namespace {

TextTable sample() {
  return {{{"kernel", Align::left, 8}, {"ns", Align::right, 0}},
          {{"a", "1"}, {}, {Cell("long_kernel_name", Style::good), "1,000"}}};
}

TEST(RenderText, AlignsAndCutsInTheMiddle) {
  EXPECT_EQ(render_text(sample(), {false, 100}, 1),
            " kernel       ns\n a             1\n ───────────────\n long…ame  1,000\n");
}

TEST(RenderText, ColoursOnlyWhenAsked) {
  EXPECT_EQ(render_text(sample(), {}).find('\x1b'), std::string::npos);
  EXPECT_NE(render_text(sample(), {true, 100}).find("\x1b[32mlong…ame\x1b[0m"), std::string::npos);
}

TEST(RenderText, WithoutATerminalNothingIsCut) {
  EXPECT_EQ(render_text(sample(), {}),
            "kernel               ns\na                     1\n───────────────────────\n"
            "long_kernel_name  1,000\n");
}

TEST(RenderText, HeadsBreakBeforeNamesAreCut) {
  const TextTable table{{{"name"}, {"a_long_head of it", Align::right}},
                        {{"kernel_of_thirty_characters_aa", "7"}}};
  EXPECT_EQ(render_text(table, {false, 42}),
            "                                   a_long_\nname                            head of it\n"
            "kernel_of_thirty_characters_aa           7\n");
}

/// Every line of every table fits, and what does not fit beside is there below.
TEST(RenderText, EveryTableFits) {
  TextTable table{{{"#", Align::right}, {"layer"}},
                  {{"1", "a_layer_with_a_long_name_indeed"}, {}, {"2", "b"}}};
  for (int i = 0; i < 12; ++i) {
    table.columns.push_back({"column_" + std::to_string(i), Align::right});
    table.rows[0].emplace_back(std::to_string(1000 + i));
    table.rows[2].emplace_back(std::to_string(2000 + i));
  }
  for (const int width : {24, 40, 60, 80, 120, 200}) {
    const std::string text = render_text(table, {false, width}, 2);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      EXPECT_LE(display_width(text.substr(at, end - at)), static_cast<std::size_t>(width)) << text;
      at = end + 1;
    }
    for (int i = 0; i < 12; ++i) {
      EXPECT_NE(text.find(std::to_string(1000 + i)), std::string::npos);
      EXPECT_NE(text.find(std::to_string(2000 + i)), std::string::npos);
    }
  }
}

TEST(AddBars, OnlyOnAWideTerminal) {
  TextTable table{{{"share", Align::right}}, {{"50 %"}, {}, {"0 %"}}};
  add_bars(table, {false, 100}, 0, {0.5, -1, 0});
  EXPECT_EQ(table.columns.size(), 1U);
  add_bars(table, {false, 120}, 0, {0.5, -1, 0});
  EXPECT_EQ(render_text(table, {false, 120}), "share\n 50 %  █████\n────────────\n  0 %\n");
}

TEST(RenderMarkdown, EscapesAndBoundsRows) {
  TextTable table{{{"k"}}, {}};
  for (int i = 0; i < 30; ++i) table.rows.push_back({"a|b<c>"});
  const std::string text = render_markdown(table, 2);
  EXPECT_EQ(text, "| k |\n|---|\n| a\\|b\\<c\\> |\n| a\\|b\\<c\\> |\n\n28 more rows are not shown.\n");
}

}  // namespace
}  // namespace plumbline
