// SPDX-License-Identifier: Apache-2.0
// Private to text_table.cpp: which columns stand beside each other, how wide, and heads on several lines.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plumbline/report/text_table.h"

namespace plumbline::detail {

/// What a column needs.
struct ColumnNeed {
  std::size_t cells = 0;  ///< its widest cell
  std::size_t head = 0;   ///< its head on one line
  std::size_t piece = 0;  ///< the widest piece of its head that cannot be broken
  bool text = false;      ///< its cells may be cut, or broken
};

/// Columns that stand beside each other, and their widths.
struct Block {
  std::vector<std::size_t> columns;
  std::vector<std::size_t> widths;
};

/// One block of natural widths where those fit into `room` (0: always), else as many as it takes; the first
/// column (and the second, where the first is narrow) begins each.
std::vector<Block> lay_out(const std::vector<ColumnNeed>& needs, std::size_t room);

/// A head in lines of at most `width`, broken at blanks and behind '_' and '/'; longer pieces are cut.
std::vector<std::string> head_lines(const std::string& head, std::size_t width);
/// A sentence in such lines, broken at blanks.
std::vector<std::string> sentence_lines(const std::string& sentence, std::size_t width);
/// The width of its widest piece.
std::size_t widest_piece(const std::string& head);

}  // namespace plumbline::detail
