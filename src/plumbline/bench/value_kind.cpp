// SPDX-License-Identifier: Apache-2.0
// What kind of value an expression is, as far as a file tells.
#include <algorithm>
#include <array>

#include "plumbline/bench/calls.h"
#include "plumbline/bench/inputs.h"
#include "plumbline/bench/sides.h"
#include "plumbline/bench/values.h"

namespace plumbline {
namespace {

constexpr int kMostDepth = 10;

using Kind = MadeInput::Kind;

constexpr auto kPlainCalls = std::to_array<std::string_view>(
    {"int", "float", "len",   "bool", "str", "tuple", "list", "max",   "min",  "round",
     "sum", "abs",   "range", "sqrt", "pow", "prod",  "ceil", "floor", "Size", "item"});

class Reader {
 public:
  explicit Reader(const SyntaxTree& tree) : tree_(tree) {}

  Kind kind(const SyntaxNode& node, int depth) {
    if (depth > kMostDepth) return Kind::unknown;
    switch (node.kind) {
      case NodeKind::constant:
      case NodeKind::joined_str:
      case NodeKind::compare:
        return Kind::plain;
      case NodeKind::named_expr:
        return kind(*tree_.child(node, Role::value), depth + 1);
      case NodeKind::unary_op:
        return kind(tree_.children(node)[0], depth + 1);
      case NodeKind::bin_op: {
        const Kind a = kind(tree_.children(node)[0], depth + 1);
        const Kind b = kind(tree_.children(node)[1], depth + 1);
        if (a == Kind::tensor || b == Kind::tensor) return Kind::tensor;
        return a == Kind::unknown || b == Kind::unknown ? Kind::unknown : Kind::plain;
      }
      case NodeKind::if_exp: {
        const Kind a = kind(*tree_.child(node, Role::body), depth + 1);
        return a == kind(*tree_.child(node, Role::orelse), depth + 1) ? a : Kind::unknown;
      }
      case NodeKind::name:
        return name_kind(node, depth);
      case NodeKind::call:
        return call_kind(node, depth);
      default:
        return Kind::unknown;
    }
  }

 private:
  Kind name_kind(const SyntaxNode& use, int depth) {
    if (const SyntaxNode* scope = enclosing_function(tree_, use)) {
      for (const SyntaxTree::Index i : tree_.walk(tree_.index(*scope))) {
        const SyntaxNode& node = tree_[i];
        if (node.kind != NodeKind::name || tree_.name(node) != tree_.name(use)) continue;
        const SyntaxNode& parent = tree_.parent(node);
        if (parent.kind == NodeKind::assign && node.role == Role::other) {
          return kind(*tree_.child(parent, Role::value), depth + 1);
        }
        if (parent.kind == NodeKind::named_expr && node.role != Role::value) {
          return kind(*tree_.child(parent, Role::value), depth + 1);
        }
        const SyntaxNode& outer = tree_.parent(parent);
        if (parent.kind == NodeKind::tuple && outer.kind == NodeKind::assign && parent.role == Role::other) {
          return unpacked(node, parent, *tree_.child(outer, Role::value), depth);
        }
      }
      for (const Parameter& parameter : parameters_of(tree_, *scope)) {
        if (tree_.name(*parameter.node) == tree_.name(use)) return Kind::unknown;
      }
    }
    const SyntaxNode* value = only_assignment(tree_, tree_.name(use));
    return value == nullptr ? Kind::unknown : kind(*value, depth + 1);
  }

  /// q, k = fresh(), fresh() and out, lse = forward(q)
  Kind unpacked(const SyntaxNode& name, const SyntaxNode& targets, const SyntaxNode& value, int depth) {
    if (value.kind == NodeKind::tuple && value.child_count == targets.child_count) {
      return kind(tree_.children(value)[tree_.index(name) - targets.first_child], depth + 1);
    }
    if (value.kind == NodeKind::generator_exp || value.kind == NodeKind::list_comp) {
      const SyntaxNode* element = tree_.child(value, Role::elt);
      return element == nullptr ? Kind::unknown : kind(*element, depth + 1);
    }
    return value.kind == NodeKind::call ? call_kind(value, depth) : Kind::unknown;
  }

  Kind call_kind(const SyntaxNode& node, int depth) {
    const std::string_view callee = callee_name(tree_, node);
    if (std::find(kPlainCalls.begin(), kPlainCalls.end(), callee) != kPlainCalls.end()) return Kind::plain;
    const SyntaxNode* func = tree_.child(node, Role::func);
    if (func->kind == NodeKind::attribute) {
      const std::string path = dotted_path(tree_, *func);
      if (path.starts_with("math.") || path.starts_with("os.")) return Kind::plain;
      if (path.starts_with("torch.") || path.starts_with("np.") || path.starts_with("numpy.") ||
          path.starts_with("F.")) {
        return Kind::tensor;
      }
      if (path.starts_with("reference.") || path.starts_with("kernel.")) return Kind::tensor;
      return kind(*tree_.child(*func, Role::value), depth + 1);  // a method: what its object is
    }
    const SyntaxNode* function = func->kind == NodeKind::name ? function_named(tree_, callee) : nullptr;
    if (function == nullptr) return Kind::unknown;
    for (const SyntaxTree::Index i : tree_.walk(tree_.index(*function))) {
      if (tree_[i].kind == NodeKind::return_stmt && tree_[i].child_count > 0 &&
          enclosing_function(tree_, tree_[i]) == function) {
        return kind(tree_.children(tree_[i])[0], depth + 1);
      }
    }
    return Kind::unknown;
  }

  const SyntaxTree& tree_;
};

}  // namespace

MadeInput::Kind kind_of(const SyntaxTree& tree, const SyntaxNode& value) {
  return Reader(tree).kind(value, 0);
}

}  // namespace plumbline
