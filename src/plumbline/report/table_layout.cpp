// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/table_layout.h"

#include <algorithm>
#include <string_view>

#include "plumbline/base/text.h"

namespace plumbline::detail {
namespace {

constexpr std::size_t kLeastText = 16;  // a name that is cut further says nothing
constexpr std::string_view kHeadBreaks = " _/";
constexpr std::size_t kNarrow = 5;  // of a first column that numbers or marks rows

std::size_t total(const std::vector<std::size_t>& widths) {
  std::size_t sum = widths.empty() ? 0 : 2 * (widths.size() - 1);
  for (const std::size_t width : widths) sum += width;
  return sum;
}

std::size_t natural(const ColumnNeed& need) { return std::max(need.cells, need.head); }

/// With its head on several lines, its cells whole.
std::size_t unbroken(const ColumnNeed& need) { return std::max(need.cells, need.piece); }

std::size_t least(const ColumnNeed& need) {
  return need.text ? std::min(unbroken(need), kLeastText) : unbroken(need);
}

/// Takes columns off `widths`, one at a time from the widest that is above its `floor`, until they fit. False
/// when all are at their floors first.
template <class Floor>
bool take_off(Block& block, const std::vector<ColumnNeed>& needs, std::size_t room, Floor floor) {
  while (total(block.widths) > room) {
    std::size_t widest = block.widths.size();
    for (std::size_t i = 0; i < block.widths.size(); ++i) {
      if (block.widths[i] <= floor(needs[block.columns[i]])) continue;
      if (widest == block.widths.size() || block.widths[i] > block.widths[widest]) widest = i;
    }
    if (widest == block.widths.size()) return false;
    --block.widths[widest];
  }
  return true;
}

/// Widths for columns that are to stand beside each other.
Block fitted(std::vector<std::size_t> columns, const std::vector<ColumnNeed>& needs, std::size_t room,
             bool& fits) {
  Block block{std::move(columns), {}};
  for (const std::size_t column : block.columns) block.widths.push_back(natural(needs[column]));
  fits = room == 0 || take_off(block, needs, room, unbroken) || take_off(block, needs, room, least);
  return block;
}

/// Pieces of a head, each with what follows it: '_' and '/' stay, blanks are dropped where a line ends.
std::vector<std::string> pieces_of(const std::string& head, std::string_view breaks) {
  std::vector<std::string> out(1);
  for (const char c : head) {
    out.back() += c;
    if (breaks.find(c) != breaks.npos) out.emplace_back();
  }
  if (out.back().empty()) out.pop_back();
  return out;
}

std::string without_end_blanks(std::string text) {
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::vector<std::string> lines_of(const std::string& text, std::size_t width, std::string_view breaks) {
  if (text.empty()) return {};
  if (display_width(text) <= width) return {text};
  std::vector<std::string> lines;
  std::string line;
  for (const std::string& piece : pieces_of(text, breaks)) {
    if (!line.empty() && display_width(without_end_blanks(line + piece)) > width) {
      lines.push_back(cut_middle(without_end_blanks(line), width));
      line.clear();
    }
    line += piece;
  }
  lines.push_back(cut_middle(without_end_blanks(line), width));
  return lines;
}

}  // namespace

std::vector<Block> lay_out(const std::vector<ColumnNeed>& needs, std::size_t room) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < needs.size(); ++i) all.push_back(i);
  bool fits = true;
  Block whole = fitted(all, needs, room, fits);
  if (fits) return {whole};
  const std::size_t keys = needs.size() > 1 && natural(needs[0]) <= kNarrow ? 2 : 1;
  std::vector<Block> out;
  for (std::size_t next = keys; next < needs.size();) {
    std::vector<std::size_t> columns(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(keys));
    Block block;
    do {
      columns.push_back(next);
      Block more = fitted(columns, needs, room, fits);
      if (!fits && columns.size() > keys + 1) break;
      block = std::move(more);
      ++next;
    } while (fits && next < needs.size());
    // One column that has no room of its own: its cells are cut after all.
    take_off(block, needs, room, [](const ColumnNeed&) { return std::size_t{1}; });
    out.push_back(std::move(block));
  }
  if (out.empty()) {
    take_off(whole, needs, room, [](const ColumnNeed&) { return std::size_t{1}; });
    out.push_back(std::move(whole));
  }
  return out;
}

std::vector<std::string> head_lines(const std::string& head, std::size_t width) {
  return lines_of(head, width, kHeadBreaks);
}

std::vector<std::string> sentence_lines(const std::string& sentence, std::size_t width) {
  return lines_of(sentence, width, " ");
}

std::size_t widest_piece(const std::string& head) {
  std::size_t widest = 0;
  for (const std::string& piece : pieces_of(head, kHeadBreaks))
    widest = std::max(widest, display_width(without_end_blanks(piece)));
  return widest;
}

}  // namespace plumbline::detail
