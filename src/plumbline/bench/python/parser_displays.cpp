// SPDX-License-Identifier: Apache-2.0
// What stands in brackets: tuples, lists, dicts, sets, comprehensions, subscripts and call arguments.
#include <algorithm>

#include "plumbline/bench/python/parser.h"

namespace plumbline::python {

/// "(": an empty tuple, a yield, a tuple, a generator, or an expression in parentheses (which adds no node).
Id Parser::parenthesised() {
  const Level level(*this);
  const std::size_t first = pos_++;
  if (accept(Token::rpar)) return close(add(NodeKind::tuple, first));
  if (is(Token::kw_yield)) {
    const Id node = yield_expression();
    expect(Token::rpar, "')'");
    return node;
  }
  const bool starred = is(Token::star);
  const Id element = star_named_expression();
  Id node = element;
  if (comprehension_ahead() && !starred) {
    node = add(NodeKind::generator_exp, first);
    attach(node, element, Role::elt);
    comprehension_clauses(node);
  } else if (is(Token::comma)) {
    node = tuple_rest(element, first, &Parser::star_named_expression);
  } else if (starred) {
    fail_at(element, "cannot use starred expression here");
  }
  expect(Token::rpar, "')' or ','");
  return node == element ? node : close(node);
}

Id Parser::list_display() {
  const Level level(*this);
  const Id node = add(NodeKind::list, pos_++);
  if (accept(Token::rsqb)) return close(node);
  const bool starred = is(Token::star);
  const Id element = star_named_expression();
  attach(node, element, Role::elt);
  if (comprehension_ahead() && !starred) {
    nodes[node].kind = NodeKind::list_comp;
    comprehension_clauses(node);
  } else {
    more_of<&Parser::star_named_expression>(node, Token::rsqb);
  }
  expect(Token::rsqb, "']' or ','");
  return close(node);
}

Id Parser::dict_or_set() {
  const Level level(*this);
  const Id node = add(NodeKind::dict, pos_++);
  if (accept(Token::rbrace)) return close(node);
  if (is(Token::double_star)) return dict_display(node, 0);
  const bool key = !is(Token::star) && !bare_walrus();
  const bool starred = is(Token::star);
  const Id element = star_named_expression();
  if (key && is(Token::colon)) return dict_display(node, element);
  attach(node, element, Role::elt);
  if (comprehension_ahead() && !starred) {
    nodes[node].kind = NodeKind::set_comp;
    comprehension_clauses(node);
  } else {
    nodes[node].kind = NodeKind::set;
    more_of<&Parser::star_named_expression>(node, Token::rbrace);
  }
  expect(Token::rbrace, "'}' or ','");
  return close(node);
}

/// A dict whose first key is read (0: "**" comes next). CPython lists all keys, then all values.
Id Parser::dict_display(Id node, Id key) {
  const std::size_t mark = stack_.size();
  bool first = true;
  while (!is(Token::rbrace)) {
    Id value = 0;
    if (key == 0 && accept(Token::double_star)) {
      value = binary(0);
    } else {
      if (key == 0) key = expression();
      expect(Token::colon, "':' after a dictionary key");
      value = expression();
      if (first && comprehension_ahead()) {
        nodes[node].kind = NodeKind::dict_comp;
        attach(node, key, Role::key);
        attach(node, value, Role::value);
        comprehension_clauses(node);
        break;
      }
    }
    stack_.push_back(key);
    stack_.push_back(value);
    key = 0;
    first = false;
    if (!accept(Token::comma)) break;
  }
  for (std::size_t i = mark; i < stack_.size(); i += 2) attach(node, stack_[i], Role::key);
  for (std::size_t i = mark + 1; i < stack_.size(); i += 2) attach(node, stack_[i], Role::value);
  stack_.resize(mark);
  expect(Token::rbrace, "'}' or ','");
  return close(node);
}

void Parser::comprehension_clauses(Id parent) {
  while (comprehension_ahead()) {
    const Id clause = add(NodeKind::comprehension, pos_);
    accept(Token::kw_async);
    ++pos_;
    const Id target = target_list();
    attach(clause, target, Role::other);
    expect(Token::kw_in, "'in'");
    const Id iter = disjunction();
    attach(clause, iter, Role::iter);
    while (accept(Token::kw_if)) {
      const Id test = disjunction();
      attach(clause, test, Role::test);
    }
    attach(parent, close(clause), Role::other);
  }
}

/// What stands in a subscript: one slice, or a tuple of several (a starred item alone is a tuple too).
Id Parser::slices() {
  const std::size_t first = pos_;
  const bool starred = is(Token::star);
  const Id item = slice();
  if (!is(Token::comma) && !starred) return item;
  const Id tuple = add(NodeKind::tuple, first);
  attach(tuple, item, Role::elt);
  more_of<&Parser::slice>(tuple, Token::rsqb);
  return close(tuple);
}

Id Parser::slice() {
  const std::size_t first = pos_;
  if (accept(Token::star)) {
    const Id node = add(NodeKind::starred, first);
    const Id value = expression();
    attach(node, value, Role::value);
    return close(node);
  }
  if (bare_walrus()) return named_expression();
  const Id lower = is(Token::colon) ? 0 : expression();
  if (!is(Token::colon)) return lower;
  const Id node = add(NodeKind::slice, first);
  attach(node, lower, Role::other);
  for (int part = 0; part < 2 && accept(Token::colon); ++part) {
    if (is(Token::colon) || is(Token::comma) || is(Token::rsqb)) continue;
    const Id bound = expression();
    attach(node, bound, Role::other);
  }
  return close(node);
}

namespace {
/// How far a call's arguments have come; they never go back.
enum Stage { kPositional, kKeyword, kUnpacked };
}  // namespace

/// One argument. Positional ones are attached; keywords wait on the stack, since CPython lists them last.
void Parser::call_argument(Id call, Role positional, int& stage) {
  const std::size_t first = pos_;
  if (accept(Token::star)) {
    if (stage == kUnpacked) fail("iterable argument unpacking follows keyword argument unpacking");
    const Id node = add(NodeKind::starred, first);
    const Id value = expression();
    attach(node, value, Role::value);
    return attach(call, close(node), positional);
  }
  const bool unpacked = accept(Token::double_star);
  if (unpacked || (is(Token::name) && peek(1).kind == Token::equal)) {
    const Id node = add(NodeKind::keyword, first);
    if (!unpacked) {
      nodes[node].name = take_name("a keyword");
      ++pos_;
    }
    const Id value = expression();
    attach(node, value, Role::value);
    stack_.push_back(close(node));
    stage = std::max<int>(stage, unpacked ? kUnpacked : kKeyword);
    return;
  }
  const Id value = named_expression();
  if (stage != kPositional) fail_at(value, "positional argument follows keyword argument");
  attach(call, value, positional);
}

/// The arguments after "(" up to and with ")".
void Parser::call_arguments(Id call, bool generator_allowed, Role positional) {
  const Level level(*this);
  const std::size_t mark = stack_.size();
  const std::size_t open = pos_ - 1;
  int stage = kPositional;
  for (bool first = true; !is(Token::rpar); first = false) {
    const bool plain = first && generator_allowed && starts_expression() && !is(Token::star) &&
                       !(is(Token::name) && peek(1).kind == Token::equal);
    if (plain) {
      const Id value = named_expression();
      if (comprehension_ahead()) {
        const Id generator = add(NodeKind::generator_exp, open);
        attach(generator, value, Role::elt);
        comprehension_clauses(generator);
        if (!is(Token::rpar)) fail_at(generator, "Generator expression must be parenthesized");
        ++pos_;
        return attach(call, close(generator), positional);
      }
      attach(call, value, positional);
    } else {
      call_argument(call, positional, stage);
    }
    if (!accept(Token::comma)) break;
  }
  expect(Token::rpar, "')' or ','");
  attach_all(call, mark, Role::keyword);
}

}  // namespace plumbline::python
