// SPDX-License-Identifier: Apache-2.0
// Aligned tables for a terminal, and the same tables as Markdown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline {

enum class Align { left, right };                        ///< of a column's cells
enum class Style { plain, bold, dim, good, bad, warn };  ///< of a cell, shown only with colour

/// How a report is to look.
struct Look {
  bool color = false;
  int width =
      0;  ///< columns of the terminal; 0: no terminal, and nothing under 1000 characters is cut or broken
};

/// Columns that sentences are broken at: the terminal's, and 100 where there is none.
int sentence_width(const Look& look);

/// A table cell.
struct Cell {
  std::string text;
  Style style = Style::plain;
  Cell(std::string t, Style s = Style::plain) : text(std::move(t)), style(s) {}  // NOLINT: implicit by design
  Cell(const char* t) : text(t) {}                                               // NOLINT
};

/// A table with a header. An empty row renders as a rule.
struct TextTable {
  struct Column {
    std::string head;
    Align align = Align::left;
    std::size_t max_width =
        0;                   ///< on a terminal cells are cut in the middle to this; 0: only where they must
    bool sentences = false;  ///< cells are broken at blanks where they must, not cut
  };
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

/// Aligned text, two blanks between columns, `indent` blanks before each line; no head where every head is
/// empty. What is wider than look.width is made to fit: heads stand on several lines, then left-aligned cells
/// are cut in the middle, and what still has no room goes into further tables below, the first columns again.
std::string render_text(const TextTable& table, const Look& look, std::size_t indent = 0);

/// On a terminal that is wide enough: a column of bars behind column `after`, one a row, `shares` from 0 to 1
/// (negative: none). Elsewhere nothing.
void add_bars(TextTable& table, const Look& look, std::size_t after, const std::vector<double>& shares);

/// A Markdown table of at most `max_rows` rows (what was cut is said below) with names cut to 64 characters.
std::string render_markdown(const TextTable& table, std::size_t max_rows = 25);

/// `text` in a style, when `color`.
std::string styled(std::string_view text, Style style, bool color);

}  // namespace plumbline
