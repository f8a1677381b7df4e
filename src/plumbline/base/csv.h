// SPDX-License-Identifier: Apache-2.0
// One line of CSV. Records that run over several lines are read by profile/csv.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline {

/// The cells of a line.
struct CsvLine {
  std::vector<std::string_view> cells;  ///< quoted ones without their quotes, doubled quotes single
  std::vector<std::size_t> offsets;     ///< where each begins in the line, in bytes

  /// Splits `line` at commas; an empty line is one empty cell. False where a quote does not close or
  /// something follows it: there are no cells then. Cells live as long as `line`, and until the next call.
  bool read(std::string_view line);

 private:
  bool split(std::string_view line);
  std::vector<std::string> unquoted_;
};

/// `text` as a cell: in quotes where it must be, and with an apostrophe before it where a spreadsheet would
/// take it for a formula (it begins with = + - @, a tab or a carriage return, and is not a number).
std::string csv_cell(std::string_view text);

}  // namespace plumbline
