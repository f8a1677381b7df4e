// SPDX-License-Identifier: Apache-2.0
// How many workloads a list holds that is not a literal.
#include <fmt/format.h>

#include <algorithm>

#include "plumbline/bench/calls.h"
#include "plumbline/bench/warnings.h"

namespace plumbline {
namespace {

constexpr long long kFewest = 3;
constexpr int kMostSteps = 64;
constexpr long long kMostCounted = 1'000'000'000;

using Count = std::optional<long long>;

Count times(Count a, Count b) {
  if (!a || !b || *a > kMostCounted || *b > kMostCounted) return std::nullopt;
  return *a * *b;
}

/// Is the list that a name holds changed after it is made?
bool extended(const SyntaxTree& tree, std::string_view name) {
  return std::any_of(tree.nodes().begin(), tree.nodes().end(), [&](const SyntaxNode& node) {
    if (node.kind != NodeKind::name || tree.name(node) != name) return false;
    const SyntaxNode& parent = tree.parent(node);
    if (parent.kind == NodeKind::aug_assign || parent.kind == NodeKind::delete_stmt)
      return node.role == Role::other;
    if (parent.kind == NodeKind::subscript) {
      const SyntaxNode& outer = tree.parent(parent);
      return outer.kind == NodeKind::delete_stmt ||
             (outer.kind == NodeKind::assign && parent.role == Role::other &&
              tree.child(parent, Role::slice)->kind == NodeKind::slice);
    }
    if (parent.kind != NodeKind::attribute) return false;
    const std::string_view method = tree.name(parent);
    return method == "append" || method == "extend" || method == "insert" || method == "pop" ||
           method == "remove" || method == "clear";
  });
}

/// Counts the items of an expression as far as the file tells.
class Counter {
 public:
  explicit Counter(const SyntaxTree& tree) : tree_(tree) {}

  Count items(const SyntaxNode& node) {
    if (++steps_ > kMostSteps) return std::nullopt;
    switch (node.kind) {
      case NodeKind::list:
      case NodeKind::tuple:
      case NodeKind::set:
        return elements(node);
      case NodeKind::dict:
        return node.child_count % 2 == 0 ? Count(node.child_count / 2) : std::nullopt;
      case NodeKind::list_comp:
      case NodeKind::generator_exp:
        return comprehension(node);
      case NodeKind::name:
        return named(tree_.name(node));
      case NodeKind::call:
        return call(node);
      case NodeKind::bin_op:
        return operation(node);
      default:
        return std::nullopt;
    }
  }

 private:
  Count elements(const SyntaxNode& node) {
    Count count = 0;
    for (const SyntaxNode& element : tree_.children(node)) {
      const Count part =
          element.kind == NodeKind::starred ? items(*tree_.child(element, Role::value)) : Count(1);
      if (!part) return std::nullopt;
      *count += *part;
    }
    return count;
  }

  Count comprehension(const SyntaxNode& node) {
    Count count = 1;
    for (const SyntaxNode& clause : tree_.children(node)) {
      if (clause.kind != NodeKind::comprehension) continue;
      if (tree_.child(clause, Role::test) != nullptr) return std::nullopt;
      count = times(count, items(*tree_.child(clause, Role::iter)));
    }
    return count;
  }

  Count named(std::string_view name) {
    const SyntaxNode* value = only_assignment(tree_, name);
    return value == nullptr || extended(tree_, name) ? std::nullopt : items(*value);
  }

  Count integer(const SyntaxNode& node) {
    if (node.kind == NodeKind::unary_op && node.detail == '-') {
      const Count inner = integer(tree_.children(node)[0]);
      return inner ? Count(-*inner) : std::nullopt;
    }
    if (node.kind == NodeKind::name) {
      const SyntaxNode* value = only_assignment(tree_, tree_.name(node));
      return value == nullptr || value->kind == NodeKind::name ? std::nullopt : literal_int(tree_, *value);
    }
    if (node.kind == NodeKind::call && callee_name(tree_, node) == "len") {
      const SyntaxNode* list = positional(tree_, node, 0);
      return list == nullptr ? std::nullopt : items(*list);
    }
    return literal_int(tree_, node);
  }

  Count range(const SyntaxNode& node) {
    std::vector<long long> bounds;
    for (std::size_t i = 0; const SyntaxNode* bound = positional(tree_, node, i); ++i) {
      const Count value = integer(*bound);
      if (!value || *value > kMostCounted || *value < -kMostCounted) return std::nullopt;
      bounds.push_back(*value);
    }
    if (bounds.empty() || bounds.size() > 3) return std::nullopt;
    const long long low = bounds.size() > 1 ? bounds[0] : 0;
    const long long high = bounds.size() > 1 ? bounds[1] : bounds[0];
    const long long step = bounds.size() > 2 ? bounds[2] : 1;
    if (step == 0) return std::nullopt;
    const long long span = step > 0 ? high - low : low - high;
    const long long width = step > 0 ? step : -step;
    return span <= 0 ? 0 : (span + width - 1) / width;
  }

  Count call(const SyntaxNode& node) {
    const std::string_view callee = callee_name(tree_, node);
    const SyntaxNode* first = positional(tree_, node, 0);
    if (callee == "range") return range(node);
    if (first != nullptr && first->kind == NodeKind::starred) return std::nullopt;
    if (callee == "list" || callee == "tuple" || callee == "sorted" || callee == "enumerate" ||
        callee == "reversed") {
      return first == nullptr ? Count(0) : items(*first);
    }
    if (callee == "items" || callee == "values" || callee == "keys") {
      const SyntaxNode* func = tree_.child(node, Role::func);
      return func->kind == NodeKind::attribute ? items(*tree_.child(*func, Role::value)) : std::nullopt;
    }
    if (callee == "product") return product(node);
    if (callee == "zip") return shortest(node);
    return returned(node);
  }

  Count product(const SyntaxNode& node) {
    Count count = 1;
    for (std::size_t i = 0; const SyntaxNode* part = positional(tree_, node, i); ++i)
      count = times(count, items(*part));
    const SyntaxNode* repeat = keyword_value(tree_, node, "repeat");
    const Count power = repeat == nullptr ? Count(1) : integer(*repeat);
    if (!power || *power < 0 || *power > 30) return std::nullopt;
    Count all = 1;
    for (long long i = 0; i < *power; ++i) all = times(all, count);
    return all;
  }

  Count shortest(const SyntaxNode& node) {
    Count least;
    for (std::size_t i = 0; const SyntaxNode* part = positional(tree_, node, i); ++i) {
      const Count count = items(*part);
      if (!count) return std::nullopt;
      least = least ? std::min(*least, *count) : *count;
    }
    return least;
  }

  /// A function of this file with one return.
  Count returned(const SyntaxNode& node) {
    const SyntaxNode* func = tree_.child(node, Role::func);
    const SyntaxNode* def =
        func->kind == NodeKind::name ? module_function(tree_, tree_.name(*func)) : nullptr;
    if (def == nullptr) return std::nullopt;
    const SyntaxNode* value = nullptr;
    for (const SyntaxTree::Index i : tree_.walk(tree_.index(*def))) {
      if (tree_[i].kind == NodeKind::yield_expr || tree_[i].kind == NodeKind::yield_from) return std::nullopt;
      if (tree_[i].kind != NodeKind::return_stmt) continue;
      if (value != nullptr || tree_[i].child_count == 0) return std::nullopt;
      value = &tree_.children(tree_[i])[0];
    }
    return value == nullptr ? std::nullopt : items(*value);
  }

  Count operation(const SyntaxNode& node) {
    const SyntaxNode& left = tree_.children(node)[0];
    const SyntaxNode& right = tree_.children(node)[1];
    if (node.detail == '+') {
      const Count a = items(left);
      const Count b = items(right);
      return a && b ? Count(*a + *b) : std::nullopt;
    }
    if (node.detail != '*') return std::nullopt;
    const bool list_first = left.kind == NodeKind::list || left.kind == NodeKind::tuple;
    const Count factor = integer(list_first ? right : left);
    return times(items(list_first ? left : right), factor && *factor >= 0 ? factor : std::nullopt);
  }

  const SyntaxTree& tree_;
  int steps_ = 0;
};

}  // namespace

Findings warn_workload_count(const SyntaxTree& bench) {
  Findings out;
  for (const SyntaxNode& call : bench.nodes()) {
    if (call.kind != NodeKind::call || callee_name(bench, call) != "measure_windows_workloads") continue;
    const SyntaxNode* list = positional(bench, call, 0);
    if (list == nullptr) list = keyword_value(bench, call, "workloads");
    const bool literal = list != nullptr && (list->kind == NodeKind::list || list->kind == NodeKind::tuple);
    if (literal) continue;
    const Count count = list == nullptr ? std::nullopt : Counter(bench).items(*list);
    if (count && *count < kFewest) {
      out.push_back(finding_at(bench, *list, "workloads-few-known",
                               fmt::format("this comes to {} workload{}, at least {} are needed", *count,
                                           *count == 1 ? "" : "s", kFewest)));
    } else if (!count) {
      out.push_back(
          finding_at(bench, list == nullptr ? call : *list, "workloads-uncounted",
                     "how many workloads this comes to cannot be counted here; the eval JSON is held to it"));
    }
  }
  return out;
}

}  // namespace plumbline
