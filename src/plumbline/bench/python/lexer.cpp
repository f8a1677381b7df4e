// SPDX-License-Identifier: Apache-2.0
// Lines, indentation, names and operators. The limits and the tab rule are CPython's (Parser/tokenizer.c).
#include "plumbline/bench/python/lexer.h"

#include <array>
#include <cstring>

#include "plumbline/bench/python/unicode.h"

namespace plumbline::python {
namespace {

constexpr std::size_t kMaxBrackets = 200;
constexpr std::size_t kMaxIndents = 100;
constexpr int kTab = 8;

enum CharClass : std::uint8_t { kOther = 0, kWordStart = 1, kDigit = 2 };

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<std::size_t>(c)] = kWordStart;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = kWordStart;
  for (std::size_t c = 128; c < 256; ++c) table[c] = kWordStart;
  for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = kDigit;
  table['_'] = kWordStart;
  return table;
}
constexpr auto kClasses = make_classes();
std::uint8_t class_of(char c) { return kClasses[static_cast<unsigned char>(c)]; }

struct Keyword {
  std::string_view text;
  Token kind;
};
constexpr auto kKeywords = std::to_array<Keyword>({
    {"if", Token::kw_if},
    {"in", Token::kw_in},
    {"is", Token::kw_is},
    {"or", Token::kw_or},
    {"as", Token::kw_as},
    {"and", Token::kw_and},
    {"def", Token::kw_def},
    {"del", Token::kw_del},
    {"for", Token::kw_for},
    {"not", Token::kw_not},
    {"try", Token::kw_try},
    {"None", Token::kw_none},
    {"True", Token::kw_true},
    {"elif", Token::kw_elif},
    {"else", Token::kw_else},
    {"from", Token::kw_from},
    {"pass", Token::kw_pass},
    {"with", Token::kw_with},
    {"False", Token::kw_false},
    {"async", Token::kw_async},
    {"await", Token::kw_await},
    {"break", Token::kw_break},
    {"class", Token::kw_class},
    {"raise", Token::kw_raise},
    {"while", Token::kw_while},
    {"yield", Token::kw_yield},
    {"assert", Token::kw_assert},
    {"except", Token::kw_except},
    {"global", Token::kw_global},
    {"import", Token::kw_import},
    {"lambda", Token::kw_lambda},
    {"return", Token::kw_return},
    {"finally", Token::kw_finally},
    {"continue", Token::kw_continue},
    {"nonlocal", Token::kw_nonlocal},
});

Token keyword_or_name(std::string_view word) {
  if (word.size() < 2 || word.size() > 8) return Token::name;
  for (const Keyword& keyword : kKeywords) {
    if (keyword.text.size() == word.size() && keyword.text[0] == word[0] && keyword.text == word) {
      return keyword.kind;
    }
  }
  return Token::name;
}

struct Operator {
  std::string_view text;
  Token kind;
};
// Longest first: the first that fits is meant.
constexpr auto kOperators = std::to_array<Operator>({
    {"**=", Token::augmented},
    {"//=", Token::augmented},
    {">>=", Token::augmented},
    {"<<=", Token::augmented},
    {"...", Token::ellipsis},
    {"**", Token::double_star},
    {"//", Token::double_slash},
    {">>", Token::rshift},
    {"<<", Token::lshift},
    {"<=", Token::less_equal},
    {">=", Token::greater_equal},
    {"==", Token::equal_equal},
    {"!=", Token::not_equal},
    {"->", Token::arrow},
    {":=", Token::walrus},
    {"+=", Token::augmented},
    {"-=", Token::augmented},
    {"*=", Token::augmented},
    {"/=", Token::augmented},
    {"%=", Token::augmented},
    {"&=", Token::augmented},
    {"|=", Token::augmented},
    {"^=", Token::augmented},
    {"@=", Token::augmented},
    {",", Token::comma},
    {":", Token::colon},
    {";", Token::semi},
    {".", Token::dot},
    {"@", Token::at},
    {"=", Token::equal},
    {"+", Token::plus},
    {"-", Token::minus},
    {"*", Token::star},
    {"/", Token::slash},
    {"%", Token::percent},
    {"&", Token::amp},
    {"|", Token::bar},
    {"^", Token::caret},
    {"~", Token::tilde},
    {"<", Token::less},
    {">", Token::greater},
});

/// For each first character, where its operators lie in kOperators. Almost every operator is one character.
Token match_operator(std::string_view rest, std::size_t& length) {
  for (const Operator& op : kOperators) {
    if (op.text[0] == rest[0] && rest.starts_with(op.text)) {
      length = op.text.size();
      return op.kind;
    }
  }
  length = 0;
  return Token::end;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

}  // namespace

void Lexer::fail(std::size_t offset, std::string message) { throw SyntaxFailure{offset, std::move(message)}; }

void Lexer::push(Token kind, std::size_t begin, std::size_t end, std::uint8_t flags) {
  tokens_.push_back({kind, flags, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
}

std::vector<TokenSpan> Lexer::run() {
  tokens_.reserve(source_.size() / 4 + 8);
  while (true) {
    if (line_start_ && brackets_.empty()) {
      if (!line_start()) continue;
    }
    if (!fstrings_.empty() && fstrings_.back().text) {
      fstring_text();
      continue;
    }
    while (is_blank(at(pos_))) ++pos_;
    if (pos_ >= source_.size()) break;
    token();
  }
  finish();
  return std::move(tokens_);
}

/// A backslash at pos_ joins the next line; false at the end of the source.
bool Lexer::continuation() {
  if (pos_ + 1 < source_.size() && source_[pos_ + 1] != '\n') {
    fail(pos_, "unexpected character after line continuation character");
  }
  if (pos_ + 2 >= source_.size()) fail(pos_, "unexpected end of file after a line continuation");
  pos_ += 2;
  return true;
}

/// Measures the indentation of the line at pos_. False when the line was blank (or the source is at its end
/// and nothing is left to read): then the next line is tried.
bool Lexer::line_start() {
  int column = 0;
  int alternative = 0;
  int joined = 0;  // a backslash inside the indentation: what stood before it counts
  int joined_alternative = 0;
  for (;; ++pos_) {
    const char c = at(pos_);
    if (c == ' ') {
      ++column, ++alternative;
    } else if (c == '\t') {
      column = (column / kTab + 1) * kTab;
      ++alternative;
    } else if (c == '\f') {
      column = alternative = 0;
    } else if (c == '\\') {
      if (joined == 0) joined = column, joined_alternative = alternative;
      continuation();
      --pos_;
    } else {
      break;
    }
  }
  if (joined != 0) column = joined, alternative = joined_alternative;
  if (at(pos_) == '#') {
    const void* end = std::memchr(source_.data() + pos_, '\n', source_.size() - pos_);
    pos_ = end == nullptr ? source_.size()
                          : static_cast<std::size_t>(static_cast<const char*>(end) - source_.data());
  }
  if (pos_ < source_.size() && source_[pos_] == '\n') {
    ++pos_;
    return false;
  }
  line_start_ = false;
  if (pos_ < source_.size()) indentation(column, alternative);
  return true;
}

/// Opens and closes blocks as CPython does: columns must match with tabs of 8 and with tabs of 1.
void Lexer::indentation(int column, int alternative) {
  const auto tabs = [&] { fail(pos_, "inconsistent use of tabs and spaces in indentation"); };
  if (column == columns_.back()) {
    if (alternative != alternatives_.back()) tabs();
    return;
  }
  if (column > columns_.back()) {
    if (columns_.size() >= kMaxIndents) fail(pos_, "too many levels of indentation");
    if (alternative <= alternatives_.back()) tabs();
    columns_.push_back(column);
    alternatives_.push_back(alternative);
    push(Token::indent, pos_, pos_);
    return;
  }
  while (columns_.size() > 1 && column < columns_.back()) {
    columns_.pop_back();
    alternatives_.pop_back();
    push(Token::dedent, pos_, pos_);
  }
  if (column != columns_.back()) fail(pos_, "unindent does not match any outer indentation level");
  if (alternative != alternatives_.back()) tabs();
}

void Lexer::line_end() {
  if (brackets_.empty()) {
    push(Token::newline, pos_, pos_ + 1);
    line_start_ = true;
  }
  ++pos_;
}

void Lexer::finish() {
  if (!fstrings_.empty()) fail(fstrings_.back().begin, "unterminated f-string");
  if (!brackets_.empty()) {
    fail(brackets_.back().at, std::string("'") + brackets_.back().open + "' was never closed");
  }
  const std::size_t end = source_.size();
  if (!tokens_.empty() && tokens_.back().kind != Token::newline && tokens_.back().kind != Token::dedent) {
    push(Token::newline, end, end);
  }
  for (std::size_t i = 1; i < columns_.size(); ++i) push(Token::dedent, end, end);
  push(Token::end, end, end);
}

void Lexer::token() {
  const char c = source_[pos_];
  switch (class_of(c)) {
    case kWordStart:
      return word();
    case kDigit:
      return number();
    default:
      break;
  }
  switch (c) {
    case '\n':
      return line_end();
    case '#': {
      const std::size_t end = source_.find('\n', pos_);
      pos_ = end == std::string_view::npos ? source_.size() : end;
      return;
    }
    case '\\':
      continuation();
      return;
    case '"':
    case '\'':
      string_literal(pos_, false, false);
      return;
    case '.':
      if (class_of(at(pos_ + 1)) == kDigit) return number();
      return operator_token();
    default:
      return operator_token();
  }
}

void Lexer::word() {
  const std::size_t begin = pos_;
  bool ascii = true;
  while (pos_ < source_.size() && class_of(source_[pos_]) != kOther) {
    ascii = ascii && static_cast<unsigned char>(source_[pos_]) < 128;
    ++pos_;
  }
  const std::string_view text = source_.substr(begin, pos_ - begin);
  if ((at(pos_) == '"' || at(pos_) == '\'') && text.size() <= 2 && string_start(begin, text)) return;
  if (!ascii) {
    if (!is_identifier(text)) fail(begin, "invalid character in identifier '" + std::string(text) + "'");
    return push(Token::name, begin, pos_, kFlagNonAscii);
  }
  push(keyword_or_name(text), begin, pos_);
}

void Lexer::open_bracket(char c, Token kind) {
  if (brackets_.size() >= kMaxBrackets) fail(pos_, "too many nested parentheses");
  brackets_.push_back({c, pos_});
  if (!fstrings_.empty()) ++fstrings_.back().depth;
  push(kind, pos_, pos_ + 1);
  ++pos_;
}

void Lexer::close_bracket(char c, Token kind) {
  const char open = c == ')' ? '(' : c == ']' ? '[' : '{';
  if (brackets_.empty()) fail(pos_, std::string("unmatched '") + c + "'");
  if (brackets_.back().open != open) {
    fail(pos_, std::string("closing parenthesis '") + c + "' does not match opening parenthesis '" +
                   brackets_.back().open + "'");
  }
  brackets_.pop_back();
  push(kind, pos_, pos_ + 1);
  ++pos_;
  if (fstrings_.empty()) return;
  OpenFstring& open_string = fstrings_.back();
  if (c == '}' && !open_string.fields.empty() && open_string.fields.back() == open_string.depth) {
    open_string.fields.pop_back();
    open_string.text = true;
  }
  --open_string.depth;
}

/// What ':' and '!' mean directly inside a replacement field. True when it was one of them.
bool Lexer::field_operator(char c) {
  OpenFstring& open = fstrings_.back();
  if (open.fields.empty() || open.fields.back() != open.depth) return false;
  if (c == ':') {
    push(Token::colon, pos_, pos_ + 1);
    open.text = true;
  } else if (c == '!' && at(pos_ + 1) != '=') {
    push(Token::exclaim, pos_, pos_ + 1);
  } else {
    return false;
  }
  ++pos_;
  return true;
}

void Lexer::operator_token() {
  const char c = source_[pos_];
  switch (c) {
    case '(':
      return open_bracket(c, Token::lpar);
    case '[':
      return open_bracket(c, Token::lsqb);
    case '{':
      return open_bracket(c, Token::lbrace);
    case ')':
      return close_bracket(c, Token::rpar);
    case ']':
      return close_bracket(c, Token::rsqb);
    case '}':
      return close_bracket(c, Token::rbrace);
    default:
      break;
  }
  if (!fstrings_.empty() && field_operator(c)) return;
  std::size_t length = 0;
  const Token kind = match_operator(source_.substr(pos_), length);
  if (length == 0) fail(pos_, "invalid character");
  push(kind, pos_, pos_ + length);
  pos_ += length;
}

std::vector<TokenSpan> tokenize(std::string_view source) { return Lexer(source).run(); }

}  // namespace plumbline::python
