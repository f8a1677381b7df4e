// SPDX-License-Identifier: Apache-2.0
// Numbers, strings and f-strings.
#include <cstring>

#include "plumbline/base/text.h"
#include "plumbline/bench/python/lexer.h"
#include "plumbline/bench/python/unicode.h"

namespace plumbline::python {
namespace {

constexpr std::size_t kMaxFieldNesting = 3;  // CPython: MAX_EXPR_NESTING

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f'); }
bool is_word_char(char c) {
  return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' ||
         static_cast<unsigned char>(c) >= 128;
}

}  // namespace

// ---- numbers --------------------------------------------------------------------------------------

/// A number may touch a keyword that can follow it ("1if x else y"); any other word character is an error.
void Lexer::number_end(std::size_t begin, const char* what) {
  const std::string_view rest = source_.substr(pos_, 4);
  for (const std::string_view word : {"and", "else", "for", "if", "in", "is", "or", "not"}) {
    if (rest.starts_with(word)) return;
  }
  if (is_word_char(at(pos_))) fail(begin, std::string("invalid ") + what + " literal");
}

/// Digits with single underscores between them.
void Lexer::decimal_digits() {
  while (true) {
    while (is_digit(at(pos_))) ++pos_;
    if (at(pos_) != '_') return;
    if (!is_digit(at(pos_ + 1))) fail(pos_, "invalid decimal literal");
    ++pos_;
  }
}

/// 0x, 0o, 0b: pos_ is at the letter.
std::uint8_t Lexer::number_radix(std::size_t begin) {
  const char letter = static_cast<char>(at(pos_) | 32);
  const char* what = letter == 'x' ? "hexadecimal" : letter == 'o' ? "octal" : "binary";
  const auto fits = [&](char c) {
    return letter == 'x' ? is_hex(c) : letter == 'o' ? (c >= '0' && c <= '7') : (c == '0' || c == '1');
  };
  ++pos_;
  do {
    if (at(pos_) == '_') ++pos_;
    if (!fits(at(pos_))) fail(begin, std::string("invalid ") + what + " literal");
    while (fits(at(pos_))) ++pos_;
  } while (at(pos_) == '_');
  if (is_digit(at(pos_))) fail(begin, std::string("invalid digit in ") + what + " literal");
  number_end(begin, what);
  return 0;
}

/// What may follow the whole part: a fraction, an exponent, an imaginary unit. `after_point`: the point is
/// read already. Returns the flags of the literal.
std::uint8_t Lexer::fraction_and_exponent(bool after_point) {
  const std::size_t begin = pos_;
  std::uint8_t flags = after_point ? kFlagFloat : 0;
  if (!after_point && at(pos_) == '.') {
    ++pos_;
    flags = kFlagFloat;
  }
  if (flags != 0 && is_digit(at(pos_))) decimal_digits();
  if ((at(pos_) | 32) == 'e') {
    const bool sign = at(pos_ + 1) == '+' || at(pos_ + 1) == '-';
    if (sign && !is_digit(at(pos_ + 2))) fail(begin, "invalid decimal literal");
    if (sign || is_digit(at(pos_ + 1))) {
      pos_ += sign ? 2 : 1;
      decimal_digits();
      flags |= kFlagFloat;
    }
  }
  if ((at(pos_) | 32) == 'j') {
    ++pos_;
    number_end(begin, "imaginary");
    return static_cast<std::uint8_t>(flags | kFlagImaginary);
  }
  number_end(begin, "decimal");
  return flags;
}

void Lexer::number() {
  const std::size_t begin = pos_;
  std::uint8_t flags = 0;
  if (at(pos_) == '.') {
    ++pos_;
    flags = fraction_and_exponent(true);
  } else if (at(pos_) == '0') {
    const char next = static_cast<char>(at(pos_ + 1) | 32);
    if (next == 'x' || next == 'o' || next == 'b') {
      ++pos_;
      flags = number_radix(begin);
    } else {
      decimal_digits();
      const std::string_view digits = source_.substr(begin, pos_ - begin);
      const bool zero = digits.find_first_not_of("0_") == std::string_view::npos;
      const char after = static_cast<char>(at(pos_) | 32);
      if (!zero && at(pos_) != '.' && after != 'e' && after != 'j') {
        fail(begin, "leading zeros in decimal integer literals are not permitted");
      }
      flags = fraction_and_exponent(false);
      if (!zero && flags == 0) fail(begin, "leading zeros in decimal integer literals are not permitted");
    }
  } else {
    decimal_digits();
    flags = fraction_and_exponent(false);
  }
  push(Token::number, begin, pos_, flags);
}

// ---- strings --------------------------------------------------------------------------------------

/// True when `prefix` is a string prefix: then the literal is read. pos_ is at the quote.
bool Lexer::string_start(std::size_t begin, std::string_view prefix) {
  const std::string lower = to_lower(prefix);
  const bool raw = lower.find('r') != std::string::npos;
  if (lower == "r" || lower == "u" || lower == "b" || lower == "br" || lower == "rb") {
    string_literal(begin, raw, lower.find('b') != std::string::npos);
    return true;
  }
  if (lower != "f" && lower != "fr" && lower != "rf") return false;
  OpenFstring open;
  open.begin = begin;
  open.quote = source_[pos_];
  open.raw = raw;
  open.triple = at(pos_ + 1) == open.quote && at(pos_ + 2) == open.quote;
  pos_ += open.triple ? 3 : 1;
  push(Token::fstring_start, begin, pos_);
  fstrings_.push_back(std::move(open));
  return true;
}

/// A string without fields; pos_ is at its quote.
void Lexer::string_literal(std::size_t begin, bool raw, bool bytes) {
  const char quote = source_[pos_];
  const bool triple = at(pos_ + 1) == quote && at(pos_ + 2) == quote;
  pos_ += triple ? 3 : 1;
  const std::size_t body = pos_;
  bool escapes = false;
  while (true) {
    if (pos_ >= source_.size()) {
      fail(begin, triple ? "unterminated triple-quoted string literal" : "unterminated string literal");
    }
    const char c = source_[pos_];
    if (c == '\\') {
      escapes = true;
      pos_ += 2;
      continue;
    }
    if (c == '\n' && !triple) fail(begin, "unterminated string literal");
    if (c == quote && (!triple || (at(pos_ + 1) == quote && at(pos_ + 2) == quote))) break;
    if (bytes && static_cast<unsigned char>(c) >= 128) {
      fail(pos_, "bytes can only contain ASCII literal characters");
    }
    ++pos_;
  }
  const std::size_t end = pos_;
  pos_ += triple ? 3 : 1;
  if (escapes && bytes) {
    for (std::size_t i = body; i < end; ++i) {
      if (static_cast<unsigned char>(source_[i]) >= 128)
        fail(i, "bytes can only contain ASCII literal characters");
    }
  }
  if (escapes && !raw) check_escapes(body, end, bytes);
  push(Token::string, begin, pos_, bytes ? kFlagBytes : 0);
}

void Lexer::check_escapes(std::size_t begin, std::size_t end, bool bytes) {
  for (std::size_t i = begin; i < end;) {
    const void* next = std::memchr(source_.data() + i, '\\', end - i);
    if (next == nullptr) return;
    i = check_escape(static_cast<std::size_t>(static_cast<const char*>(next) - source_.data()), end, bytes);
  }
}

/// Checks one escape sequence and returns where it ends. An unknown letter is a warning to Python, no error.
std::size_t Lexer::check_escape(std::size_t backslash, std::size_t end, bool bytes) {
  const char letter = at(backslash + 1);
  const std::size_t after = backslash + 2;
  const std::size_t digits = letter == 'x' ? 2 : bytes ? 0 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
  if (digits > 0) {
    char32_t point = 0;
    for (std::size_t i = after; i < after + digits; ++i) {
      if (i >= end || !is_hex(source_[i])) {
        fail(backslash, std::string("truncated \\") + letter + " escape in a string");
      }
      const char c = source_[i];
      point = point * 16 + static_cast<char32_t>(is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
    }
    if (point > 0x10FFFF) fail(backslash, "illegal Unicode character in a string");
    return after + digits;
  }
  if (letter == 'N' && !bytes) {
    const std::size_t close = source_.find('}', after);
    if (at(after) != '{' || close == std::string_view::npos || close >= end || close == after + 1) {
      fail(backslash, "malformed \\N character escape");
    }
    const std::string_view name = source_.substr(after + 1, close - after - 1);
    if (!known_names_.contains(name)) {
      if (!is_character_name(name)) fail(backslash, "unknown Unicode character name");
      known_names_.insert(name);
    }
    return close + 1;
  }
  return after;
}

// ---- f-strings ------------------------------------------------------------------------------------

/// A brace at pos_ in the literal text that began at `begin`. True when the text ends here.
bool Lexer::fstring_brace(std::size_t begin) {
  OpenFstring& open = fstrings_.back();
  const char c = source_[pos_];
  const bool in_spec = !open.fields.empty();
  if (!in_spec && at(pos_ + 1) == c) {
    pos_ += 2;
    return false;
  }
  if (pos_ > begin) push(Token::fstring_middle, begin, pos_);
  if (c == '}') {
    if (!in_spec) fail(pos_, "f-string: single '}' is not allowed");
    close_bracket('}', Token::rbrace);
    return true;
  }
  if (open.fields.size() >= kMaxFieldNesting) fail(pos_, "f-string: expressions nested too deeply");
  open_bracket('{', Token::lbrace);
  fstrings_.back().fields.push_back(fstrings_.back().depth);
  fstrings_.back().text = false;
  return true;
}

/// The literal text of the innermost f-string up to a field, the end of a format specification or the quote.
void Lexer::fstring_text() {
  const std::size_t begin = pos_;
  const struct {
    std::size_t begin;
    char quote;
    bool triple, raw, in_spec;
  } open{fstrings_.back().begin, fstrings_.back().quote, fstrings_.back().triple, fstrings_.back().raw,
         !fstrings_.back().fields.empty()};
  while (true) {
    if (pos_ >= source_.size()) fail(open.begin, "unterminated f-string literal");
    const char c = source_[pos_];
    if (c == '{' || c == '}') {
      if (fstring_brace(begin)) return;
      continue;
    }
    if (c == '\n' && !open.triple) fail(open.begin, "unterminated f-string literal");
    if (c == open.quote && (!open.triple || (at(pos_ + 1) == c && at(pos_ + 2) == c))) {
      if (open.in_spec) fail(pos_, "f-string: expecting '}'");
      if (pos_ > begin) push(Token::fstring_middle, begin, pos_);
      const std::size_t quote = pos_;
      pos_ += open.triple ? 3 : 1;
      push(Token::fstring_end, quote, pos_);
      fstrings_.pop_back();
      return;
    }
    if (c == '\\') {
      const char next = at(pos_ + 1);
      if (next == '{' || next == '}') {
        ++pos_;  // the backslash stands for itself; the brace is one
      } else {
        pos_ = open.raw ? pos_ + 2 : check_escape(pos_, source_.size(), false);
      }
      continue;
    }
    ++pos_;
  }
}

}  // namespace plumbline::python
