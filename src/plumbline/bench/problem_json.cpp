// SPDX-License-Identifier: Apache-2.0
// The length of "group" in a leaderboard's problem.json, read as Python's json module reads it: NaN and the
// infinities are numbers, of repeated keys the last one counts, a BOM is refused.
#include <cstdint>
#include <set>
#include <string>

#include "plumbline/base/text.h"
#include "plumbline/bench/check.h"

namespace plumbline {
namespace {

constexpr int kMaxDepth = 900;  // Python gives up near 1000

/// A validating scanner. Every function returns false on what Python refuses.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::optional<std::size_t> group_length() {
    blanks();
    if (peek() != '{') return std::nullopt;
    std::optional<std::size_t> length;
    if (!object(1, nullptr, &length)) return std::nullopt;
    blanks();
    return pos_ == text_.size() ? length : std::nullopt;
  }

 private:
  char peek() const { return pos_ < text_.size() ? text_[pos_] : '\0'; }
  void blanks() {
    while (pos_ < text_.size() && std::string_view(" \t\n\r").find(text_[pos_]) != std::string_view::npos)
      ++pos_;
  }
  bool word(std::string_view expected) {
    if (!text_.substr(pos_).starts_with(expected)) return false;
    pos_ += expected.size();
    return true;
  }

  /// Any value; `length` becomes what len() gives, or none.
  bool value(int depth, std::optional<std::size_t>& length) {
    length.reset();
    if (depth > kMaxDepth) return false;
    std::size_t count = 0;
    switch (peek()) {
      case '{':
        if (!object(depth + 1, &count, nullptr)) return false;
        break;
      case '[':
        if (!array(depth + 1, count)) return false;
        break;
      case '"': {
        std::u32string characters;
        if (!string(characters)) return false;
        count = characters.size();
        break;
      }
      default:
        return number() || word("null") || word("true") || word("false") || word("NaN") || word("Infinity") ||
               word("-Infinity");
    }
    length = count;
    return true;
  }

  bool array(int depth, std::size_t& count) {
    ++pos_;
    blanks();
    if (peek() == ']') return ++pos_, true;
    while (true) {
      blanks();
      std::optional<std::size_t> ignored;
      if (!value(depth, ignored)) return false;
      ++count;
      blanks();
      if (peek() == ']') return ++pos_, true;
      if (peek() != ',') return false;
      ++pos_;
    }
  }

  /// Counts different keys; `group` receives the length of the last value under "group".
  bool object(int depth, std::size_t* count, std::optional<std::size_t>* group) {
    std::set<std::u32string> keys;
    ++pos_;
    blanks();
    if (peek() == '}') return ++pos_, true;
    while (true) {
      blanks();
      std::u32string key;
      if (peek() != '"' || !string(key)) return false;
      blanks();
      if (peek() != ':') return false;
      ++pos_;
      blanks();
      std::optional<std::size_t> length;
      if (!value(depth, length)) return false;
      if (group != nullptr && key == U"group") *group = length;
      if (count != nullptr && keys.insert(key).second) ++*count;
      blanks();
      if (peek() == '}') return ++pos_, true;
      if (peek() != ',') return false;
      ++pos_;
    }
  }

  bool digits() {
    const std::size_t begin = pos_;
    while (peek() >= '0' && peek() <= '9') ++pos_;
    return pos_ > begin;
  }

  /// A number; a fraction or an exponent that is cut short ends it before, and what follows is refused.
  bool number() {
    const std::size_t begin = pos_;
    if (peek() == '-') ++pos_;
    if (peek() == '0') {
      ++pos_;
    } else if (!digits()) {
      pos_ = begin;
      return false;
    }
    const std::size_t whole = pos_;
    if (peek() == '.' && (++pos_, !digits())) pos_ = whole;
    const std::size_t fraction = pos_;
    if ((peek() | 32) == 'e') {
      ++pos_;
      if (peek() == '+' || peek() == '-') ++pos_;
      if (!digits()) pos_ = fraction;
    }
    return true;
  }

  bool hex4(char32_t& unit) {
    if (pos_ + 4 > text_.size()) return false;
    unit = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = text_[pos_++];
      const int digit = c >= '0' && c <= '9'                 ? c - '0'
                        : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                             : -1;
      if (digit < 0) return false;
      unit = unit * 16 + static_cast<char32_t>(digit);
    }
    return true;
  }

  /// A string's code points: a pair of \u surrogates is one, a surrogate alone stays.
  bool string(std::u32string& out) {
    ++pos_;
    while (pos_ < text_.size()) {
      const auto c = static_cast<unsigned char>(text_[pos_++]);
      if (c == '"') return true;
      if (c < 0x20) return false;
      if (c != '\\') {
        // The text is UTF-8: a lead byte brings its high bits, each byte after it six more.
        if (c < 0x80 || c >= 0xC0)
          out += c < 0x80 ? c : c & (c < 0xE0 ? 0x1F : c < 0xF0 ? 0x0F : 0x07);
        else
          out.back() = (out.back() << 6) | (c & 0x3F);
        continue;
      }
      if (pos_ >= text_.size()) return false;
      const char letter = text_[pos_++];
      char32_t unit = 0;
      if (letter == 'u') {
        if (!hex4(unit)) return false;
        char32_t low = 0;
        const std::size_t after = pos_;
        if (unit >= 0xD800 && unit < 0xDC00 && word("\\u") && hex4(low) && low >= 0xDC00 && low < 0xE000) {
          unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        } else {
          pos_ = after;
        }
      } else {
        constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
        const std::size_t which = letters.find(letter);
        if (which == std::string_view::npos) return false;
        unit = static_cast<unsigned char>(meant[which]);
      }
      out += unit;
    }
    return false;
  }

  std::string_view text_;
  std::size_t pos_ = 0;
};

}  // namespace

std::optional<std::size_t> problem_group_length(std::string_view text) {
  if (first_invalid_utf8(text)) return std::nullopt;
  return Scanner(text).group_length();
}

}  // namespace plumbline
