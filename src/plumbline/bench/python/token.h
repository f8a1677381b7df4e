// SPDX-License-Identifier: Apache-2.0
// Tokens of Python source, as CPython's own tokenizer cuts them (3.8 to 3.13, f-strings as in PEP 701).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::python {

/// What a token is. Each operator and each hard keyword is a kind of its own.
enum class Token : std::uint8_t {
  end,
  newline,
  indent,
  dedent,
  name,
  number,
  string,
  fstring_start,
  fstring_middle,
  fstring_end,
  lpar,
  rpar,
  lsqb,
  rsqb,
  lbrace,
  rbrace,
  comma,
  colon,
  semi,
  dot,
  ellipsis,
  at,
  equal,
  arrow,
  walrus,
  exclaim,
  plus,
  minus,
  star,
  double_star,
  slash,
  double_slash,
  percent,
  amp,
  bar,
  caret,
  lshift,
  rshift,
  tilde,
  less,
  greater,
  less_equal,
  greater_equal,
  equal_equal,
  not_equal,
  augmented,  ///< any of += -= *= and so on
  kw_false,
  kw_none,
  kw_true,
  kw_and,
  kw_as,
  kw_assert,
  kw_async,
  kw_await,
  kw_break,
  kw_class,
  kw_continue,
  kw_def,
  kw_del,
  kw_elif,
  kw_else,
  kw_except,
  kw_finally,
  kw_for,
  kw_from,
  kw_global,
  kw_if,
  kw_import,
  kw_in,
  kw_is,
  kw_lambda,
  kw_nonlocal,
  kw_not,
  kw_or,
  kw_pass,
  kw_raise,
  kw_return,
  kw_try,
  kw_while,
  kw_with,
  kw_yield,
};

/// Flags of a token: what the parser must know of a literal without reading it again.
enum TokenFlag : std::uint8_t {
  kFlagImaginary = 1,  ///< number: ends in j
  kFlagFloat = 2,      ///< number: has a fraction or an exponent
  kFlagBytes = 1,      ///< string: a bytes literal
  kFlagNonAscii = 1,   ///< name: holds other than ASCII, so it must be normalised
};

/// One token: a half-open range of bytes of the source.
struct TokenSpan {
  Token kind = Token::end;
  std::uint8_t flags = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// Why a source is not Python. It is thrown inside the reader alone; parse.h turns it into a diagnostic.
struct SyntaxFailure {
  std::size_t offset;
  std::string message;
};

/// All tokens of `source` (line ends already '\n', valid UTF-8, no NUL, under 4 GiB), the last one
/// Token::end. Throws SyntaxFailure.
std::vector<TokenSpan> tokenize(std::string_view source);

}  // namespace plumbline::python
