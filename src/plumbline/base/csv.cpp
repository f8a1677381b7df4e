// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/csv.h"

#include "plumbline/base/numbers.h"

#include <algorithm>

namespace plumbline {

bool CsvLine::read(std::string_view line) {
  cells.clear();
  offsets.clear();
  unquoted_.clear();
  if (line.find('"') != line.npos)  // views into its strings stay valid
    unquoted_.reserve(static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')) + 1);
  if (split(line)) return true;
  cells.clear();
  offsets.clear();
  return false;
}

bool CsvLine::split(std::string_view line) {
  for (std::size_t at = 0;; ++at) {  // from behind a comma: a line that ends in one has a last, empty cell
    offsets.push_back(at);
    if (at < line.size() && line[at] == '"') {
      std::string text;
      std::size_t i = at + 1;
      for (;; ++i) {
        if (i >= line.size()) return false;
        if (line[i] == '"' && (i + 1 >= line.size() || line[i + 1] != '"')) break;
        if (line[i] == '"') ++i;
        text += line[i];
      }
      at = i + 1;
      if (at < line.size() && line[at] != ',') return false;
      cells.push_back(unquoted_.emplace_back(std::move(text)));
    } else {
      const std::size_t end = std::min(line.find(',', at), line.size());
      cells.push_back(line.substr(at, end - at));
      at = end;
    }
    if (at >= line.size()) return true;
  }
}

std::string csv_cell(std::string_view text) {
  constexpr std::string_view kFormula = "=+-@\t\r";
  std::string plain;
  if (!text.empty() && kFormula.find(text.front()) != std::string_view::npos && !parse_double(text))
    plain = "'";
  plain += text;
  if (plain.find_first_of(",\"\r\n") == std::string::npos) return plain;
  std::string out = "\"";
  for (const char c : plain) out.append(c == '"' ? 2 : 1, c);
  return out + "\"";
}

}  // namespace plumbline
