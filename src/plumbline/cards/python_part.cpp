// SPDX-License-Identifier: Apache-2.0
// A part of a Python module: what the reference needs, without the student's code in the same file.
#include <algorithm>
#include <set>

#include "plumbline/bench/calls.h"
#include "plumbline/bench/values.h"
#include "plumbline/cards/written.h"

namespace plumbline {
namespace {

/// A statement of the module's level.
struct Statement {
  const SyntaxNode* node;
  std::size_t begin, end;  ///< whole lines of the source
  std::set<std::string_view> defines, uses;
  bool star = false;   ///< from … import *
  bool plain = false;  ///< an expression, or an assignment to an attribute: it defines nothing
  bool kept = false;
};

bool stores(const SyntaxTree& tree, const SyntaxNode& name) {
  const SyntaxNode* at = &name;
  for (;;) {
    const SyntaxNode& parent = tree.parent(*at);
    switch (parent.kind) {
      case NodeKind::tuple:
      case NodeKind::list:
      case NodeKind::starred:
        at = &parent;
        continue;
      case NodeKind::assign:
      case NodeKind::ann_assign:
      case NodeKind::aug_assign:
      case NodeKind::for_stmt:
      case NodeKind::named_expr:
        return at->role == Role::other || at->role == Role::target;
      case NodeKind::with_item:
        return at->role == Role::vars;
      default:
        return false;
    }
  }
}

/// A node that holds blocks: its end is where the next statement begins.
bool holds_blocks(const SyntaxNode& node) {
  switch (node.kind) {
    case NodeKind::class_def:
    case NodeKind::for_stmt:
    case NodeKind::async_for:
    case NodeKind::while_stmt:
    case NodeKind::if_stmt:
    case NodeKind::with_stmt:
    case NodeKind::async_with:
    case NodeKind::match_stmt:
    case NodeKind::match_case:
    case NodeKind::try_stmt:
    case NodeKind::try_star:
    case NodeKind::except_handler:
      return true;
    default:
      return is_function(node);
  }
}

Statement read(const SyntaxTree& tree, const SyntaxNode& node) {
  Statement out{&node, node.begin, node.begin, {}, {}};
  const std::string_view source = tree.source();
  for (const SyntaxTree::Index i : tree.walk(tree.index(node))) {
    const SyntaxNode& inner = tree[i];
    out.begin = std::min<std::size_t>(out.begin, inner.begin);  // decorators stand above
    if (!holds_blocks(inner)) out.end = std::max<std::size_t>(out.end, inner.end);
    const bool own = enclosing_function(tree, inner) == nullptr;
    if (inner.kind == NodeKind::name) {
      (own && stores(tree, inner) ? out.defines : out.uses).insert(tree.name(inner));
    } else if (inner.kind == NodeKind::alias && own) {
      const std::string_view bound = tree.as_name(inner).empty() ? tree.name(inner) : tree.as_name(inner);
      out.star = out.star || bound == "*";
      out.defines.insert(bound.substr(0, tree.as_name(inner).empty() ? bound.find('.') : bound.npos));
    } else if ((is_function(inner) || inner.kind == NodeKind::class_def) && own) {
      out.defines.insert(tree.name(inner));
    }
  }
  out.plain = out.defines.empty();
  const std::size_t line = source.rfind('\n', out.begin);
  out.begin = line == std::string_view::npos ? 0 : line + 1;
  const std::size_t stop = source.find('\n', out.end);
  out.end = stop == std::string_view::npos ? source.size() : stop + 1;
  return out;
}

/// A string, or a setting of an imported module: torch.backends.cuda.matmul.allow_tf32 = True.
bool belongs(const SyntaxTree& tree, const Statement& statement, const std::set<std::string_view>& known,
             bool first) {
  if (statement.node->kind != NodeKind::assign && statement.node->kind != NodeKind::expr_stmt) return false;
  if (statement.uses.empty()) return first && tree.children(*statement.node)[0].kind == NodeKind::constant;
  return std::all_of(statement.uses.begin(), statement.uses.end(),
                     [&](std::string_view name) { return known.contains(name); });
}

}  // namespace

std::string python_part(const SyntaxTree& tree, const std::vector<std::string>& names) {
  std::vector<Statement> statements;
  for (const SyntaxNode& node : tree.children(tree[0])) statements.push_back(read(tree, node));
  std::set<std::string_view> wanted(names.begin(), names.end());
  std::set<std::string_view> imported;
  for (bool more = true; more;) {
    more = false;
    for (Statement& one : statements) {
      const bool needed = one.star || std::any_of(one.defines.begin(), one.defines.end(),
                                                  [&](std::string_view n) { return wanted.contains(n); });
      if (one.kept || !needed) continue;
      one.kept = more = true;
      wanted.insert(one.uses.begin(), one.uses.end());
      const bool import = one.node->kind == NodeKind::import_stmt || one.node->kind == NodeKind::import_from;
      if (import) imported.insert(one.defines.begin(), one.defines.end());
    }
  }
  std::string out;
  std::size_t written = 0;
  bool after_block = false;
  for (const Statement& one : statements) {
    const bool future = one.node->kind == NodeKind::import_from && tree.name(*one.node) == "__future__";
    if (!one.kept && !future && !(one.plain && belongs(tree, one, imported, &one == &statements.front())))
      continue;
    const std::size_t begin = std::max(one.begin, written);
    if (begin >= one.end) continue;  // the rest of a line that stands already
    const bool block = holds_blocks(*one.node);
    const bool apart = begin > 1 && tree.source().substr(begin - 2, 2) == "\n\n";
    if (!out.empty()) out += block || after_block ? "\n\n" : apart ? "\n" : "";
    out += tree.source().substr(begin, one.end - begin);
    if (!out.ends_with('\n')) out += '\n';
    written = one.end;
    after_block = block;
  }
  return out;
}

}  // namespace plumbline
