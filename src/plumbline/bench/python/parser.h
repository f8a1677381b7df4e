// SPDX-License-Identifier: Apache-2.0
// The parser's state. Private to the python folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/bench/python/token.h"
#include "plumbline/bench/syntax.h"

namespace plumbline::python {

using Id = std::uint32_t;  ///< index of a node being built; 0 is none (node 0 is the module)

/// A node while it is being built: children are linked, in the order of CPython's fields.
struct BuildNode {
  NodeKind kind = NodeKind::module;
  Role role = Role::other;
  std::uint8_t detail = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t name = 0;
  std::uint32_t as_name = 0;
  Id first = 0;
  Id last = 0;
  Id next = 0;
};

/// A name: a piece of the source, or (from `source size` on) of the extra names.
struct BuildName {
  std::uint32_t begin;
  std::uint32_t length;
};

/// A recursive-descent parser over the tokens, after CPython's own grammar (Grammar/python.gram). The depth
/// of recursion is bounded: by the tokenizer's limits on brackets and blocks, and by kMaxDepth.
class Parser {
 public:
  explicit Parser(std::string_view source);
  /// Builds the module. Throws SyntaxFailure.
  void run();

  std::vector<BuildNode> nodes;
  std::vector<BuildName> names;
  std::string extra_names;

 private:
  static constexpr int kMaxDepth = 1500;
  static constexpr std::size_t kMaxNodes = 2'500'000;

  /// Counts a level of recursion while it lives.
  struct Level {
    explicit Level(Parser& parser) : depth(parser.depth_) {
      if (++depth > kMaxDepth) {
        --depth;
        parser.fail("nested too deeply");
      }
    }
    ~Level() { --depth; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    int& depth;
  };

  // tokens
  const TokenSpan& peek(std::size_t ahead = 0) const {
    return tokens_[pos_ + ahead < tokens_.size() ? pos_ + ahead : tokens_.size() - 1];
  }
  bool is(Token kind) const { return tokens_[pos_].kind == kind; }
  bool accept(Token kind) {
    if (!is(kind)) return false;
    ++pos_;
    return true;
  }
  void expect(Token kind, const char* what);
  bool is_word(const TokenSpan& token, std::string_view word) const;
  [[noreturn]] void fail(const char* message) const;
  [[noreturn]] void fail_at(Id node, std::string message) const;
  std::uint32_t last_end() const { return tokens_[pos_ - 1].end; }
  std::size_t closing(std::size_t open) const;

  // nodes
  Id add(NodeKind kind, std::size_t first_token);
  Id add_around(NodeKind kind, Id first);
  void attach(Id parent, Id child, Role role);
  void attach_all(Id parent, std::size_t mark, Role role);
  Id close(Id node);
  std::uint32_t name_of(const TokenSpan& token);
  std::uint32_t take_name(const char* what);
  Id name_node();
  template <Id (Parser::*element)()>
  Id chain(NodeKind kind, Token separator, Role role);
  template <Id (Parser::*element)()>
  void more_of(Id node, Token stop);
  Id attribute_of(Id value, std::size_t first);

  // statements
  void statements_until(Token stop);
  void statement();
  void simple_statements();
  Id simple_statement();
  Id expression_statement();
  Id annotated(Id target);
  Id return_statement();
  Id raise_statement();
  Id assert_statement();
  Id delete_statement();
  Id scope_statement();
  Id import_statement();
  Id import_from();
  std::uint32_t dotted_name();
  Id alias(bool dotted);
  Id type_alias();
  Id compound_statement();
  void block(Id parent, Role role);
  void else_block(Id parent);
  Id if_statement();
  Id while_statement();
  Id for_statement(std::size_t first, bool async);
  Id with_statement(std::size_t first, bool async);
  bool parenthesised_items(Id with);
  Id with_item();
  Id try_statement();
  bool except_clauses(Id node);
  Id async_statement();
  Id decorated();
  Id function_def(std::size_t first, bool async, std::size_t decorators);
  Id class_def(std::size_t first, std::size_t decorators);
  void type_parameters();

  // match statements and patterns
  bool match_ahead() const;
  Id match_statement();
  void match_case(Id match);
  Id patterns();
  Id pattern();
  Id or_pattern();
  Id closed_pattern();
  Id maybe_star_pattern();
  bool literal_ahead() const;
  Id literal_expression();
  Id signed_number();
  Id group_or_sequence();
  Id mapping_pattern();
  Id mapping_key();
  Id class_pattern(Id cls, std::size_t first);
  Id dotted_pattern();
  std::uint32_t capture_name();

  // expressions
  Id star_expressions();
  Id star_expression();
  Id star_named_expression();
  Id named_expression();
  Id expression();
  Id yield_or_star_expressions();
  Id yield_expression();
  Id lambda();
  Id disjunction();
  Id conjunction();
  Id inversion();
  Id comparison();
  bool comparison_operator();
  Id binary(int level);
  Id factor();
  Id power();
  Id primary();
  Id atom();
  Id parenthesised();
  Id list_display();
  Id dict_or_set();
  Id dict_display(Id node, Id key);
  void comprehension_clauses(Id parent);
  Id slices();
  Id slice();
  void call_arguments(Id call, bool generator_allowed, Role positional);
  void call_argument(Id call, Role positional, int& stage);
  bool bare_walrus() const { return is(Token::name) && peek(1).kind == Token::walrus; }
  Id tuple_rest(Id first, std::size_t first_token, Id (Parser::*element)());
  bool starts_expression() const;
  Id constant(ConstantKind kind);
  bool comprehension_ahead() const;

  // parameters
  Id parameters(bool lambda);
  Id parameter(bool lambda, bool star);

  // strings
  Id strings();
  void fstring(Id joined);
  void fstring_field(Id joined);
  void fstring_parts(Id joined);

  // targets
  enum class Target { assign, del };
  Id target_list();
  Id star_target(Target use);
  void check_target(Id node, Target use);
  bool is_single_target(Id node) const;

  std::string_view source_;
  std::vector<TokenSpan> tokens_;
  std::size_t pos_ = 0;
  int depth_ = 0;
  std::vector<Id> stack_;  // children collected before their parent exists
};

/// An element, or where a separator follows it one flat node of all of them: a or b or c. A template, since
/// every expression comes through here and a direct call is what the compiler inlines.
template <Id (Parser::*element)()>
Id Parser::chain(NodeKind kind, Token separator, Role role) {
  const std::size_t first = pos_;
  const Id left = (this->*element)();
  if (!is(separator)) return left;
  const Id node = add(kind, first);
  attach(node, left, role);
  while (accept(separator)) {
    const Id next = (this->*element)();
    attach(node, next, role);
  }
  return close(node);
}

/// The elements behind the first of a bracket that `stop` closes; a comma may stand behind the last.
template <Id (Parser::*element)()>
void Parser::more_of(Id node, Token stop) {
  while (accept(Token::comma) && !is(stop)) {
    const Id next = (this->*element)();
    attach(node, next, Role::elt);
  }
}

}  // namespace plumbline::python
