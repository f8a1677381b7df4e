// SPDX-License-Identifier: Apache-2.0
// Workloads that come to the same inputs, and inputs that are made once and kept.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "plumbline/bench/calls.h"
#include "plumbline/bench/inputs.h"
#include "plumbline/bench/reach.h"
#include "plumbline/bench/values.h"
#include "plumbline/bench/warnings.h"

namespace plumbline {
namespace {

/// An expression with its constants worked out and `parameters` numbered: make(4096, $0) of lambda s: make(N,
/// s). Empty where it uses a name that differs from call to call.
void write(const SyntaxTree& tree, const SyntaxNode& node, const std::vector<std::string_view>& parameters,
           std::string& out) {
  if (const auto number = number_value(tree, node)) {
    out += fmt::format("{}", *number);
    return;
  }
  if (node.kind == NodeKind::name) {
    const auto found = std::find(parameters.begin(), parameters.end(), tree.name(node));
    out += found == parameters.end() ? std::string(tree.name(node))
                                     : fmt::format("${}", found - parameters.begin());
    return;
  }
  if (node.child_count == 0) {
    out += tree.text(node);
    return;
  }
  out += fmt::format("{}{}{}(", static_cast<int>(node.kind),
                     node.detail == 0 ? "" : fmt::format(".{}", node.detail),
                     node.name == 0 ? "" : ":" + std::string(tree.name(node)));
  for (const SyntaxNode& child : tree.children(node)) {
    write(tree, child, parameters, out);
    out += ',';
  }
  out += ')';
}

std::string fingerprint(const SyntaxTree& tree, const SyntaxNode& maker) {
  std::string out;
  if (maker.kind != NodeKind::lambda) {
    write(tree, maker, {}, out);
    return out;
  }
  std::vector<std::string_view> parameters;
  for (const Parameter& parameter : parameters_of(tree, maker)) {
    if (parameter.has_default) return fmt::format("lambda at {}", maker.begin);
    parameters.push_back(tree.name(*parameter.node));
  }
  write(tree, *tree.child(maker, Role::body), parameters, out);
  return out;
}

std::set<std::string_view> names_in(const SyntaxTree& tree, const SyntaxNode& node) {
  std::set<std::string_view> names;
  for (const SyntaxTree::Index i : tree.walk(tree.index(node))) {
    if (tree[i].kind == NodeKind::name) names.insert(tree.name(tree[i]));
  }
  return names;
}

/// The comprehension or the loop around a workload, as far as its def.
std::vector<const SyntaxNode*> loops_around(const SyntaxTree& tree, const SyntaxNode& workload) {
  std::vector<const SyntaxNode*> out;
  for (const SyntaxNode* node = &workload; tree.index(*node) != 0; node = &tree.parent(*node)) {
    const SyntaxNode& parent = tree.parent(*node);
    if (is_function(parent) || parent.kind == NodeKind::lambda) break;
    if (parent.kind == NodeKind::for_stmt && node->role == Role::body) out.push_back(&parent);
    if (parent.kind == NodeKind::list_comp || parent.kind == NodeKind::generator_exp) {
      for (const SyntaxNode& clause : tree.children(parent)) {
        if (clause.kind == NodeKind::comprehension) out.push_back(&clause);
      }
    }
  }
  return out;
}

/// A loop variable over a literal list whose items are all one number: (4096, 4096, 4096), enumerated or not.
bool always_equal(const SyntaxTree& tree, const std::vector<const SyntaxNode*>& loops,
                  std::string_view name) {
  for (const SyntaxNode* loop : loops) {
    const SyntaxNode& target = tree.children(*loop)[0];
    const SyntaxNode* items = tree.child(*loop, Role::iter);
    const bool enumerated =
        items != nullptr && items->kind == NodeKind::call && callee_name(tree, *items) == "enumerate";
    const SyntaxNode* variable = &target;
    if (enumerated) {
      items = positional(tree, *items, 0);
      if (target.kind != NodeKind::tuple || target.child_count != 2) continue;
      variable = &tree.children(target)[1];
    }
    if (items == nullptr || (items->kind != NodeKind::list && items->kind != NodeKind::tuple) ||
        variable->kind != NodeKind::name || tree.name(*variable) != name || items->child_count < 2)
      continue;
    const auto first = number_value(tree, tree.children(*items)[0]);
    bool equal = first.has_value();
    for (const SyntaxNode& item : tree.children(*items)) equal = equal && number_value(tree, item) == first;
    if (equal) return true;
  }
  return false;
}

/// A workload in a loop: does its maker differ from turn to turn?
void in_loop(const SyntaxTree& bench, const SyntaxNode& workload, const SyntaxNode& maker,
             const std::vector<const SyntaxNode*>& loops, Findings& out) {
  std::set<std::string_view> varying;
  for (const SyntaxNode* loop : loops) varying.merge(names_in(bench, bench.children(*loop)[0]));
  std::set<std::string_view> bound;
  if (maker.kind == NodeKind::lambda) {
    for (const Parameter& parameter : parameters_of(bench, maker)) bound.insert(bench.name(*parameter.node));
    std::string_view late;
    for (const std::string_view name : names_in(bench, *bench.child(maker, Role::body))) {
      if (varying.contains(name) && !bound.contains(name)) late = name;
    }
    if (!late.empty()) {
      // A loop that also measures uses each lambda before the next turn.
      const SyntaxNode* loop = loops.front();
      const bool measures =
          std::any_of(bench.nodes().begin(), bench.nodes().end(), [&](const SyntaxNode& node) {
            return node.kind == NodeKind::call && harness_name(bench, node) == "measure_windows_workloads" &&
                   loop->kind == NodeKind::for_stmt && bench.inside(bench.index(node), bench.index(*loop));
          });
      if (!measures) {
        out.push_back(
            finding_at(bench, maker, "workloads-same",
                       fmt::format("the lambda reads '{}' when it is called, after the loop: every workload "
                                   "has the last one's inputs",
                                   late)));
      }
      return;
    }
  }
  for (const std::string_view name : names_in(bench, maker)) {
    if (varying.contains(name) && !always_equal(bench, loops, name)) return;
  }
  // Names that the loop's body sets may differ too.
  if (std::any_of(loops.begin(), loops.end(),
                  [](const SyntaxNode* loop) { return loop->kind == NodeKind::for_stmt; })) {
    return;
  }
  out.push_back(finding_at(bench, workload, "workloads-same",
                           "every turn of the loop makes a workload of the same shape"));
}

/// [Workload(…)] * 3, or nullptr.
const SyntaxNode* multiplied(const SyntaxTree& tree, const SyntaxNode& workload) {
  const SyntaxNode& list = tree.parent(workload);
  const SyntaxNode& product = tree.parent(list);
  const bool made = (list.kind == NodeKind::list || list.kind == NodeKind::tuple) &&
                    product.kind == NodeKind::bin_op && product.detail == '*';
  return made ? &product : nullptr;
}

bool is_cache(const SyntaxTree& tree, const SyntaxNode& decorator) {
  const SyntaxNode* at = decorator.kind == NodeKind::call ? tree.child(decorator, Role::func) : &decorator;
  const std::string path = dotted_path(tree, *at);
  const std::string last = path.substr(path.rfind('.') + 1);
  return last == "cache" || last == "lru_cache" || last == "memoize" || last == "cached" || last == "memoise";
}

/// How a def keeps what it made, or nothing.
const SyntaxNode* keeps(const SyntaxTree& tree, const SyntaxNode& function) {
  for (const SyntaxTree::Index i : tree.walk(tree.index(function))) {
    const SyntaxNode& node = tree[i];
    if (node.role == Role::decorator && is_cache(tree, node)) return &node;
    // return _KEPT.setdefault(key, made)
    if (node.kind == NodeKind::call && callee_name(tree, node) == "setdefault") {
      const SyntaxNode* func = tree.child(node, Role::func);
      const SyntaxNode* object = func->kind == NodeKind::attribute ? tree.child(*func, Role::value) : nullptr;
      if (object != nullptr && object->kind == NodeKind::name &&
          !is_local(tree, function, tree.name(*object)))
        return &node;
    }
    // _KEPT[key] = made, where _KEPT is not a local name (or a parameter's mutable default)
    if (node.kind != NodeKind::subscript || node.role != Role::other ||
        tree.parent(node).kind != NodeKind::assign) {
      continue;
    }
    const SyntaxNode* root = tree.child(node, Role::value);
    if (root->kind != NodeKind::name) continue;
    bool outside = !is_local(tree, function, tree.name(*root));
    for (const Parameter& parameter : parameters_of(tree, function)) {
      outside = outside || (parameter.has_default && tree.name(*parameter.node) == tree.name(*root));
    }
    if (outside) return &node;
  }
  return nullptr;
}

}  // namespace

Findings warn_same(const SyntaxTree& bench, ModuleSet& modules) {
  Findings out;
  std::map<std::string, const SyntaxNode*> known;
  std::map<std::string, const SyntaxNode*> names;
  for (const SyntaxNode* workload : workload_calls(bench)) {
    const SyntaxNode* named = positional(bench, *workload, 0);
    const auto text = named == nullptr ? std::nullopt : text_value(bench, *named);
    if (text && enclosing_function(bench, *workload) == nullptr) {
      const auto [first, fresh] = names.try_emplace(*text, workload);
      if (!fresh) {
        out.push_back(finding_at(bench, *workload, "workloads-same",
                                 fmt::format("'{}' is the name of the workload on line {}, too", *text,
                                             bench.position(first->second->begin).line)));
        continue;
      }
    }
    if (const SyntaxNode* repeated = multiplied(bench, *workload)) {
      out.push_back(
          finding_at(bench, *repeated, "workloads-same", "a list of workloads times a number repeats them"));
      continue;
    }
    const SyntaxNode* maker = maker_argument(bench, *workload);
    if (maker == nullptr) continue;
    const SyntaxNode* function = enclosing_function(bench, *workload);
    const std::vector<const SyntaxNode*> loops = loops_around(bench, *workload);
    if (!loops.empty()) {
      in_loop(bench, *workload, *maker, loops, out);
    } else if (function == nullptr || parameters_of(bench, *function).empty()) {
      const auto [first, fresh] = known.try_emplace(fingerprint(bench, *maker), workload);
      if (!fresh) {
        out.push_back(
            finding_at(bench, *workload, "workloads-same",
                       fmt::format("this workload has the same inputs as the one on line {}: shapes are to "
                                   "be distinct",
                                   bench.position(first->second->begin).line)));
      }
    }
  }
  std::set<const SyntaxNode*> reported;
  for (const SyntaxNode* maker : input_functions(bench)) {
    for (const Place& place : reach_from(bench, *maker, {}, modules).places) {
      if (!is_function(*place.node)) continue;
      const SyntaxNode* at = keeps(*place.tree, *place.node);
      if (at != nullptr && reported.insert(at).second) {
        out.push_back(finding_at(
            *place.tree, *at, "inputs-kept",
            fmt::format("'{}' keeps what it made and hands it out again", place.tree->name(*place.node))));
      }
    }
  }
  return out;
}

}  // namespace plumbline
