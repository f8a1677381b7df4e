// SPDX-License-Identifier: Apache-2.0
// Lines of a table of rows: cells, header, and one row's fields with the first thing wrong with it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/csv.h"
#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"

namespace plumbline {

using Cells = std::vector<std::string_view>;

/// The cells of one line without white space around them; none where a quote does not close.
inline const Cells& split_line(std::string_view line, CsvLine& cells) {
  cells.read(line);
  for (std::string_view& cell : cells.cells) cell = trim(cell);
  return cells.cells;
}

/// The next line without its end; false when the text is used up.
inline bool next_line(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  const std::size_t end = text.find('\n');
  line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

/// A file's header: which column is which.
struct Header {
  std::vector<std::string> names;
  std::optional<std::size_t> find(std::string_view name) const {
    const auto at = std::find(names.begin(), names.end(), name);
    return at == names.end() ? std::nullopt : std::optional<std::size_t>(at - names.begin());
  }
  bool has(std::string_view name) const { return find(name).has_value(); }
};

/// One row being read; the first thing wrong with it is kept.
struct Row {
  const Header& header;
  const Cells& cells;
  std::string wrong{};

  std::string_view text(std::string_view column) const {
    const auto at = header.find(column);
    return at && *at < cells.size() ? cells[*at] : std::string_view{};
  }
  void complain(std::string message) {
    if (wrong.empty()) wrong = std::move(message);
  }
  /// Complains where there are not as many cells as the header has.
  void check_width() {
    if (cells.empty()) return complain("a quote does not close");
    if (cells.size() != header.names.size())
      complain(fmt::format("{} cells where the header has {}", cells.size(), header.names.size()));
  }
  /// A size of at least 1 (and at most 2^40), or `absent` when the cell is empty and that is allowed.
  std::int64_t count(std::string_view column, std::optional<std::int64_t> absent = {}) {
    const std::string_view cell = text(column);
    if (cell.empty() && absent) return *absent;
    const auto value = parse_int(cell);
    if (!value || *value < 1 || *value > (std::int64_t{1} << 40)) {
      complain(fmt::format("{} is '{}': a whole number from 1 is needed", column,
                           printable(cut_middle(cell, 60))));
      return 1;
    }
    return *value;
  }
  bool yes(std::string_view column, bool absent) {
    const std::string_view cell = text(column);
    if (cell.empty()) return absent;
    if (cell == "1" || cell == "true" || cell == "True") return true;
    if (cell == "0" || cell == "false" || cell == "False") return false;
    complain(fmt::format("{} is '{}': 0 or 1 is needed", column, printable(cut_middle(cell, 60))));
    return absent;
  }
};

}  // namespace plumbline
