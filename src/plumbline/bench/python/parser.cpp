// SPDX-License-Identifier: Apache-2.0
// Tokens, nodes, strings, parameters and targets.
#include "plumbline/bench/python/parser.h"

#include "plumbline/bench/python/unicode.h"

namespace plumbline::python {

Parser::Parser(std::string_view source) : source_(source), tokens_(tokenize(source)) {
  nodes.reserve(tokens_.size() + 1);
  names.reserve(tokens_.size() / 2 + 1);
  nodes.emplace_back();  // the module; also what a zero Id stands for
  names.push_back({0, 0});
}

void Parser::run() {
  statements_until(Token::end);
  attach_all(0, 0, Role::body);
  nodes[0].end = static_cast<std::uint32_t>(source_.size());
}

// ---- tokens ---------------------------------------------------------------------------------------

void Parser::fail(const char* message) const { throw SyntaxFailure{tokens_[pos_].begin, message}; }

void Parser::fail_at(Id node, std::string message) const {
  throw SyntaxFailure{nodes[node].begin, std::move(message)};
}

void Parser::expect(Token kind, const char* what) {
  if (is(kind)) {
    ++pos_;
    return;
  }
  // The source's end, a line's end and a block are where the author forgot something; elsewhere the token is
  // odd.
  throw SyntaxFailure{tokens_[pos_].begin, std::string("invalid syntax: expected ") + what};
}

bool Parser::is_word(const TokenSpan& token, std::string_view word) const {
  return token.kind == Token::name && token.end - token.begin == word.size() &&
         source_.substr(token.begin, word.size()) == word;
}

/// The index of the bracket that closes the one at `open` (the tokenizer has matched them).
std::size_t Parser::closing(std::size_t open) const {
  int depth = 0;
  for (std::size_t i = open; i < tokens_.size(); ++i) {
    switch (tokens_[i].kind) {
      case Token::lpar:
      case Token::lsqb:
      case Token::lbrace:
        ++depth;
        break;
      case Token::rpar:
      case Token::rsqb:
      case Token::rbrace:
        if (--depth == 0) return i;
        break;
      default:
        break;
    }
  }
  return tokens_.size() - 1;
}

// ---- nodes ----------------------------------------------------------------------------------------

Id Parser::add(NodeKind kind, std::size_t first_token) {
  if (nodes.size() >= kMaxNodes) fail("the file is too large to be read");
  BuildNode& node = nodes.emplace_back();
  node.kind = kind;
  node.begin = tokens_[first_token].begin;
  node.end = tokens_[first_token].end;
  return static_cast<Id>(nodes.size() - 1);
}

void Parser::attach(Id parent, Id child, Role role) {
  if (child == 0) return;
  nodes[child].role = role;
  BuildNode& node = nodes[parent];
  if (node.first == 0) {
    node.first = child;
  } else {
    nodes[node.last].next = child;
  }
  node.last = child;
}

/// Attaches what was collected on the stack since `mark`.
void Parser::attach_all(Id parent, std::size_t mark, Role role) {
  for (std::size_t i = mark; i < stack_.size(); ++i) attach(parent, stack_[i], role);
  stack_.resize(mark);
}

Id Parser::close(Id node) {
  nodes[node].end = last_end();
  return node;
}

std::uint32_t Parser::name_of(const TokenSpan& token) {
  BuildName name{token.begin, token.end - token.begin};
  if ((token.flags & kFlagNonAscii) != 0) {
    const std::string_view raw = source_.substr(name.begin, name.length);
    const std::string normal = normalize_identifier(raw);
    if (normal != raw) {
      name = {static_cast<std::uint32_t>(source_.size() + extra_names.size()),
              static_cast<std::uint32_t>(normal.size())};
      extra_names += normal;
    }
  }
  names.push_back(name);
  return static_cast<std::uint32_t>(names.size() - 1);
}

std::uint32_t Parser::take_name(const char* what) {
  if (!is(Token::name)) expect(Token::name, what);
  return name_of(tokens_[pos_++]);
}

Id Parser::name_node() {
  const Id node = add(NodeKind::name, pos_);
  nodes[node].name = take_name("a name");
  return node;
}

// ---- strings --------------------------------------------------------------------------------------

/// Adjacent literals are one node, as in CPython: a constant, or a joined_str whose children are the fields.
Id Parser::strings() {
  const std::size_t first = pos_;
  const Id node = add(NodeKind::constant, first);
  bool bytes = false;
  bool text = false;
  while (is(Token::string) || is(Token::fstring_start)) {
    if (is(Token::string)) {
      ((tokens_[pos_].flags & kFlagBytes) != 0 ? bytes : text) = true;
      ++pos_;
    } else {
      text = true;
      nodes[node].kind = NodeKind::joined_str;
      fstring(node);
    }
    if (bytes && text) fail_at(node, "cannot mix bytes and nonbytes literals");
  }
  nodes[node].detail = static_cast<std::uint8_t>(bytes ? ConstantKind::bytes : ConstantKind::string);
  return close(node);
}

void Parser::fstring(Id joined) {
  const Level level(*this);
  ++pos_;
  fstring_parts(joined);
  expect(Token::fstring_end, "the end of the f-string");
}

void Parser::fstring_parts(Id joined) {
  while (true) {
    if (accept(Token::fstring_middle)) continue;
    if (!is(Token::lbrace)) return;
    fstring_field(joined);
  }
}

/// {value [=] [!conversion] [:specification]}
void Parser::fstring_field(Id joined) {
  const Level level(*this);
  const Id node = add(NodeKind::formatted_value, pos_);
  ++pos_;
  if (!starts_expression() && !is(Token::kw_yield))
    fail("f-string: a valid expression is required in the field");
  attach(node, yield_or_star_expressions(), Role::value);
  accept(Token::equal);
  if (accept(Token::exclaim)) {
    const TokenSpan& letter = tokens_[pos_];
    const bool known = is_word(letter, "s") || is_word(letter, "r") || is_word(letter, "a");
    if (!known || letter.begin != last_end()) fail("f-string: invalid conversion, expected 's', 'r' or 'a'");
    ++pos_;
  }
  if (is(Token::colon)) {
    const Id spec = add(NodeKind::joined_str, pos_);
    ++pos_;
    fstring_parts(spec);
    attach(node, close(spec), Role::other);
  }
  expect(Token::rbrace, "'}' at the end of an f-string field");
  attach(joined, close(node), Role::value);
}

// ---- parameters -----------------------------------------------------------------------------------

Id Parser::parameter(bool lambda, bool star) {
  const Id node = add(NodeKind::arg, pos_);
  nodes[node].name = take_name("a parameter");
  if (!lambda && accept(Token::colon)) {
    const Id annotation = star ? star_expression() : expression();
    attach(node, annotation, Role::annotation);
  }
  return close(node);
}

/// The parameters up to ')' or, of a lambda, ':'. Field order: positional, *vararg, keyword-only,
/// keyword-only defaults, **kwarg, positional defaults.
Id Parser::parameters(bool lambda) {
  const Token stop = lambda ? Token::colon : Token::rpar;
  const Id node = add(NodeKind::arguments, pos_);
  if (is(stop)) return node;
  std::vector<Id> positional;
  std::vector<Id> defaults;
  std::vector<Id> keyword_only;
  std::vector<Id> keyword_defaults;
  Id vararg = 0;
  Id kwarg = 0;
  bool star = false;
  bool slash = false;
  while (!is(stop)) {
    if (accept(Token::slash)) {
      if (slash || star || positional.empty()) fail("invalid syntax: '/' is out of place");
      slash = true;
    } else if (accept(Token::star)) {
      if (star) fail("* argument may appear only once");
      star = true;
      if (!is(Token::comma))
        vararg = parameter(lambda, true);
      else if (peek(1).kind == stop || peek(1).kind == Token::double_star)
        fail("named arguments must follow bare *");
    } else if (accept(Token::double_star)) {
      kwarg = parameter(lambda, false);
      accept(Token::comma);
      break;
    } else {
      (star ? keyword_only : positional).push_back(parameter(lambda, false));
      if (accept(Token::equal)) {
        const Id value = expression();
        (star ? keyword_defaults : defaults).push_back(value);
      } else if (!star && !defaults.empty()) {
        fail_at(positional.back(), "parameter without a default follows parameter with a default");
      }
    }
    if (!accept(Token::comma)) break;
  }
  if (star && vararg == 0 && keyword_only.empty()) fail("named arguments must follow bare *");
  for (const Id id : positional) attach(node, id, Role::arg);
  attach(node, vararg, Role::arg);
  for (const Id id : keyword_only) attach(node, id, Role::arg);
  for (const Id id : keyword_defaults) attach(node, id, Role::default_value);
  attach(node, kwarg, Role::arg);
  for (const Id id : defaults) attach(node, id, Role::default_value);
  return close(node);
}

// ---- targets --------------------------------------------------------------------------------------

bool Parser::is_single_target(Id node) const {
  const NodeKind kind = nodes[node].kind;
  return kind == NodeKind::name || kind == NodeKind::attribute || kind == NodeKind::subscript;
}

/// Fails unless `node` may be assigned to (or deleted).
void Parser::check_target(Id node, Target use) {
  if (is_single_target(node)) return;
  const NodeKind kind = nodes[node].kind;
  const bool starred = kind == NodeKind::starred && use != Target::del;
  if (!starred && kind != NodeKind::tuple && kind != NodeKind::list) {
    fail_at(node, use == Target::del ? "cannot delete this expression" : "cannot assign to this expression");
  }
  for (Id child = nodes[node].first; child != 0; child = nodes[child].next) check_target(child, use);
}

Id Parser::star_target(Target use) {
  const std::size_t first = pos_;
  Id node = 0;
  if (use != Target::del && accept(Token::star)) {
    node = add(NodeKind::starred, first);
    const Id value = binary(0);
    attach(node, value, Role::value);
    close(node);
  } else {
    node = binary(0);
  }
  check_target(node, use);
  return node;
}

/// The targets of a loop, up to "in".
Id Parser::target_list() {
  const std::size_t first = pos_;
  const Id target = star_target(Target::assign);
  if (!is(Token::comma)) return target;
  const Id tuple = add(NodeKind::tuple, first);
  attach(tuple, target, Role::elt);
  while (accept(Token::comma) && !is(Token::kw_in)) {
    const Id next = star_target(Target::assign);
    attach(tuple, next, Role::elt);
  }
  return close(tuple);
}

}  // namespace plumbline::python
