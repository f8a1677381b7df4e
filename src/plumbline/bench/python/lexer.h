// SPDX-License-Identifier: Apache-2.0
// The tokenizer's state. Private to the python folder.
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "plumbline/bench/python/token.h"

namespace plumbline::python {

/// Cuts one source into tokens; see tokenize().
class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}
  std::vector<TokenSpan> run();

 private:
  /// An f-string that is open. `depth` counts brackets opened inside it; a replacement field is open at each
  /// depth in `fields`; `text` says that literal text (not an expression) comes next.
  struct OpenFstring {
    std::size_t begin = 0;
    char quote = '"';
    bool triple = false;
    bool raw = false;
    bool text = true;
    int depth = 0;
    std::vector<int> fields;
  };
  struct Bracket {
    char open;
    std::size_t at;
  };

  char at(std::size_t i) const { return i < source_.size() ? source_[i] : '\0'; }
  [[noreturn]] static void fail(std::size_t offset, std::string message);
  void push(Token kind, std::size_t begin, std::size_t end, std::uint8_t flags = 0);

  bool line_start();
  bool continuation();
  void indentation(int column, int alternative);
  void line_end();
  void token();
  void word();
  bool string_start(std::size_t begin, std::string_view prefix);
  void string_literal(std::size_t begin, bool raw, bool bytes);
  void check_escapes(std::size_t begin, std::size_t end, bool bytes);
  std::size_t check_escape(std::size_t backslash, std::size_t end, bool bytes);
  void fstring_text();
  bool fstring_brace(std::size_t begin);
  void operator_token();
  bool field_operator(char c);
  void open_bracket(char c, Token kind);
  void close_bracket(char c, Token kind);
  void finish();

  void number();
  std::uint8_t number_radix(std::size_t begin);
  void decimal_digits();
  std::uint8_t fraction_and_exponent(bool after_point);
  void number_end(std::size_t begin, const char* what);

  std::string_view source_;
  std::size_t pos_ = 0;
  bool line_start_ = true;
  std::vector<TokenSpan> tokens_;
  std::vector<Bracket> brackets_;
  std::vector<int> columns_{0};
  std::vector<int> alternatives_{0};
  std::vector<OpenFstring> fstrings_;
  std::set<std::string_view> known_names_;  // of \N{…} escapes: looking one up is slow
};

}  // namespace plumbline::python
