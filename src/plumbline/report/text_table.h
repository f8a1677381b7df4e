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
    std::size_t max_width = 0;  ///< cells are cut in the middle to this many characters; 0: never
  };
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

/// Aligned text, two blanks between columns, `indent` blanks before each line. Colour only when asked.
std::string render_text(const TextTable& table, bool color, std::size_t indent = 0);

/// A Markdown table of at most `max_rows` rows (what was cut is said below) with names cut to 64 characters.
std::string render_markdown(const TextTable& table, std::size_t max_rows = 25);

/// `text` in a style, when `color`.
std::string styled(std::string_view text, Style style, bool color);

}  // namespace plumbline
