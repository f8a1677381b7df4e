// SPDX-License-Identifier: Apache-2.0
#include "plumbline/bench/sides.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "plumbline/base/text.h"
#include "plumbline/bench/calls.h"
#include "plumbline/bench/values.h"

namespace plumbline {
namespace {

constexpr int kMostSteps = 8;  // of aliases, partials and compiles behind one callable

constexpr auto kStudentKeywords = std::to_array<std::string_view>(
    {"student", "candidate", "student_fn", "candidate_fn", "solution", "kernel_fn"});
constexpr auto kReferenceKeywords = std::to_array<std::string_view>(
    {"reference", "ref", "baseline", "reference_fn", "ref_fn", "baseline_fn"});

template <std::size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Does a name speak of the reference?
bool says_reference(std::string_view name) {
  const std::string lower = to_lower(name);
  return lower == "ref" || lower.starts_with("ref_") || lower.ends_with("_ref") ||
         lower.find("_ref_") != std::string::npos || lower.find("reference") != std::string::npos ||
         lower.find("baseline") != std::string::npos || lower.find("eager") != std::string::npos ||
         lower.starts_with("torch");
}

/// Is this name node written to by its statement (assigned, looped over, bound by with or :=)?
bool is_store(const SyntaxTree& tree, const SyntaxNode& name) {
  const SyntaxNode* node = &name;
  const SyntaxNode* parent = &tree.parent(*node);
  while (parent->kind == NodeKind::tuple || parent->kind == NodeKind::list ||
         parent->kind == NodeKind::starred) {
    node = parent;
    parent = &tree.parent(*node);
  }
  switch (parent->kind) {
    case NodeKind::assign:
    case NodeKind::ann_assign:
    case NodeKind::aug_assign:
    case NodeKind::for_stmt:
    case NodeKind::async_for:
    case NodeKind::comprehension:
    case NodeKind::named_expr:
    case NodeKind::delete_stmt:
      return node->role == Role::other;
    case NodeKind::with_item:
      return node->role == Role::vars;
    default:
      return false;
  }
}

/// The def that a name means: at module level if there is one, else any of that name.
const SyntaxNode* any_function(const SyntaxTree& tree, std::string_view name) {
  if (const SyntaxNode* def = module_function(tree, name)) return def;
  for (const SyntaxNode& node : tree.nodes()) {
    if (is_function(node) && tree.name(node) == name) return &node;
  }
  return nullptr;
}

bool is_body(const SyntaxNode& node) { return is_function(node) || node.kind == NodeKind::lambda; }

TimedSide make_side(const SyntaxTree& bench, const SyntaxNode& call, const SyntaxNode& callable,
                    bool reference) {
  TimedSide side;
  side.reference = reference;
  side.call = &call;
  side.callable = &callable;
  const SyntaxNode* resolved = resolve_callable(bench, callable);
  if (is_body(*resolved)) side.body = resolved;
  if (const auto text = text_value(bench, *resolved)) {
    side.target = *text;
  } else if (is_function(*resolved)) {
    side.target = bench.name(*resolved);
  } else {
    side.target = dotted_path(bench, *resolved);
  }
  return side;
}

/// What the name of an argument says of a side that stands in no place of its own.
bool argument_is_reference(const SyntaxTree& bench, const SyntaxNode& callable) {
  const std::string path = dotted_path(bench, callable);
  const std::size_t dot = path.find_last_of('.');
  return says_reference(path) || (dot != std::string::npos && says_reference(path.substr(dot + 1)));
}

bool can_be_called(const SyntaxNode& node) {
  return node.kind == NodeKind::name || node.kind == NodeKind::attribute || node.kind == NodeKind::lambda ||
         node.kind == NodeKind::call;
}

void sides_of_call(const SyntaxTree& bench, const SyntaxNode& call, bool workloads,
                   std::vector<TimedSide>& sides) {
  const std::size_t before = sides.size();
  for (const SyntaxNode& argument : bench.children(call)) {
    if (argument.role != Role::keyword) continue;
    const std::string_view name = bench.name(argument);
    const bool reference = among(kReferenceKeywords, name);
    if (!reference && !among(kStudentKeywords, name)) continue;
    sides.push_back(make_side(bench, call, *bench.child(argument, Role::value), reference));
  }
  if (sides.size() > before) return;
  const std::size_t skip = workloads ? 1 : 0;
  const SyntaxNode* first = positional(bench, call, skip);
  const SyntaxNode* second = positional(bench, call, skip + 1);
  if (first == nullptr) first = keyword_value(bench, call, "fn");
  if (first == nullptr || !can_be_called(*first)) return;
  if (second != nullptr && can_be_called(*second)) {
    sides.push_back(make_side(bench, call, *first, false));
    sides.push_back(make_side(bench, call, *second, true));
    return;
  }
  sides.push_back(make_side(bench, call, *first, argument_is_reference(bench, *first)));
  sides.back().alone = true;
}

}  // namespace

const SyntaxNode* only_assignment(const SyntaxTree& tree, std::string_view name) {
  const SyntaxNode* value = nullptr;
  for (const SyntaxNode& node : tree.nodes()) {
    if (node.kind != NodeKind::name || tree.name(node) != name || !is_store(tree, node)) continue;
    const SyntaxNode& parent = tree.parent(node);
    const bool plain = parent.kind == NodeKind::assign || parent.kind == NodeKind::ann_assign ||
                       parent.kind == NodeKind::named_expr;
    const SyntaxNode* assigned = plain ? tree.child(parent, Role::value) : nullptr;
    if (value != nullptr || assigned == nullptr) return nullptr;
    value = assigned;
  }
  return value;
}

const SyntaxNode* resolve_callable(const SyntaxTree& tree, const SyntaxNode& expression) {
  const SyntaxNode* node = &expression;
  for (int step = 0; step < kMostSteps; ++step) {
    const SyntaxNode* next = nullptr;
    if (node->kind == NodeKind::name) {
      next = any_function(tree, tree.name(*node));
      if (next == nullptr) next = only_assignment(tree, tree.name(*node));
    } else if (node->kind == NodeKind::call) {
      const std::string_view callee = callee_name(tree, *node);
      if (callee == "partial" || callee == "compile") next = positional(tree, *node, 0);
    }
    if (next == nullptr || next == node) return node;
    node = next;
  }
  return node;
}

std::vector<const SyntaxNode*> called_bodies(const SyntaxTree& tree, const SyntaxNode& body) {
  std::vector<const SyntaxNode*> bodies{&body};
  std::set<std::string_view> asked;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    for (const SyntaxTree::Index index : tree.walk(tree.index(*bodies[i]))) {
      const SyntaxNode& node = tree[index];
      if (node.kind != NodeKind::call) continue;
      const SyntaxNode* func = tree.child(node, Role::func);
      if (func->kind != NodeKind::name || !asked.insert(tree.name(*func)).second) continue;
      const SyntaxNode* def = any_function(tree, tree.name(*func));
      if (def != nullptr && std::find(bodies.begin(), bodies.end(), def) == bodies.end())
        bodies.push_back(def);
    }
  }
  return bodies;
}

std::vector<TimedSide> timed_sides(const SyntaxTree& bench) {
  std::vector<TimedSide> sides;
  for (const SyntaxNode& node : bench.nodes()) {
    if (node.kind != NodeKind::call) continue;
    const std::string_view callee = harness_name(bench, node);
    if (!callee.starts_with("measure_windows") && callee != "run_leaderboard_bench") continue;
    sides_of_call(bench, node, callee.find("workloads") != std::string_view::npos, sides);
  }
  return sides;
}

}  // namespace plumbline
