// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"

namespace plumbline {
namespace {

constexpr std::size_t kMaxText = 4096;
constexpr int kMaxDepth = 100;

struct Token {
  enum Kind { number, name, sign, end } kind = end;
  std::string_view text;
  std::size_t offset = 0;
};

/// Raised and caught in this file: what is wrong, and where.
struct Wrong {
  std::string message;
  std::size_t offset;
};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "7.9e9", "128_256": the end of the number that starts at `at`.
std::size_t number_end(std::string_view text, std::size_t at) {
  while (at < text.size() && (is_digit(text[at]) || text[at] == '.' || text[at] == '_')) ++at;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    std::size_t next = at + 1;
    if (next < text.size() && (text[next] == '+' || text[next] == '-')) ++next;
    if (next < text.size() && is_digit(text[next])) {
      at = next;
      while (at < text.size() && is_digit(text[at])) ++at;
    }
  }
  return at;
}

Token next_token(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n')) ++at;
  if (at == text.size()) return {Token::end, {}, at};
  std::size_t end = at + 1;
  if (is_digit(text[at]) || (text[at] == '.' && end < text.size() && is_digit(text[end]))) {
    end = number_end(text, at);
    return {Token::number, text.substr(at, end - at), at};
  }
  if (is_letter(text[at])) {
    while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
    return {Token::name, text.substr(at, end - at), at};
  }
  for (const std::string_view two : {"//", "**", "<=", ">=", "==", "!="}) {
    if (text.substr(at, 2) == two) return {Token::sign, text.substr(at, 2), at};
  }
  return {Token::sign, text.substr(at, 1), at};
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { take(); }

  std::vector<ExpressionNode> whole() {
    ternary();
    if (token_.kind != Token::end) unexpected("an operator");
    return std::move(nodes_);
  }

 private:
  void take() { token_ = next_token(text_, token_.offset + token_.text.size()); }

  bool is(std::string_view text) const { return token_.kind != Token::end && token_.text == text; }

  bool took(std::string_view text) {
    if (!is(text)) return false;
    take();
    return true;
  }

  [[noreturn]] void unexpected(std::string_view wanted) const {
    throw Wrong{token_.kind == Token::end
                    ? fmt::format("the expression ends where {} is expected", wanted)
                    : fmt::format("{} where {} is expected", in_quotes(token_.text), wanted),
                token_.offset};
  }

  int add(Op op, std::size_t offset, int a = -1, int b = -1, int c = -1) {
    nodes_.push_back({op, a, b, c, 0, {}, offset});
    return static_cast<int>(nodes_.size()) - 1;
  }

  /// Counts levels: nothing that is parsed may exhaust the stack.
  struct Level {
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kMaxDepth) throw Wrong{"nested more than 100 deep", parser_.token_.offset};
    }
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    Parser& parser_;
  };

  int ternary() {
    const Level level(*this);
    const int value = disjunction();
    if (!is("if")) return value;
    const std::size_t at = token_.offset;
    take();
    const int condition = disjunction();
    if (!took("else")) unexpected("else");
    return add(Op::select, at, value, condition, ternary());
  }

  int disjunction() {
    int left = conjunction();
    for (std::size_t at = token_.offset; took("or"); at = token_.offset) {
      const int right = conjunction();
      left = add(Op::logical_or, at, left, right);
    }
    return left;
  }

  int conjunction() {
    int left = negation();
    for (std::size_t at = token_.offset; took("and"); at = token_.offset) {
      const int right = negation();
      left = add(Op::logical_and, at, left, right);
    }
    return left;
  }

  int negation() {
    const Level level(*this);
    const std::size_t at = token_.offset;
    if (took("not")) return add(Op::logical_not, at, negation());
    return comparison();
  }

  /// Adds `left OP right`; > and >= are < and <= turned round.
  int compare(std::string_view sign, std::size_t at, int left, int right) {
    if (sign == "<") return add(Op::less, at, left, right);
    if (sign == "<=") return add(Op::less_equal, at, left, right);
    if (sign == ">") return add(Op::less, at, right, left);
    if (sign == ">=") return add(Op::less_equal, at, right, left);
    return add(sign == "==" ? Op::equal : Op::not_equal, at, left, right);
  }

  int comparison() {
    int left = sum();
    int all = -1;
    while (is("<") || is("<=") || is(">") || is(">=") || is("==") || is("!=")) {
      const Token sign = token_;
      take();
      const int right = sum();
      const int one = compare(sign.text, sign.offset, left, right);
      all = all < 0 ? one : add(Op::logical_and, sign.offset, all, one);
      left = right;
    }
    return all < 0 ? left : all;
  }

  int sum() {
    int left = product();
    while (is("+") || is("-")) {
      const Token sign = token_;
      take();
      const int right = product();
      left = add(sign.text == "+" ? Op::add : Op::subtract, sign.offset, left, right);
    }
    return left;
  }

  int product() {
    int left = unary();
    while (is("*") || is("/") || is("//") || is("%")) {
      const Token sign = token_;
      take();
      const int right = unary();
      const Op op = sign.text == "*"    ? Op::multiply
                    : sign.text == "/"  ? Op::divide
                    : sign.text == "//" ? Op::floor_divide
                                        : Op::modulo;
      left = add(op, sign.offset, left, right);
    }
    return left;
  }

  int unary() {
    const Level level(*this);
    const std::size_t at = token_.offset;
    if (took("-")) return add(Op::negate, at, unary());
    if (took("+")) return unary();
    const int base = primary();
    const std::size_t sign = token_.offset;
    if (took("**")) return add(Op::power, sign, base, unary());
    return base;
  }

  int number() {
    std::string digits(token_.text);
    std::erase(digits, '_');
    const auto value = parse_double(digits);
    if (!value)
      throw Wrong{fmt::format("{} is not a number that fits", in_quotes(token_.text)), token_.offset};
    const int node = add(Op::constant, token_.offset);
    nodes_.back().value = *value;
    take();
    return node;
  }

  int call(const Token& name) {
    constexpr std::array<std::pair<std::string_view, Op>, 6> functions{{{"min", Op::minimum},
                                                                        {"max", Op::maximum},
                                                                        {"floor", Op::floor},
                                                                        {"ceil", Op::ceil},
                                                                        {"sqrt", Op::sqrt},
                                                                        {"log", Op::log}}};
    const auto* function = std::find_if(functions.begin(), functions.end(),
                                        [&](const auto& each) { return each.first == name.text; });
    if (function == functions.end()) {
      throw Wrong{
          fmt::format("{} is not a function; there are: min max floor ceil sqrt log", in_quotes(name.text)),
          name.offset};
    }
    const bool many = function->second == Op::minimum || function->second == Op::maximum;
    int left = ternary();
    std::size_t count = 1;
    for (; took(","); ++count) {
      const int right = ternary();
      left = add(function->second, name.offset, left, right);
    }
    if (many ? count < 2 : count != 1) {
      throw Wrong{fmt::format("{}() takes {}", name.text, many ? "two or more values" : "one value"),
                  name.offset};
    }
    if (!took(")")) unexpected("')'");
    return many ? left : add(function->second, name.offset, left);
  }

  int primary() {
    if (token_.kind == Token::number) return number();
    const Token token = token_;
    if (took("(")) {
      const int inner = ternary();
      if (!took(")")) unexpected("')'");
      return inner;
    }
    for (const std::string_view word : {"if", "else", "and", "or", "not"}) {
      if (is(word)) unexpected("a value");
    }
    if (token.kind != Token::name) unexpected("a value");
    take();
    if (took("(")) return call(token);
    add(Op::name, token.offset);
    nodes_.back().name = std::string(token.text);
    return static_cast<int>(nodes_.size()) - 1;
  }

  std::string_view text_;
  Token token_;
  std::vector<ExpressionNode> nodes_;
  int depth_ = 0;
};

}  // namespace

Parsed<Expression> parse_expression(std::string_view text, const Location& at) {
  const auto refuse = [&](std::string message, std::size_t offset) {
    Location place = at;
    if (place.column > 0) place.column += static_cast<int>(offset);
    return failed<Expression>(diagnose("search-expression", std::move(message), place));
  };
  if (text.size() > kMaxText) return refuse("longer than 4,096 characters", 0);
  try {
    return {Expression{std::string(text), at, Parser(text).whole()}, {}};
  } catch (const Wrong& wrong) {
    return refuse(wrong.message, wrong.offset);
  }
}

}  // namespace plumbline
