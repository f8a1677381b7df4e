// SPDX-License-Identifier: Apache-2.0
// The inputs of the timed calls: constant values, and one set that the timed call changes in place.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "plumbline/base/text.h"
#include "plumbline/bench/calls.h"
#include "plumbline/bench/warnings.h"

namespace plumbline {
namespace {

constexpr auto kConstant = std::to_array<std::string_view>(
    {"zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "empty", "empty_like"});
/// Names of tensors that are constant for a reason.
constexpr auto kFine =
    std::to_array<std::string_view>({"mask", "grad", "out", "buf", "cu_", "offset", "index", "indices",
                                     "workspace", "scale", "bias", "eps", "state"});

bool says(std::string_view name, const auto& words) {
  const std::string lower = to_lower(name);
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

bool makes_constant(const SyntaxTree& tree, const SyntaxNode& node) {
  if (node.kind != NodeKind::call) return false;
  const SyntaxNode* func = tree.child(node, Role::func);
  const std::string path = dotted_path(tree, *func);
  if (!path.starts_with("torch.")) return false;
  if (std::find(kConstant.begin(), kConstant.end(), callee_name(tree, node)) == kConstant.end()) return false;
  const SyntaxNode* dtype = keyword_value(tree, node, "dtype");
  if (dtype == nullptr) return true;
  const std::string type = dotted_path(tree, *dtype);
  return type.find("int") == std::string::npos && !type.ends_with("bool") && !type.ends_with("long");
}

/// What an input is called: the key of a dict, the keyword, or the name that is assigned.
std::string input_name(const SyntaxTree& tree, const SyntaxNode& value) {
  const SyntaxNode& parent = tree.parent(value);
  if (parent.kind == NodeKind::keyword) return std::string(tree.name(parent));
  if (parent.kind == NodeKind::assign) {
    const SyntaxNode& target = tree.children(parent)[0];
    return target.kind == NodeKind::name ? std::string(tree.name(target)) : std::string(tree.text(target));
  }
  if (parent.kind == NodeKind::dict) {
    // All keys stand before all values.
    const std::size_t values = parent.child_count / 2;
    const std::size_t at = tree.index(value) - parent.first_child;
    if (parent.child_count % 2 == 0 && at >= values) {
      const auto key = literal_string(tree, tree.children(parent)[at - values]);
      if (key) return std::string(*key);
    }
  }
  return {};
}

/// Does the call's value stand where an input is given, rather than inside a computation?
bool stands_alone(const SyntaxTree& tree, const SyntaxNode& value) {
  switch (tree.parent(value).kind) {
    case NodeKind::assign:
    case NodeKind::ann_assign:
    case NodeKind::dict:
    case NodeKind::keyword:
    case NodeKind::list:
    case NodeKind::tuple:
    case NodeKind::return_stmt:
      return true;
    default:
      return false;
  }
}

bool makes_inputs(std::string_view function) {
  const std::string lower = to_lower(function);
  return lower.find("input") != std::string::npos || lower == "make" || lower.starts_with("make_") ||
         lower.starts_with("gen") || lower.find("_data") != std::string::npos;
}

/// The parts of a file that make inputs: functions named so, and what measuring calls take as workloads or
/// inputs.
std::vector<const SyntaxNode*> input_makers(const SyntaxTree& bench) {
  std::vector<const SyntaxNode*> makers;
  for (const SyntaxNode& node : bench.nodes()) {
    if (is_function(node) && makes_inputs(bench.name(node))) makers.push_back(&node);
    if (node.kind != NodeKind::call || !callee_name(bench, node).starts_with("measure_windows")) continue;
    if (const SyntaxNode* inputs = keyword_value(bench, node, "inputs")) {
      makers.push_back(resolve_callable(bench, *inputs));
    }
  }
  return makers;
}

/// The names that a body makes itself: parameters are the caller's.
std::set<std::string_view> local_names(const SyntaxTree& tree, const std::vector<SyntaxTree::Index>& walk) {
  std::set<std::string_view> names;
  for (const SyntaxTree::Index i : walk) {
    const SyntaxNode& node = tree[i];
    if (node.kind == NodeKind::name && node.role == Role::other &&
        tree.parent(node).kind == NodeKind::assign) {
      names.insert(tree.name(node));
    }
  }
  return names;
}

/// The name at the root of a.b[c].d, or nullptr.
const SyntaxNode* root_name(const SyntaxTree& tree, const SyntaxNode& expression) {
  const SyntaxNode* node = &expression;
  while (node->kind == NodeKind::attribute || node->kind == NodeKind::subscript)
    node = tree.child(*node, Role::value);
  return node->kind == NodeKind::name ? node : nullptr;
}

/// What a node changes in place: x in x.add_(…), x[…] = …, x += … on an item.
const SyntaxNode* changed(const SyntaxTree& tree, const SyntaxNode& node) {
  if (node.kind == NodeKind::call) {
    const SyntaxNode* func = tree.child(node, Role::func);
    const std::string_view name = callee_name(tree, node);
    const bool in_place =
        name.size() > 1 && name.ends_with("_") && !name.starts_with("_") && !name.ends_with("__");
    return in_place && func->kind == NodeKind::attribute ? root_name(tree, *tree.child(*func, Role::value))
                                                         : nullptr;
  }
  const bool target = node.role == Role::other && (tree.parent(node).kind == NodeKind::assign ||
                                                   tree.parent(node).kind == NodeKind::aug_assign);
  return target && node.kind == NodeKind::subscript ? root_name(tree, node) : nullptr;
}

}  // namespace

Findings warn_inputs(const SyntaxTree& bench, const std::vector<TimedSide>& sides) {
  Findings out;
  std::set<const SyntaxNode*> reported;
  for (const SyntaxNode* maker : input_makers(bench)) {
    for (const SyntaxTree::Index i : bench.walk(bench.index(*maker))) {
      const SyntaxNode& node = bench[i];
      if (!makes_constant(bench, node) || !stands_alone(bench, node) || !reported.insert(&node).second)
        continue;
      const std::string name = input_name(bench, node);
      if (says(name, kFine)) continue;
      out.push_back(
          finding_at(bench, node, "inputs-constant",
                     fmt::format("the input {}comes from torch.{}: one value, or none, everywhere",
                                 name.empty() ? "" : fmt::format("'{}' ", name), callee_name(bench, node)),
                     name));
    }
  }
  reported.clear();
  for (const TimedSide& side : sides) {
    if (side.body == nullptr || !reported.insert(side.body).second) continue;
    const std::vector<SyntaxTree::Index> walk = bench.walk(bench.index(*side.body));
    const std::set<std::string_view> local = local_names(bench, walk);
    for (const SyntaxTree::Index i : walk) {
      const SyntaxNode* root = changed(bench, bench[i]);
      if (root == nullptr || local.contains(bench.name(*root))) continue;
      out.push_back(finding_at(
          bench, bench[i], "inputs-mutated",
          fmt::format("the {}'s timed call changes '{}' in place, and every call is given the same",
                      side.reference ? "reference" : "student", bench.name(*root)),
          std::string(bench.name(*root))));
      break;
    }
  }
  return out;
}

}  // namespace plumbline
