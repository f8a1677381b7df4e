// SPDX-License-Identifier: Apache-2.0
// Bytes of a Python file to text: BOM, coding cookie, line ends.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>

#include "plumbline/base/text.h"
#include "plumbline/bench/python/unicode.h"
#include "plumbline/bench/syntax.h"

namespace plumbline {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";

/// The encoding that a line declares: "#" at its start (blanks before it), then coding[:=] name (PEP 263).
std::string cookie_of(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\f");
  if (first == std::string_view::npos || line[first] != '#') return {};
  std::size_t at = line.find("coding");
  while (at != std::string_view::npos) {
    std::size_t i = at + 6;
    if (i < line.size() && (line[i] == ':' || line[i] == '=')) {
      ++i;
      while (i < line.size() && (line[i] == ' ' || line[i] == '\t')) ++i;
      std::size_t end = i;
      while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) != 0 ||
                                   std::strchr("-_.", line[end]) != nullptr)) {
        ++end;
      }
      if (end > i) return to_lower(line.substr(i, end - i));
    }
    at = line.find("coding", at + 1);
  }
  return {};
}

/// The cookie counts on the first line, or on the second when the first is blank or a comment.
std::string find_cookie(std::string_view text) {
  for (int line = 0; line < 2; ++line) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const std::string_view content = text.substr(0, end);
    std::string cookie = cookie_of(content);
    if (!cookie.empty()) return cookie;
    const std::size_t first = content.find_first_not_of(" \t\f");
    if (first != std::string_view::npos && content[first] != '#') return {};
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

/// Makes every line end '\n', as Python's universal newlines do. True when a carriage return stood alone.
bool unify_line_ends(std::string& text) {
  bool alone = false;
  std::size_t to = text.find('\r');
  if (to == std::string::npos) return false;
  for (std::size_t from = to; from < text.size(); ++from) {
    if (text[from] != '\r') {
      text[to++] = text[from];
      continue;
    }
    const bool pair = from + 1 < text.size() && text[from + 1] == '\n';
    alone = alone || !pair;
    if (!pair) text[to++] = '\n';
  }
  text.resize(to);
  return alone;
}

}  // namespace

Parsed<PythonSource> decode_python(std::string_view bytes, const std::string& file) {
  PythonSource source;
  const bool bom = bytes.starts_with(kBom);
  if (bom) bytes.remove_prefix(kBom.size());
  source.cookie = find_cookie(bytes);
  if (const auto bad = first_invalid_utf8(bytes)) {
    auto decoded = bom || source.cookie.empty() ? std::nullopt : python::decode(bytes, source.cookie);
    if (!decoded) {
      const TextPosition at = position_at(bytes, *bad);
      const std::string why =
          source.cookie.empty() || source.cookie.starts_with("utf")
              ? "it is not UTF-8 and declares no other encoding"
              : "the encoding '" + source.cookie + "' that it declares does not fit or is not known";
      return failed<PythonSource>(diagnose("bench-unreadable", why, {file, at.line, at.column}));
    }
    source.text = std::move(*decoded);
  } else {
    source.text = bytes;
  }
  source.lone_cr = unify_line_ends(source.text);
  return {std::move(source), {}};
}

}  // namespace plumbline
