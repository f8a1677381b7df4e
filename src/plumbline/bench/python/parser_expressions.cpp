// SPDX-License-Identifier: Apache-2.0
// Expressions, in CPython's precedence and field order.
#include "plumbline/bench/python/parser.h"

namespace plumbline::python {
namespace {

constexpr int kNoOperator = -1;

/// How tightly a binary operator binds: 0 for "|" to 5 for "*"; "**" is power()'s.
int precedence(Token kind) {
  switch (kind) {
    case Token::bar:
      return 0;
    case Token::caret:
      return 1;
    case Token::amp:
      return 2;
    case Token::lshift:
    case Token::rshift:
      return 3;
    case Token::plus:
    case Token::minus:
      return 4;
    case Token::star:
    case Token::slash:
    case Token::double_slash:
    case Token::percent:
    case Token::at:
      return 5;
    default:
      return kNoOperator;
  }
}

}  // namespace

bool Parser::starts_expression() const {
  switch (tokens_[pos_].kind) {
    case Token::name:
    case Token::number:
    case Token::string:
    case Token::fstring_start:
    case Token::lpar:
    case Token::lsqb:
    case Token::lbrace:
    case Token::minus:
    case Token::plus:
    case Token::tilde:
    case Token::star:
    case Token::ellipsis:
    case Token::kw_not:
    case Token::kw_lambda:
    case Token::kw_await:
    case Token::kw_none:
    case Token::kw_true:
    case Token::kw_false:
      return true;
    default:
      return false;
  }
}

bool Parser::comprehension_ahead() const {
  return is(Token::kw_for) || (is(Token::kw_async) && peek(1).kind == Token::kw_for);
}

/// A tuple without brackets of its own, or `first` alone when no comma follows.
Id Parser::tuple_rest(Id first, std::size_t first_token, Id (Parser::*element)()) {
  if (!is(Token::comma)) return first;
  const Id tuple = add(NodeKind::tuple, first_token);
  attach(tuple, first, Role::elt);
  while (accept(Token::comma) && starts_expression()) {
    const Id next = (this->*element)();
    attach(tuple, next, Role::elt);
  }
  return close(tuple);
}

Id Parser::star_expressions() {
  const std::size_t first = pos_;
  return tuple_rest(star_expression(), first, &Parser::star_expression);
}

Id Parser::star_expression() {
  if (!is(Token::star)) return expression();
  const Id node = add(NodeKind::starred, pos_++);
  const Id value = binary(0);
  attach(node, value, Role::value);
  return close(node);
}

Id Parser::star_named_expression() { return is(Token::star) ? star_expression() : named_expression(); }

Id Parser::named_expression() {
  if (!bare_walrus()) return expression();
  const Level level(*this);
  const Id node = add(NodeKind::named_expr, pos_);
  attach(node, name_node(), Role::other);
  ++pos_;
  const Id value = expression();
  attach(node, value, Role::value);
  return close(node);
}

Id Parser::yield_or_star_expressions() {
  return is(Token::kw_yield) ? yield_expression() : star_expressions();
}

Id Parser::yield_expression() {
  const Level level(*this);
  const Id node = add(NodeKind::yield_expr, pos_++);
  if (accept(Token::kw_from)) {
    nodes[node].kind = NodeKind::yield_from;
    const Id value = expression();
    attach(node, value, Role::value);
  } else if (starts_expression()) {
    const Id value = star_expressions();
    attach(node, value, Role::value);
  }
  return close(node);
}

Id Parser::expression() {
  const Level level(*this);
  if (is(Token::kw_lambda)) return lambda();
  const std::size_t first = pos_;
  const Id body = disjunction();
  if (!accept(Token::kw_if)) return body;
  const Id node = add(NodeKind::if_exp, first);
  const Id test = disjunction();
  expect(Token::kw_else, "'else' after 'if' expression");
  const Id orelse = expression();
  attach(node, test, Role::test);
  attach(node, body, Role::body);
  attach(node, orelse, Role::orelse);
  return close(node);
}

Id Parser::lambda() {
  const Id node = add(NodeKind::lambda, pos_++);
  const Id args = parameters(true);
  attach(node, args, Role::args);
  expect(Token::colon, "':'");
  const Id body = expression();
  attach(node, body, Role::body);
  return close(node);
}

Id Parser::disjunction() { return chain<&Parser::conjunction>(NodeKind::bool_op, Token::kw_or, Role::value); }

Id Parser::conjunction() { return chain<&Parser::inversion>(NodeKind::bool_op, Token::kw_and, Role::value); }

Id Parser::inversion() {
  if (!is(Token::kw_not)) return comparison();
  const Level level(*this);
  const Id node = add(NodeKind::unary_op, pos_++);
  nodes[node].detail = '!';
  const Id operand = inversion();
  attach(node, operand, Role::value);
  return close(node);
}

/// Takes a comparison operator, of one or two words.
bool Parser::comparison_operator() {
  switch (tokens_[pos_].kind) {
    case Token::less:
    case Token::greater:
    case Token::less_equal:
    case Token::greater_equal:
    case Token::equal_equal:
    case Token::not_equal:
    case Token::kw_in:
      ++pos_;
      return true;
    case Token::kw_is:
      pos_ += peek(1).kind == Token::kw_not ? 2 : 1;
      return true;
    case Token::kw_not:
      if (peek(1).kind != Token::kw_in) return false;
      pos_ += 2;
      return true;
    default:
      return false;
  }
}

Id Parser::comparison() {
  const std::size_t first = pos_;
  const Id left = binary(0);
  if (!comparison_operator()) return left;
  const Id node = add(NodeKind::compare, first);
  attach(node, left, Role::left);
  do {
    const Id next = binary(0);
    attach(node, next, Role::comparator);
  } while (comparison_operator());
  return close(node);
}

Id Parser::binary(int least) {
  const std::size_t first = pos_;
  Id left = factor();
  while (true) {
    const int strength = precedence(tokens_[pos_].kind);
    if (strength == kNoOperator || strength < least) return left;
    const std::uint8_t symbol = static_cast<std::uint8_t>(source_[tokens_[pos_].begin]);
    ++pos_;
    const Id right = binary(strength + 1);
    const Id node = add(NodeKind::bin_op, first);
    nodes[node].detail = symbol;
    attach(node, left, Role::left);
    attach(node, right, Role::value);
    left = close(node);
  }
}

Id Parser::factor() {
  if (!is(Token::minus) && !is(Token::plus) && !is(Token::tilde)) return power();
  const Level level(*this);
  const Id node = add(NodeKind::unary_op, pos_);
  nodes[node].detail = static_cast<std::uint8_t>(source_[tokens_[pos_].begin]);
  ++pos_;
  const Id operand = factor();
  attach(node, operand, Role::value);
  return close(node);
}

Id Parser::power() {
  const std::size_t first = pos_;
  Id left = 0;
  if (accept(Token::kw_await)) {
    left = add(NodeKind::await_expr, first);
    const Id value = primary();
    attach(left, value, Role::value);
    close(left);
  } else {
    left = primary();
  }
  if (!accept(Token::double_star)) return left;
  const Level level(*this);
  const Id right = factor();
  const Id node = add(NodeKind::bin_op, first);
  nodes[node].detail = 'p';
  attach(node, left, Role::left);
  attach(node, right, Role::value);
  return close(node);
}

/// `value`.name, from the dot on.
Id Parser::attribute_of(Id value, std::size_t first) {
  ++pos_;
  const Id node = add(NodeKind::attribute, first);
  const std::uint32_t name = take_name("a name after '.'");
  nodes[node].name = name;
  attach(node, value, Role::value);
  return close(node);
}

/// An atom with its trailers: attributes, calls, subscripts.
Id Parser::primary() {
  const std::size_t first = pos_;
  Id value = atom();
  while (true) {
    Id node = 0;
    switch (tokens_[pos_].kind) {
      case Token::dot:
        value = attribute_of(value, first);
        continue;
      case Token::lpar:
        ++pos_;
        node = add(NodeKind::call, first);
        attach(node, value, Role::func);
        call_arguments(node, true, Role::arg);
        break;
      case Token::lsqb: {
        ++pos_;
        node = add(NodeKind::subscript, first);
        attach(node, value, Role::value);
        const Id index = slices();
        attach(node, index, Role::slice);
        expect(Token::rsqb, "']'");
        break;
      }
      default:
        return value;
    }
    value = close(node);
  }
}

Id Parser::constant(ConstantKind kind) {
  const Id node = add(NodeKind::constant, pos_++);
  nodes[node].detail = static_cast<std::uint8_t>(kind);
  return node;
}

Id Parser::atom() {
  switch (tokens_[pos_].kind) {
    case Token::name:
      return name_node();
    case Token::number:
      return constant(tokens_[pos_].flags == 0 ? ConstantKind::integer : ConstantKind::real);
    case Token::string:
    case Token::fstring_start:
      return strings();
    case Token::lpar:
      return parenthesised();
    case Token::lsqb:
      return list_display();
    case Token::lbrace:
      return dict_or_set();
    case Token::ellipsis:
      return constant(ConstantKind::ellipsis);
    case Token::kw_none:
      return constant(ConstantKind::none);
    case Token::kw_true:
      return constant(ConstantKind::true_value);
    case Token::kw_false:
      return constant(ConstantKind::false_value);
    case Token::indent:
      fail("unexpected indent");
    case Token::newline:
    case Token::end:
      fail("invalid syntax: an expression is missing");
    default:
      fail("invalid syntax");
  }
}

}  // namespace plumbline::python
