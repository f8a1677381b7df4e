// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/text_table.h"

#include <algorithm>

#include "plumbline/base/text.h"

namespace plumbline {
namespace {

constexpr std::size_t kMarkdownNameChars = 64;

std::string shown(const Cell& cell, std::size_t max_width) {
  const std::string text = one_line(cell.text);
  return max_width > 0 ? cut_middle(text, max_width) : text;
}

std::string_view escape_of(Style style) {
  switch (style) {
    case Style::bold:
      return "\x1b[1m";
    case Style::dim:
      return "\x1b[2m";
    case Style::good:
      return "\x1b[32m";
    case Style::bad:
      return "\x1b[31m";
    case Style::warn:
      return "\x1b[33m";
    case Style::plain:
      break;
  }
  return "";
}

std::vector<std::size_t> column_widths(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (const auto& column : table.columns) widths.push_back(display_width(column.head));
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(shown(row[i], table.columns[i].max_width)));
    }
  }
  return widths;
}

std::string markdown_cell(const Cell& cell) {
  std::string out;
  for (const char c : markdown_text(cut_middle(one_line(cell.text), kMarkdownNameChars))) {
    if (c == '_') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string styled(std::string_view text, Style style, bool color) {
  if (!color || style == Style::plain) return std::string(text);
  return std::string(escape_of(style)) + std::string(text) + "\x1b[0m";
}

std::string render_text(const TextTable& table, bool color, std::size_t indent) {
  const std::vector<std::size_t> widths = column_widths(table);
  const std::string margin(indent, ' ');
  std::string out;
  const auto add_line = [&](const auto& cell_at, std::size_t count) {
    std::string line = margin;
    std::size_t trailing = 0;  // blanks after the last cell are not printed
    for (std::size_t i = 0; i < count; ++i) {
      const auto& [text, style] = cell_at(i);
      const std::size_t pad = widths[i] - std::min(widths[i], display_width(text));
      const bool right = table.columns[i].align == Align::right;
      if (i > 0) line += "  ";
      if (right) line.append(pad, ' ');
      line += styled(text, style, color);
      if (!right) line.append(pad, ' ');
      trailing = right ? 0 : text.empty() ? trailing + pad + (i > 0 ? 2 : 0) : pad;
    }
    line.resize(line.size() - std::min(trailing, line.size()));
    out += line + "\n";
  };
  add_line([&](std::size_t i) { return std::pair<std::string, Style>(table.columns[i].head, Style::bold); },
           table.columns.size());
  for (const auto& row : table.rows) {
    if (row.empty()) {
      std::size_t total = 2 * (widths.empty() ? 0 : widths.size() - 1);
      for (const std::size_t width : widths) total += width;
      std::string rule;
      for (std::size_t i = 0; i < total; ++i) rule += "─";
      out += margin + styled(rule, Style::dim, color) + "\n";
      continue;
    }
    add_line(
        [&](std::size_t i) {
          return std::pair<std::string, Style>(shown(row[i], table.columns[i].max_width), row[i].style);
        },
        std::min(row.size(), table.columns.size()));
  }
  return out;
}

std::string render_markdown(const TextTable& table, std::size_t max_rows) {
  std::string out = "|";
  for (const auto& column : table.columns) out += " " + column.head + " |";
  out += "\n|";
  for (const auto& column : table.columns) out += column.align == Align::right ? "---:|" : "---|";
  out += "\n";
  std::size_t shown_rows = 0;
  std::size_t cut = 0;
  for (const auto& row : table.rows) {
    if (row.empty()) continue;
    if (shown_rows == max_rows) {
      ++cut;
      continue;
    }
    ++shown_rows;
    out += "|";
    for (const Cell& cell : row) out += " " + markdown_cell(cell) + " |";
    out += "\n";
  }
  if (cut > 0) out += "\n" + std::to_string(cut) + " more rows are not shown.\n";
  return out;
}

}  // namespace plumbline
