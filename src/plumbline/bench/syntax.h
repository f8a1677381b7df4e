// SPDX-License-Identifier: Apache-2.0
// A Python file as the rules see it: its abstract syntax in CPython's terms, in the order of ast.walk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/base/text.h"

namespace plumbline {

/// The classes of CPython's ast module that carry structure. Operators, contexts and type comments are left
/// out.
enum class NodeKind : std::uint8_t {
  module,
  function_def,
  async_function_def,
  class_def,
  return_stmt,
  delete_stmt,
  assign,
  type_alias,
  aug_assign,
  ann_assign,
  for_stmt,
  async_for,
  while_stmt,
  if_stmt,
  with_stmt,
  async_with,
  match_stmt,
  raise_stmt,
  try_stmt,
  try_star,
  assert_stmt,
  import_stmt,
  import_from,
  global_stmt,
  nonlocal_stmt,
  expr_stmt,
  pass_stmt,
  break_stmt,
  continue_stmt,
  bool_op,
  named_expr,
  bin_op,
  unary_op,
  lambda,
  if_exp,
  dict,
  set,
  list_comp,
  set_comp,
  dict_comp,
  generator_exp,
  await_expr,
  yield_expr,
  yield_from,
  compare,
  call,
  formatted_value,
  joined_str,
  constant,
  attribute,
  subscript,
  starred,
  name,
  list,
  tuple,
  slice,
  comprehension,
  except_handler,
  arguments,
  arg,
  keyword,
  alias,
  with_item,
  match_case,
  match_value,
  match_singleton,
  match_sequence,
  match_mapping,
  match_class,
  match_star,
  match_as,
  match_or,
  type_var,
  param_spec,
  type_var_tuple,
};

/// The field of its parent that a node stands in (CPython's names; those that no rule asks for are `other`).
enum class Role : std::uint8_t {
  other,
  body,
  orelse,
  func,
  arg,
  keyword,
  value,
  target,
  iter,
  test,
  decorator,
  base,
  default_value,
  annotation,
  args,
  elt,
  key,
  left,
  comparator,
  slice,
  context,
  vars,
  returns,
  handler,
  finalbody,
  exc,
  msg,
};

/// What a `constant` is.
enum class ConstantKind : std::uint8_t {
  none,
  true_value,
  false_value,
  ellipsis,
  integer,
  real,
  string,
  bytes
};

/// One node. `begin` and `end` are bytes of SyntaxTree::source(); children lie side by side in the tree.
struct SyntaxNode {
  NodeKind kind = NodeKind::module;
  Role role = Role::other;
  std::uint8_t detail =
      0;  ///< constant: ConstantKind; unary_op: '-', '+', '~' or '!' (not); bin_op: its first byte
  std::uint32_t parent = 0;
  std::uint32_t first_child = 0;
  std::uint32_t child_count = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t name = 0;     ///< index of a name, 0 for none; see SyntaxTree::name()
  std::uint32_t as_name = 0;  ///< alias: the name after "as"; import_from: the number of leading dots
};

/// The parsed file. Nodes are in breadth-first order (CPython's ast.walk): node 0 is the module, and going
/// through the indices is the walk.
class SyntaxTree {
 public:
  using Index = std::uint32_t;

  std::span<const SyntaxNode> nodes() const { return nodes_; }
  const SyntaxNode& operator[](Index i) const { return nodes_[i]; }
  Index index(const SyntaxNode& node) const { return static_cast<Index>(&node - nodes_.data()); }
  std::span<const SyntaxNode> children(const SyntaxNode& node) const {
    return std::span<const SyntaxNode>(nodes_).subspan(node.first_child, node.child_count);
  }
  const SyntaxNode& parent(const SyntaxNode& node) const { return nodes_[node.parent]; }
  /// The first child with that role, or nullptr.
  const SyntaxNode* child(const SyntaxNode& node, Role role) const;

  /// The identifier of a name, attribute, arg, keyword (empty for **), definition or alias (dotted), or the
  /// module of an import_from; normalised to NFKC as Python does.
  std::string_view name(const SyntaxNode& node) const { return text_of(node.name); }
  /// The name after "as" of an alias, or empty.
  std::string_view as_name(const SyntaxNode& node) const {
    return node.kind == NodeKind::alias ? text_of(node.as_name) : std::string_view{};
  }
  /// The source text of a node.
  std::string_view text(const SyntaxNode& node) const {
    return std::string_view(source_).substr(node.begin, node.end - node.begin);
  }
  std::string_view source() const { return source_; }
  /// Line and column (from 1; columns in code points) of a byte of the source.
  TextPosition position(std::size_t offset) const;
  /// The same for a node, with the file's name.
  Location locate(const SyntaxNode& node) const;
  const std::string& file() const { return file_; }

  /// Every node of the subtree under `root` (itself first), in the order of ast.walk on it.
  std::vector<Index> walk(Index root) const;
  /// True when `inner` lies in the subtree of `outer`.
  bool inside(Index inner, Index outer) const;

 private:
  friend class SyntaxTreeBuilder;
  struct Name {
    std::uint32_t begin;
    std::uint32_t length;
  };
  std::string_view text_of(std::uint32_t name) const;

  std::string file_;
  std::string source_;
  std::string extra_names_;  // names that are not a piece of the source: normalised or dotted over blanks
  std::vector<Name> names_;
  std::vector<SyntaxNode> nodes_;
  std::vector<std::uint32_t> lines_;  // where each line begins
};

/// Text of a Python file with its encoding resolved: UTF-8, no BOM, line ends '\n'.
struct PythonSource {
  std::string text;
  bool lone_cr = false;  ///< a carriage return alone ended a line
  std::string cookie;    ///< the encoding that the first two lines declare, in lower case, or ""
};

/// Decodes a file: BOM, coding cookie (PEP 263: UTF-8, ASCII, Latin-1, ISO-8859-15 and Windows-1252), line
/// ends. Bytes that are valid UTF-8 are read as UTF-8 whatever the cookie says. Error: bench-unreadable.
Parsed<PythonSource> decode_python(std::string_view bytes, const std::string& file);

/// Parses Python 3.8 to 3.13 exactly as far as CPython's parser does: what only its later passes refuse
/// (return outside a function, repeated arguments) parses. `code` is the slug of the diagnostic when it does
/// not.
Parsed<SyntaxTree> parse_python(std::string text, const std::string& file,
                                std::string_view code = "bench-syntax");

}  // namespace plumbline
