// SPDX-License-Identifier: Apache-2.0
// Simple statements.
#include "plumbline/bench/python/parser.h"
#include "plumbline/bench/python/unicode.h"

namespace plumbline::python {

/// Collects statements on the stack up to `stop`.
void Parser::statements_until(Token stop) {
  while (!is(stop)) statement();
}

void Parser::statement() {
  switch (tokens_[pos_].kind) {
    case Token::kw_if:
    case Token::kw_while:
    case Token::kw_for:
    case Token::kw_try:
    case Token::kw_with:
    case Token::kw_def:
    case Token::kw_class:
    case Token::kw_async:
    case Token::at: {
      const Id node = compound_statement();
      stack_.push_back(node);
      return;
    }
    case Token::indent:
      fail("unexpected indent");
    default:
      break;
  }
  if (is_word(tokens_[pos_], "match") && match_ahead()) {
    const Id node = match_statement();
    stack_.push_back(node);
    return;
  }
  simple_statements();
}

void Parser::simple_statements() {
  do {
    const Id node = simple_statement();
    stack_.push_back(node);
  } while (accept(Token::semi) && !is(Token::newline));
  expect(Token::newline, "the end of the statement");
}

Id Parser::simple_statement() {
  switch (tokens_[pos_].kind) {
    case Token::kw_return:
      return return_statement();
    case Token::kw_import:
      return import_statement();
    case Token::kw_from:
      return import_from();
    case Token::kw_raise:
      return raise_statement();
    case Token::kw_assert:
      return assert_statement();
    case Token::kw_del:
      return delete_statement();
    case Token::kw_global:
    case Token::kw_nonlocal:
      return scope_statement();
    case Token::kw_pass:
      return add(NodeKind::pass_stmt, pos_++);
    case Token::kw_break:
      return add(NodeKind::break_stmt, pos_++);
    case Token::kw_continue:
      return add(NodeKind::continue_stmt, pos_++);
    default:
      break;
  }
  if (is_word(tokens_[pos_], "type") && peek(1).kind == Token::name) return type_alias();
  return expression_statement();
}

/// An expression, an annotation or an assignment of any kind: which one shows behind the first expression.
Id Parser::expression_statement() {
  const std::size_t first = pos_;
  const Id left = yield_or_star_expressions();
  if (is(Token::colon)) return annotated(left);
  if (is(Token::augmented)) {
    if (!is_single_target(left))
      fail_at(left, "this expression is an illegal target for augmented assignment");
    const Id node = add(NodeKind::aug_assign, first);
    ++pos_;
    attach(node, left, Role::other);
    const Id value = yield_or_star_expressions();
    attach(node, value, Role::value);
    return close(node);
  }
  if (!is(Token::equal)) {
    const Id node = add(NodeKind::expr_stmt, first);
    attach(node, left, Role::value);
    return close(node);
  }
  const Id node = add(NodeKind::assign, first);
  Id value = left;
  while (accept(Token::equal)) {
    check_target(value, Target::assign);
    attach(node, value, Role::other);
    value = yield_or_star_expressions();
  }
  attach(node, value, Role::value);
  return close(node);
}

Id Parser::annotated(Id target) {
  if (!is_single_target(target))
    fail("invalid syntax: only a single name, attribute or item can be annotated");
  const Id node = add(NodeKind::ann_assign, pos_);
  nodes[node].begin = nodes[target].begin;
  ++pos_;
  attach(node, target, Role::other);
  const Id annotation = expression();
  attach(node, annotation, Role::annotation);
  if (accept(Token::equal)) {
    const Id value = yield_or_star_expressions();
    attach(node, value, Role::value);
  }
  return close(node);
}

Id Parser::return_statement() {
  const Id node = add(NodeKind::return_stmt, pos_++);
  if (starts_expression()) {
    const Id value = star_expressions();
    attach(node, value, Role::value);
  }
  return close(node);
}

Id Parser::raise_statement() {
  const Id node = add(NodeKind::raise_stmt, pos_++);
  if (!starts_expression()) return close(node);
  const Id exception = expression();
  attach(node, exception, Role::exc);
  if (accept(Token::kw_from)) {
    const Id cause = expression();
    attach(node, cause, Role::exc);
  }
  return close(node);
}

Id Parser::assert_statement() {
  const Id node = add(NodeKind::assert_stmt, pos_++);
  const Id test = expression();
  attach(node, test, Role::test);
  if (accept(Token::comma)) {
    const Id message = expression();
    attach(node, message, Role::msg);
  }
  return close(node);
}

Id Parser::delete_statement() {
  const Id node = add(NodeKind::delete_stmt, pos_++);
  do {
    const Id target = star_target(Target::del);
    attach(node, target, Role::other);
  } while (accept(Token::comma) && starts_expression());
  return close(node);
}

/// global and nonlocal: their names are not uses of a name, so they have no nodes.
Id Parser::scope_statement() {
  const bool global = is(Token::kw_global);
  const Id node = add(global ? NodeKind::global_stmt : NodeKind::nonlocal_stmt, pos_++);
  do {
    expect(Token::name, "a name");
  } while (accept(Token::comma));
  return close(node);
}

/// a.b.c as one name, without the blanks that may stand between its parts.
std::uint32_t Parser::dotted_name() {
  const std::size_t first = pos_;
  const std::uint32_t begin = tokens_[pos_].begin;
  const std::uint32_t name = take_name("a module's name");
  if (!is(Token::dot)) return name;
  std::string dotted(source_.substr(begin, last_end() - begin));
  bool plain = (tokens_[first].flags & kFlagNonAscii) == 0;
  if (!plain) dotted = normalize_identifier(dotted);
  while (accept(Token::dot)) {
    const TokenSpan part = tokens_[pos_];
    expect(Token::name, "a name after '.'");
    const std::string_view text = source_.substr(part.begin, part.end - part.begin);
    plain = plain && (part.flags & kFlagNonAscii) == 0;
    dotted.append(".").append((part.flags & kFlagNonAscii) != 0 ? normalize_identifier(text) : text);
  }
  BuildName whole{begin, last_end() - begin};
  if (!plain || whole.length != dotted.size()) {
    whole = {static_cast<std::uint32_t>(source_.size() + extra_names.size()),
             static_cast<std::uint32_t>(dotted.size())};
    extra_names += dotted;
  }
  names[name] = whole;
  return name;
}

Id Parser::alias(bool dotted) {
  const Id node = add(NodeKind::alias, pos_);
  const std::uint32_t name = dotted ? dotted_name() : take_name("a name to import");
  nodes[node].name = name;
  if (accept(Token::kw_as)) {
    const std::uint32_t as_name = take_name("a name after 'as'");
    nodes[node].as_name = as_name;
  }
  return close(node);
}

Id Parser::import_statement() {
  const Id node = add(NodeKind::import_stmt, pos_++);
  do {
    const Id name = alias(true);
    attach(node, name, Role::other);
  } while (accept(Token::comma));
  return close(node);
}

Id Parser::import_from() {
  const Id node = add(NodeKind::import_from, pos_++);
  std::uint32_t level = 0;
  while (is(Token::dot) || is(Token::ellipsis)) {
    level += is(Token::dot) ? 1 : 3;
    ++pos_;
  }
  if (level == 0 || !is(Token::kw_import)) {
    const std::uint32_t module = dotted_name();
    nodes[node].name = module;
  }
  nodes[node].as_name = level;
  expect(Token::kw_import, "'import'");
  if (is(Token::star)) {
    const Id all = add(NodeKind::alias, pos_);
    names.push_back({tokens_[pos_].begin, 1});
    nodes[all].name = static_cast<std::uint32_t>(names.size() - 1);
    ++pos_;
    attach(node, all, Role::other);
    return close(node);
  }
  const bool brackets = accept(Token::lpar);
  do {
    const Id name = alias(false);
    attach(node, name, Role::other);
  } while (accept(Token::comma) && !(brackets && is(Token::rpar)));
  if (brackets) expect(Token::rpar, "')' or ','");
  return close(node);
}

/// type Name[parameters] = value (PEP 695); the word is known to be the keyword.
Id Parser::type_alias() {
  const Id node = add(NodeKind::type_alias, pos_++);
  const Id name = name_node();
  attach(node, name, Role::other);
  const std::size_t mark = stack_.size();
  if (is(Token::lsqb)) type_parameters();
  attach_all(node, mark, Role::other);
  expect(Token::equal, "'='");
  const Id value = expression();
  attach(node, value, Role::value);
  return close(node);
}

}  // namespace plumbline::python
