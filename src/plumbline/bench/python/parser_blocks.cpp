// SPDX-License-Identifier: Apache-2.0
// Compound statements.
#include "plumbline/bench/python/parser.h"

namespace plumbline::python {

Id Parser::compound_statement() {
  const Level level(*this);
  const std::size_t first = pos_;
  switch (tokens_[pos_].kind) {
    case Token::kw_if:
      return if_statement();
    case Token::kw_while:
      return while_statement();
    case Token::kw_for:
      return for_statement(first, false);
    case Token::kw_try:
      return try_statement();
    case Token::kw_with:
      return with_statement(first, false);
    case Token::kw_def:
      return function_def(first, false, stack_.size());
    case Token::kw_class:
      return class_def(first, stack_.size());
    case Token::kw_async:
      return async_statement();
    default:
      return decorated();
  }
}

Id Parser::async_statement() {
  const std::size_t first = pos_++;
  if (is(Token::kw_def)) return function_def(first, true, stack_.size());
  if (is(Token::kw_with)) return with_statement(first, true);
  if (is(Token::kw_for)) return for_statement(first, true);
  fail("invalid syntax: expected 'def', 'with' or 'for' after 'async'");
}

/// ":" and either an indented block or the rest of the line; its statements become children of `parent`.
void Parser::block(Id parent, Role role) {
  expect(Token::colon, "':'");
  const std::size_t mark = stack_.size();
  if (accept(Token::newline)) {
    if (!accept(Token::indent)) fail("expected an indented block");
    statements_until(Token::dedent);
    ++pos_;
  } else {
    simple_statements();
  }
  attach_all(parent, mark, role);
}

void Parser::else_block(Id parent) {
  if (accept(Token::kw_else)) block(parent, Role::orelse);
}

/// An elif is an if inside the else of the one before it, as deep as the chain is long.
Id Parser::if_statement() {
  const Id node = add(NodeKind::if_stmt, pos_);
  Id current = node;
  while (true) {
    ++pos_;
    const Id test = named_expression();
    attach(current, test, Role::test);
    block(current, Role::body);
    if (!is(Token::kw_elif)) break;
    const Id inner = add(NodeKind::if_stmt, pos_);
    attach(current, inner, Role::orelse);
    current = inner;
  }
  else_block(current);
  if (current != node) close(current);
  return close(node);
}

Id Parser::while_statement() {
  const Id node = add(NodeKind::while_stmt, pos_++);
  const Id test = named_expression();
  attach(node, test, Role::test);
  block(node, Role::body);
  else_block(node);
  return close(node);
}

Id Parser::for_statement(std::size_t first, bool async) {
  const Id node = add(async ? NodeKind::async_for : NodeKind::for_stmt, first);
  ++pos_;
  const Id target = target_list();
  attach(node, target, Role::other);
  expect(Token::kw_in, "'in'");
  const Id iter = star_expressions();
  attach(node, iter, Role::iter);
  block(node, Role::body);
  else_block(node);
  return close(node);
}

Id Parser::with_item() {
  const Id node = add(NodeKind::with_item, pos_);
  const Id context = expression();
  attach(node, context, Role::context);
  if (accept(Token::kw_as)) {
    const Id target = star_target(Target::assign);
    attach(node, target, Role::vars);
    if (!is(Token::comma) && !is(Token::rpar) && !is(Token::colon))
      fail("invalid syntax: expected ',' or ':'");
  }
  return close(node);
}

/// "(" items ")" ":" if the tokens are that; otherwise everything is put back, and the bracket belongs to an
/// expression.
bool Parser::parenthesised_items(Id with) {
  if (!is(Token::lpar) || tokens_[closing(pos_) + 1].kind != Token::colon) return false;
  const std::size_t pos = pos_;
  const std::size_t node_count = nodes.size();
  const std::size_t name_count = names.size();
  const std::size_t extra = extra_names.size();
  const std::size_t mark = stack_.size();
  try {
    ++pos_;
    do {
      const Id item = with_item();
      stack_.push_back(item);
    } while (accept(Token::comma) && !is(Token::rpar));
    expect(Token::rpar, "')'");
    if (!is(Token::colon)) fail("invalid syntax: expected ':'");
    attach_all(with, mark, Role::other);
    return true;
  } catch (const SyntaxFailure&) {
    pos_ = pos;
    nodes.resize(node_count);
    names.resize(name_count);
    extra_names.resize(extra);
    stack_.resize(mark);
    return false;
  }
}

Id Parser::with_statement(std::size_t first, bool async) {
  const Id node = add(async ? NodeKind::async_with : NodeKind::with_stmt, first);
  ++pos_;
  if (!parenthesised_items(node)) {
    do {
      const Id item = with_item();
      attach(node, item, Role::other);
    } while (accept(Token::comma));
  }
  block(node, Role::body);
  return close(node);
}

/// The except clauses of a try. True when there is one.
bool Parser::except_clauses(Id node) {
  bool any = false;
  while (is(Token::kw_except)) {
    const Id handler = add(NodeKind::except_handler, pos_++);
    const bool star = accept(Token::star);
    if (any && star != (nodes[node].kind == NodeKind::try_star))
      fail("cannot have both 'except' and 'except*'");
    if (star) nodes[node].kind = NodeKind::try_star;
    any = true;
    if (!is(Token::colon)) {
      const Id type = expression();
      attach(handler, type, Role::exc);
      if (accept(Token::kw_as)) expect(Token::name, "a name after 'as'");
    } else if (star) {
      fail("expected one or more exception types");
    }
    block(handler, Role::body);
    attach(node, close(handler), Role::handler);
  }
  return any;
}

Id Parser::try_statement() {
  const Id node = add(NodeKind::try_stmt, pos_++);
  block(node, Role::body);
  const bool handled = except_clauses(node);
  if (handled) else_block(node);
  if (accept(Token::kw_finally)) {
    block(node, Role::finalbody);
  } else if (!handled) {
    fail("expected 'except' or 'finally' block");
  }
  return close(node);
}

/// Decorators wait on the stack: CPython lists them after the body.
Id Parser::decorated() {
  const std::size_t mark = stack_.size();
  while (accept(Token::at)) {
    const Id decorator = named_expression();
    stack_.push_back(decorator);
    expect(Token::newline, "the end of the line after a decorator");
  }
  const std::size_t first = pos_;
  if (is(Token::kw_class)) return class_def(first, mark);
  if (is(Token::kw_def)) return function_def(first, false, mark);
  if (accept(Token::kw_async)) {
    if (is(Token::kw_def)) return function_def(first, true, mark);
  }
  fail("invalid syntax: expected a function or a class after a decorator");
}

Id Parser::function_def(std::size_t first, bool async, std::size_t decorators) {
  const std::size_t parameters_mark = stack_.size();
  const Id node = add(async ? NodeKind::async_function_def : NodeKind::function_def, first);
  ++pos_;
  const std::uint32_t name = take_name("a function's name");
  nodes[node].name = name;
  if (is(Token::lsqb)) type_parameters();
  const std::size_t body_mark = stack_.size();
  expect(Token::lpar, "'('");
  const Id args = parameters(false);
  expect(Token::rpar, "')' or ','");
  attach(node, args, Role::args);
  const Id returns = accept(Token::arrow) ? expression() : 0;
  block(node, Role::body);
  for (std::size_t i = decorators; i < parameters_mark; ++i) attach(node, stack_[i], Role::decorator);
  attach(node, returns, Role::returns);
  for (std::size_t i = parameters_mark; i < body_mark; ++i) attach(node, stack_[i], Role::other);
  stack_.resize(decorators);
  return close(node);
}

Id Parser::class_def(std::size_t first, std::size_t decorators) {
  const std::size_t parameters_mark = stack_.size();
  const Id node = add(NodeKind::class_def, first);
  ++pos_;
  const std::uint32_t name = take_name("a class's name");
  nodes[node].name = name;
  if (is(Token::lsqb)) type_parameters();
  const std::size_t body_mark = stack_.size();
  if (accept(Token::lpar)) call_arguments(node, false, Role::base);
  block(node, Role::body);
  for (std::size_t i = decorators; i < parameters_mark; ++i) attach(node, stack_[i], Role::decorator);
  for (std::size_t i = parameters_mark; i < body_mark; ++i) attach(node, stack_[i], Role::other);
  stack_.resize(decorators);
  return close(node);
}

/// [T: bound = default, *Ts, **P] (PEP 695 and 696), left on the stack.
void Parser::type_parameters() {
  ++pos_;
  do {
    const std::size_t first = pos_;
    const bool star = accept(Token::star);
    const bool double_star = !star && accept(Token::double_star);
    const Id node = add(star          ? NodeKind::type_var_tuple
                        : double_star ? NodeKind::param_spec
                                      : NodeKind::type_var,
                        first);
    const std::uint32_t name = take_name("a type parameter");
    nodes[node].name = name;
    if (!star && !double_star && accept(Token::colon)) {
      const Id bound = expression();
      attach(node, bound, Role::annotation);
    }
    if (accept(Token::equal)) {
      const Id value = star ? star_expression() : expression();
      attach(node, value, Role::default_value);
    }
    stack_.push_back(close(node));
  } while (accept(Token::comma) && !is(Token::rsqb));
  expect(Token::rsqb, "']' or ','");
}

}  // namespace plumbline::python
