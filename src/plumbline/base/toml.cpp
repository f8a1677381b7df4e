// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/toml.h"

#include <algorithm>
#include <charconv>
#include <string>

#include <fmt/format.h>

#include "plumbline/base/text.h"

namespace plumbline {
namespace {

constexpr int kMostRepaired = 16;  // each repaired number costs one more parse

/// A token of the text, as byte offsets.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The byte offset of a position that toml++ gives (columns count code points; a BOM counts none).
std::size_t offset_of(std::string_view text, const toml::source_position& at) {
  std::size_t offset = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  for (toml::source_index line = 1; line < at.line; ++line) {
    const std::size_t newline = text.find('\n', offset);
    if (newline == std::string_view::npos) return text.size();
    offset = newline + 1;
  }
  const auto continues = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80; };
  for (toml::source_index column = 1; column < at.column && offset < text.size(); ++column) {
    ++offset;
    while (offset < text.size() && continues(offset)) ++offset;
  }
  return offset;
}

constexpr int kMaxDepth = 100;

/// The end of the string that begins at `at` (the offset behind its last quote).
std::size_t skip_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string_view triple = quote == '"' ? R"(""")" : "'''";
  const bool multi = text.substr(at, 3) == triple;
  for (std::size_t i = at + (multi ? 3 : 1); i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (multi ? text.substr(i, 3) == triple : text[i] == quote || text[i] == '\n') {
      return i + (multi ? 3 : 1);
    }
  }
  return text.size();
}

/// Where brackets or the parts of a dotted key pass kMaxDepth, or npos: toml++ recurses once a part and would
/// use up the stack. Syntax is the parser's job.
std::size_t too_deep_at(std::string_view text) {
  int brackets = 0, dots = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = skip_string(text, i);
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (c == '[' || c == '{') ++brackets;
    if (c == ']' || c == '}') brackets = std::max(0, brackets - 1);
    if (c == '.') ++dots;
    if (c == '\n' || c == '=' || c == ',' || c == '[' || c == '{') dots = 0;
    if (brackets > kMaxDepth || dots > kMaxDepth) return i;
    ++i;
  }
  return std::string_view::npos;
}

/// The number that ends where toml++ gave up, when it is well formed and merely too large; else an empty
/// span.
Span oversized_number(std::string_view text, const toml::parse_error& error) {
  const std::string_view why = error.description();
  const bool integer = why.find("is not representable in 64 bits") != std::string_view::npos;
  const bool floating = why.find("parsing floating-point") != std::string_view::npos;
  if (!integer && !floating) return {};
  Span span;
  span.begin = span.end = offset_of(text, error.source().begin);
  while (span.begin > 0 &&
         std::string_view("=,[ \t\r\n").find(text[span.begin - 1]) == std::string_view::npos) {
    --span.begin;
  }
  if (integer) return span;
  std::string digits(text.substr(span.begin, span.end - span.begin));
  std::erase(digits, '_');
  if (digits.starts_with('+')) digits.erase(0, 1);
  double value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool too_large =
      read.ec == std::errc::result_out_of_range && read.ptr == digits.data() + digits.size();
  return too_large ? span : Span{};
}

/// What stands for an oversized number. Never longer than it.
std::string_view nearest_number(std::string_view token) {
  const bool negative = token.starts_with('-');
  if (token.size() > 2 && token[0] == '0') return "0x7FFFFFFFFFFFFFFF";  // hexadecimal, octal or binary
  if (token.find_first_of(".eE") != std::string_view::npos) return negative ? "-inf" : "inf";
  return negative ? "-9223372036854775808" : "9223372036854775807";
}

}  // namespace

Location location_of(const toml::source_region& region, const std::string& file) {
  return {file, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

Parsed<toml::table> parse_toml(std::string_view text, const std::string& file) {
  if (const std::size_t deep = too_deep_at(text); deep != std::string_view::npos) {
    const TextPosition at = position_at(text, deep);
    return failed<toml::table>(diagnose("toml-too-deep", fmt::format("nested more than {} deep", kMaxDepth),
                                        {file, at.line, at.column}));
  }
  Diagnostics warnings;
  std::string repaired;
  for (int tries = 0;; ++tries) {
    toml::parse_result result = toml::parse(text, std::string_view(file));
    if (result.succeeded()) return {std::move(result).table(), std::move(warnings)};
    const toml::parse_error& error = result.error();
    const Span span = tries < kMostRepaired ? oversized_number(text, error) : Span{};
    if (span.begin == span.end) {
      return failed<toml::table>(
          diagnose("toml-syntax", std::string(error.description()), location_of(error.source(), file)));
    }
    if (repaired.empty()) repaired = text;
    const std::string token = repaired.substr(span.begin, span.end - span.begin);
    const std::string_view nearest = nearest_number(token);
    const TextPosition at = position_at(text, span.begin);
    warnings.push_back(
        diagnose("toml-number-range",
                 cut_middle(token, 64) + " does not fit into 64 bits and is read as " + std::string(nearest),
                 {file, at.line, at.column}));
    std::fill(repaired.begin() + static_cast<std::ptrdiff_t>(span.begin),
              repaired.begin() + static_cast<std::ptrdiff_t>(span.end), ' ');
    repaired.replace(span.begin, nearest.size(), nearest);
    text = repaired;
  }
}

}  // namespace plumbline
