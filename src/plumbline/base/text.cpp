// SPDX-License-Identifier: Apache-2.0
#include "plumbline/base/text.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include <fmt/format.h>

namespace plumbline {
namespace {

struct Decoded {
  char32_t point = 0;
  std::size_t length = 0;  // 0: not UTF-8 here
};

/// One code point of UTF-8 (RFC 3629: no overlong form, no surrogate, at most U+10FFFF).
Decoded decode(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + length > text.size()) return {};
  char32_t point = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return {};
    point = (point << 6) | (byte(at + i) & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  if (point < kLeast[length] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return {};
  return {point, length};
}

/// What Python's str.isspace() holds for: Unicode White_Space plus the separators U+001C..U+001F.
bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

std::size_t previous(std::string_view text, std::size_t end) {
  std::size_t begin = end - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  return begin;
}

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty()) {
    const Decoded d = decode(text, 0);
    if (d.length == 0 || !is_space(d.point)) break;
    text.remove_prefix(d.length);
  }
  while (!text.empty()) {
    const std::size_t begin = previous(text, text.size());
    const Decoded d = decode(text, begin);
    if (d.length != text.size() - begin || !is_space(d.point)) break;
    text = text.substr(0, begin);
  }
  return text;
}

std::vector<std::string_view> split_any(std::string_view text, std::string_view separators, bool on_space) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size();) {
    const Decoded d = i < text.size() ? decode(text, i) : Decoded{0, 1};
    const std::size_t length = std::max<std::size_t>(d.length, 1);
    const bool cut = i == text.size() || separators.find(text[i]) != std::string_view::npos ||
                     (on_space && d.length > 0 && is_space(d.point));
    if (cut) {
      if (i > begin) pieces.push_back(text.substr(begin, i - begin));
      begin = i + length;
    }
    i += length;
  }
  return pieces;
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
  if (name.size() > 64) return {};
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= name.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t swap = diagonal + (name[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({swap, row[j] + 1, row[j - 1] + 1});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = std::string(candidate);
    }
  }
  return best;
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string cut_middle(std::string_view text, std::size_t max_chars) {
  if (display_width(text) <= max_chars) return std::string(text);
  if (max_chars == 0) return {};
  const std::size_t keep = max_chars - 1;
  const std::size_t head_chars = keep - keep / 2;
  std::size_t head = 0;
  for (std::size_t i = 0; i < head_chars; ++i) head += std::max<std::size_t>(decode(text, head).length, 1);
  std::size_t tail = text.size();
  for (std::size_t i = 0; i < keep / 2; ++i) tail = previous(text, tail);
  return std::string(text.substr(0, head)) + "…" + std::string(text.substr(tail));
}

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = decode(text, i).length;
    if (length == 0) return i;
    i += length;
  }
  return {};
}

TextPosition position_at(std::string_view text, std::size_t offset) {
  TextPosition at;
  offset = std::min(offset, text.size());
  for (std::size_t i = 0; i < offset; ++i) {
    if (text[i] == '\n') {
      ++at.line;
      at.column = 1;
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80 &&
               at.column < std::numeric_limits<int>::max()) {
      ++at.column;
    }
  }
  return at;
}

namespace {

/// Code points that a terminal obeys or does not show: control characters, direction marks, invisible spaces
/// and joiners, tags.
bool hides_or_turns(char32_t point) {
  const auto within = [point](char32_t first, char32_t last) { return point >= first && point <= last; };
  return within(0x7F, 0x9F) || point == 0xAD || point == 0x61C || point == 0x180E || within(0x200B, 0x200F) ||
         within(0x2028, 0x202E) || within(0x2060, 0x206F) || point == 0xFEFF || within(0xE0000, 0xE007F);
}

}  // namespace

std::string printable(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const Decoded d = decode(text, i);
    const bool control =
        d.length == 0 || (d.point < 0x20 && d.point != '\t' && d.point != '\n') || hides_or_turns(d.point);
    const std::size_t length = std::max<std::size_t>(d.length, 1);
    if (!control) {
      out += text.substr(i, length);
    } else {
      for (std::size_t k = 0; k < length; ++k) {
        const auto byte = static_cast<unsigned char>(text[i + k]);
        out += "\\x";
        out += kHex[byte >> 4];
        out += kHex[byte & 0xF];
      }
    }
    i += length;
  }
  return out;
}

std::string in_quotes(std::string_view text, std::size_t max_chars) {
  std::string line;
  for (const char c : printable(text)) {
    if (c == '\n' || c == '\t') {
      line += c == '\n' ? "\\n" : "\\t";
    } else {
      line += c;
    }
  }
  return '"' + cut_middle(line, max_chars) + '"';
}

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      out += c;
    }
  }
  return out;
}

std::string printable_list(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out.append(out.empty() ? "" : ", ").append(printable(name));
  return out;
}

std::string markdown_text(std::string_view text) {
  const std::string line = one_line(text);
  const std::string_view all = line;
  std::string out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string_view rest = all.substr(i);
    const bool link = rest.starts_with("](") || rest.starts_with("][") || rest.starts_with("://") ||
                      (all[i] == '.' && all.substr(0, i).ends_with("www"));
    if (link || std::string_view("<>*`\\@|").find(all[i]) != std::string_view::npos) out += '\\';
    out += all[i];
  }
  return out;
}

std::string toml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\u{:04X}", byte);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + '"';
}

}  // namespace plumbline
