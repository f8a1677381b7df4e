// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/text_table.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "plumbline/base/text.h"
#include "plumbline/report/table_layout.h"

namespace plumbline {
namespace {

constexpr std::size_t kMarkdownNameChars = 64;
constexpr std::size_t kLeastRoom = 20;  // a terminal that is narrower is taken for one of that width
constexpr int kSentence = 100;
constexpr std::size_t kLongestCell = 1000;  // without a terminal: longer ones are not names any more

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

std::vector<detail::ColumnNeed> needs_of(const TextTable& table, const Look& look) {
  std::vector<detail::ColumnNeed> needs;
  for (const auto& column : table.columns)
    needs.push_back(
        {0, display_width(column.head), detail::widest_piece(column.head), column.align == Align::left});
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size() && i < needs.size(); ++i) {
      const std::size_t most = look.width > 0 ? table.columns[i].max_width : kLongestCell;
      needs[i].cells = std::max(needs[i].cells, display_width(shown(row[i], most)));
    }
  }
  return needs;
}

/// Has any row a cell in a column of the block beyond its first?
bool has_cells(const TextTable& table, const detail::Block& block) {
  for (std::size_t i = 1; i < block.columns.size(); ++i) {
    const std::size_t column = block.columns[i];
    if (!table.columns[column].head.empty()) return true;
    for (const auto& row : table.rows) {
      if (column < row.size() && !row[column].text.empty()) return true;
    }
  }
  return block.columns.size() <= 1;
}

/// Some columns of a table as lines.
class Lines {
 public:
  Lines(const TextTable& table, const detail::Block& block, bool color, std::size_t indent)
      : table_(table), block_(block), color_(color), margin_(indent, ' ') {}

  std::string all() const {
    std::string out = heads();
    for (const auto& row : table_.rows) out += row.empty() ? rule() : line_of(row);
    return out;
  }

 private:
  std::string heads() const {
    std::vector<std::vector<std::string>> heads;
    std::size_t most = 0;
    for (std::size_t i = 0; i < block_.columns.size(); ++i) {
      heads.push_back(detail::head_lines(table_.columns[block_.columns[i]].head, block_.widths[i]));
      most = std::max(most, heads.back().size());
    }
    std::string out;
    for (std::size_t n = 0; n < most; ++n) {
      out += line(block_.columns.size(), [&](std::size_t i) {
        const std::size_t above = most - heads[i].size();  // heads stand on the cells
        return Cell(n < above ? std::string() : heads[i][n - above], Style::bold);
      });
    }
    return out;
  }

  std::string line_of(const std::vector<Cell>& row) const {
    std::size_t count = 0, most = 1;
    std::vector<std::vector<std::string>> cells;
    for (; count < block_.columns.size() && block_.columns[count] < row.size(); ++count) {
      const Cell& cell = row[block_.columns[count]];
      const std::size_t width = block_.widths[count];
      if (table_.columns[block_.columns[count]].sentences) {
        cells.push_back(detail::sentence_lines(one_line(cell.text), width));
        most = std::max(most, cells.back().size());
      } else {
        cells.push_back({shown(cell, width)});
      }
    }
    std::string out;
    for (std::size_t n = 0; n < most; ++n) {
      out += line(count, [&](std::size_t i) {
        return Cell(n < cells[i].size() ? cells[i][n] : std::string(), row[block_.columns[i]].style);
      });
    }
    return out;
  }

  std::string rule() const {
    std::size_t total = 2 * (block_.widths.size() - 1);
    for (const std::size_t width : block_.widths) total += width;
    std::string out;
    for (std::size_t i = 0; i < total; ++i) out += "─";
    return margin_ + styled(out, Style::dim, color_) + "\n";
  }

  template <class CellAt>
  std::string line(std::size_t count, CellAt cell_at) const {
    std::string out = margin_;
    std::size_t trailing = 0;  // blanks after the last cell are not printed
    for (std::size_t i = 0; i < count; ++i) {
      const Cell cell = cell_at(i);
      const std::size_t width = block_.widths[i];
      const std::size_t pad = width - std::min(width, display_width(cell.text));
      const bool right = table_.columns[block_.columns[i]].align == Align::right;
      if (i > 0) out += "  ";
      if (right) out.append(pad, ' ');
      out += cell.text.empty() ? std::string() : styled(cell.text, cell.style, color_);
      if (!right) out.append(pad, ' ');
      trailing = cell.text.empty() ? trailing + pad + (i > 0 ? 2 : 0) : right ? 0 : pad;
    }
    out.resize(out.size() - std::min(trailing, out.size()));
    return out + "\n";
  }

  const TextTable& table_;
  const detail::Block& block_;
  bool color_;
  std::string margin_;
};

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

int sentence_width(const Look& look) { return look.width > 0 ? look.width : kSentence; }

std::string render_text(const TextTable& table, const Look& look, std::size_t indent) {
  const std::size_t width = look.width > 0 ? static_cast<std::size_t>(look.width) : 0;
  const std::size_t room = width == 0 ? 0 : std::max(width, indent + kLeastRoom) - indent;
  std::string out;
  for (const detail::Block& block : detail::lay_out(needs_of(table, look), room)) {
    if (!out.empty() && !has_cells(table, block)) continue;
    if (!out.empty()) out += "\n";
    out += Lines(table, block, look.color, indent).all();
  }
  return out;
}

void add_bars(TextTable& table, const Look& look, std::size_t after, const std::vector<double>& shares) {
  constexpr int kEnough = 110;
  constexpr double kEighths = 80;  // ten cells
  constexpr std::array<std::string_view, 8> kPart{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (look.width < kEnough || after >= table.columns.size()) return;
  const auto at = static_cast<std::ptrdiff_t>(after) + 1;
  table.columns.insert(table.columns.begin() + at, TextTable::Column{""});
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    auto& row = table.rows[i];
    if (row.size() <= after) continue;
    std::string bar;
    if (i < shares.size() && shares[i] > 0) {
      const auto eighths = static_cast<std::size_t>(std::lround(kEighths * std::min(1.0, shares[i])));
      for (std::size_t n = 0; n < eighths / 8; ++n) bar += "█";
      bar += kPart[eighths % 8];
    }
    row.insert(row.begin() + at, Cell(std::move(bar)));
  }
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
