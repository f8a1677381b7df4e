// SPDX-License-Identifier: Apache-2.0
// match statements and their patterns (PEP 634).
#include "plumbline/bench/python/parser.h"

namespace plumbline::python {

/// Is the word "match" at the start of this line the keyword? Only then can the line end in ":" with a block
/// of cases below it.
bool Parser::match_ahead() const {
  std::size_t i = pos_ + 1;
  while (tokens_[i].kind != Token::newline && tokens_[i].kind != Token::end) ++i;
  if (i == pos_ + 1 || i + 2 >= tokens_.size()) return false;
  return tokens_[i - 1].kind == Token::colon && i - 1 > pos_ + 1 && tokens_[i].kind == Token::newline &&
         tokens_[i + 1].kind == Token::indent && is_word(tokens_[i + 2], "case");
}

Id Parser::match_statement() {
  const Level level(*this);
  const Id node = add(NodeKind::match_stmt, pos_++);
  const std::size_t first = pos_;
  const bool starred = is(Token::star);
  const Id element = star_named_expression();
  if (starred && !is(Token::comma)) fail_at(element, "cannot use starred expression here");
  const Id subject = tuple_rest(element, first, &Parser::star_named_expression);
  attach(node, subject, Role::value);
  expect(Token::colon, "':'");
  expect(Token::newline, "a new line");
  expect(Token::indent, "an indented block");
  while (!accept(Token::dedent)) match_case(node);
  return close(node);
}

void Parser::match_case(Id match) {
  if (!is_word(tokens_[pos_], "case")) fail("invalid syntax: expected 'case'");
  const Id node = add(NodeKind::match_case, pos_++);
  const Id pattern = patterns();
  attach(node, pattern, Role::other);
  if (accept(Token::kw_if)) {
    const Id guard = named_expression();
    attach(node, guard, Role::test);
  }
  block(node, Role::body);
  attach(match, close(node), Role::other);
}

/// A pattern, or an open sequence: a, b, *rest
Id Parser::patterns() {
  const std::size_t first = pos_;
  const bool starred = is(Token::star);
  const Id element = maybe_star_pattern();
  if (!is(Token::comma)) {
    if (starred) fail_at(element, "a starred pattern must be in a sequence");
    return element;
  }
  const Id node = add(NodeKind::match_sequence, first);
  attach(node, element, Role::other);
  while (accept(Token::comma) && !is(Token::colon) && !is(Token::kw_if)) {
    const Id next = maybe_star_pattern();
    attach(node, next, Role::other);
  }
  return close(node);
}

Id Parser::maybe_star_pattern() {
  if (!is(Token::star)) return pattern();
  const Id node = add(NodeKind::match_star, pos_++);
  expect(Token::name, "a name after '*'");
  return close(node);
}

Id Parser::pattern() {
  const Level level(*this);
  const std::size_t first = pos_;
  const Id inner = or_pattern();
  if (!accept(Token::kw_as)) return inner;
  const Id node = add(NodeKind::match_as, first);
  attach(node, inner, Role::other);
  const std::uint32_t name = capture_name();
  nodes[node].name = name;
  return close(node);
}

/// A name that a pattern binds: not "_", and not the start of something longer.
std::uint32_t Parser::capture_name() {
  const Token next = peek(1).kind;
  if (is_word(tokens_[pos_], "_") || next == Token::dot || next == Token::lpar || next == Token::equal) {
    fail("invalid pattern target");
  }
  return take_name("a name to bind");
}

Id Parser::or_pattern() {
  return chain<&Parser::closed_pattern>(NodeKind::match_or, Token::bar, Role::other);
}

bool Parser::literal_ahead() const {
  switch (tokens_[pos_].kind) {
    case Token::number:
    case Token::minus:
    case Token::string:
    case Token::fstring_start:
    case Token::kw_none:
    case Token::kw_true:
    case Token::kw_false:
      return true;
    default:
      return false;
  }
}

Id Parser::signed_number() {
  const std::size_t first = pos_;
  const bool minus = accept(Token::minus);
  if (!is(Token::number)) fail("invalid syntax: expected a number in a pattern");
  const Id number = atom();
  if (!minus) return number;
  const Id node = add(NodeKind::unary_op, first);
  nodes[node].detail = '-';
  attach(node, number, Role::value);
  return close(node);
}

/// A literal that a pattern may hold: a constant, strings, a signed number, or real + imaginary.
Id Parser::literal_expression() {
  const std::size_t first = pos_;
  if (!is(Token::number) && !is(Token::minus)) return atom();
  const Id real = signed_number();
  if (!is(Token::plus) && !is(Token::minus)) return real;
  if ((tokens_[pos_ - 1].flags & kFlagImaginary) != 0)
    fail_at(real, "real number required in complex literal");
  const Id node = add(NodeKind::bin_op, first);
  nodes[node].detail = static_cast<std::uint8_t>(source_[tokens_[pos_].begin]);
  ++pos_;
  if (!is(Token::number) || (tokens_[pos_].flags & kFlagImaginary) == 0) {
    fail("imaginary number required in complex literal");
  }
  const Id imaginary = atom();
  attach(node, real, Role::left);
  attach(node, imaginary, Role::value);
  return close(node);
}

Id Parser::closed_pattern() {
  const std::size_t first = pos_;
  if (literal_ahead()) {
    const bool single = is(Token::kw_none) || is(Token::kw_true) || is(Token::kw_false);
    const Id node = add(single ? NodeKind::match_singleton : NodeKind::match_value, first);
    const Id value = literal_expression();
    if (!single) attach(node, value, Role::value);
    return close(node);
  }
  switch (tokens_[pos_].kind) {
    case Token::lpar:
    case Token::lsqb:
      return group_or_sequence();
    case Token::lbrace:
      return mapping_pattern();
    case Token::name:
      break;
    default:
      fail("invalid syntax: expected a pattern");
  }
  const Token next = peek(1).kind;
  if (next != Token::dot && next != Token::lpar) {
    const Id node = add(NodeKind::match_as, first);
    if (next == Token::equal) fail("invalid pattern target");
    ++pos_;
    return close(node);
  }
  const Id name = dotted_pattern();
  if (is(Token::lpar)) return class_pattern(name, first);
  const Id node = add(NodeKind::match_value, first);
  attach(node, name, Role::value);
  return close(node);
}

/// name or name.attribute…
Id Parser::dotted_pattern() {
  const std::size_t first = pos_;
  Id value = name_node();
  while (is(Token::dot)) value = attribute_of(value, first);
  return value;
}

Id Parser::group_or_sequence() {
  const Level level(*this);
  const std::size_t first = pos_;
  const bool square = is(Token::lsqb);
  const Token stop = square ? Token::rsqb : Token::rpar;
  ++pos_;
  const Id node = add(NodeKind::match_sequence, first);
  bool comma = false;
  bool starred = false;
  while (!is(stop)) {
    starred = is(Token::star);
    const Id element = maybe_star_pattern();
    if (!comma && !square && !starred && accept(stop)) return element;  // a group
    attach(node, element, Role::other);
    if (!accept(Token::comma)) break;
    comma = true;
  }
  if (!square && starred && !comma) fail_at(node, "a starred pattern must be in a sequence");
  expect(stop, square ? "']' or ','" : "')' or ','");
  return close(node);
}

Id Parser::mapping_key() {
  if (literal_ahead()) return literal_expression();
  if (!is(Token::name) || peek(1).kind != Token::dot)
    fail("invalid syntax: a mapping pattern's key must be a literal");
  return dotted_pattern();
}

/// {key: pattern, **rest}; CPython lists all keys, then all patterns.
Id Parser::mapping_pattern() {
  const Level level(*this);
  const Id node = add(NodeKind::match_mapping, pos_++);
  std::vector<Id> values;
  while (!is(Token::rbrace)) {
    if (accept(Token::double_star)) {
      capture_name();
      accept(Token::comma);
      break;
    }
    const Id key = mapping_key();
    attach(node, key, Role::key);
    expect(Token::colon, "':'");
    const Id value = pattern();
    values.push_back(value);
    if (!accept(Token::comma)) break;
  }
  for (const Id value : values) attach(node, value, Role::other);
  expect(Token::rbrace, "'}' or ','");
  return close(node);
}

Id Parser::class_pattern(Id cls, std::size_t first) {
  const Level level(*this);
  const Id node = add(NodeKind::match_class, first);
  attach(node, cls, Role::func);
  ++pos_;
  bool keywords = false;
  while (!is(Token::rpar)) {
    if (is(Token::name) && peek(1).kind == Token::equal) {
      pos_ += 2;
      keywords = true;
    } else if (keywords) {
      fail("positional patterns follow keyword patterns");
    }
    const Id value = pattern();
    attach(node, value, Role::other);
    if (!accept(Token::comma)) break;
  }
  expect(Token::rpar, "')' or ','");
  return close(node);
}

}  // namespace plumbline::python
