// SPDX-License-Identifier: Apache-2.0
#include "plumbline/bench/inputs.h"

#include <algorithm>
#include <array>
#include <optional>

#include "plumbline/bench/calls.h"
#include "plumbline/bench/values.h"

namespace plumbline {
namespace {

constexpr int kMostDepth = 10;

using Kind = MadeInput::Kind;

/// Reads dictionaries of one function of one file.
class Maker {
 public:
  Maker(const SyntaxTree& tree, ModuleSet& modules, int depth)
      : tree_(tree), modules_(modules), depth_(depth) {}

  MadeInputs callable(const SyntaxNode& node) {
    if (depth_ > kMostDepth) return {};
    const SyntaxNode* resolved = resolve_callable(tree_, node);
    if (resolved->kind == NodeKind::lambda) return dictionary(*tree_.child(*resolved, Role::body));
    if (is_function(*resolved)) return returned(*resolved);
    if (resolved->kind == NodeKind::call) {
      // Maker(1024): an instance that is called
      const SyntaxNode* func = tree_.child(*resolved, Role::func);
      if (func->kind == NodeKind::name) {
        for (const SyntaxNode& node_of : tree_.nodes()) {
          if (node_of.kind != NodeKind::class_def || tree_.name(node_of) != tree_.name(*func)) continue;
          for (const SyntaxNode& method : tree_.children(node_of)) {
            if (is_function(method) && tree_.name(method) == "__call__") return returned(method);
          }
        }
      }
      return {};
    }
    if (resolved->kind == NodeKind::attribute) {
      if (const SyntaxNode* function = function_named(tree_, tree_.name(*resolved)))
        return returned(*function);
    }
    if (resolved->kind == NodeKind::name || resolved->kind == NodeKind::attribute) return imported(*resolved);
    return {};
  }

  MadeInputs returned(const SyntaxNode& function) {
    MadeInputs out;
    for (const SyntaxTree::Index i : tree_.walk(tree_.index(function))) {
      const SyntaxNode& node = tree_[i];
      if ((node.kind == NodeKind::yield_expr || node.kind == NodeKind::yield_from) &&
          enclosing_function(tree_, node) == &function) {
        return {};
      }
      if (node.kind != NodeKind::return_stmt || enclosing_function(tree_, node) != &function) continue;
      if (node.child_count == 0) return {};
      MadeInputs part = dictionary(tree_.children(node)[0]);
      if (!part.known) return {};
      merge(out, std::move(part));
    }
    return out;
  }

 private:
  static void merge(MadeInputs& to, MadeInputs from) {
    for (MadeInput& one : from.names) {
      const auto same = std::find_if(to.names.begin(), to.names.end(),
                                     [&](const MadeInput& other) { return other.name == one.name; });
      if (same == to.names.end()) to.names.push_back(std::move(one));
    }
    to.known = true;
  }

  MadeInputs imported(const SyntaxNode& callee) {
    const std::string path = dotted_path(tree_, callee);
    const std::string root = path.substr(0, path.find('.'));
    for (const SyntaxNode& alias : tree_.nodes()) {
      if (alias.kind != NodeKind::alias) continue;
      const std::string_view bound = tree_.as_name(alias).empty() ? tree_.name(alias) : tree_.as_name(alias);
      if (bound != root) continue;
      const SyntaxNode& import = tree_.parent(alias);
      const bool from = import.kind == NodeKind::import_from;
      const SyntaxTree* target =
          modules_.find(tree_, from ? tree_.name(import) : tree_.name(alias), from ? import.as_name : 0);
      const std::string name =
          from && path == root ? std::string(tree_.name(alias)) : path.substr(path.rfind('.') + 1);
      if (from && path != root && !tree_.name(import).empty()) {
        target = modules_.find(tree_, std::string(tree_.name(import)) + "." + std::string(tree_.name(alias)),
                               import.as_name);
      }
      const SyntaxNode* function = target == nullptr ? nullptr : module_function(*target, name);
      if (function != nullptr) return Maker(*target, modules_, depth_ + 1).returned(*function);
    }
    return {};
  }

  MadeInputs dictionary(const SyntaxNode& node) {
    if (++steps_ > 200 || depth_ > kMostDepth) return {};
    switch (node.kind) {
      case NodeKind::dict:
        return display(node);
      case NodeKind::dict_comp:
        return comprehension(node);
      case NodeKind::if_exp: {
        MadeInputs out = dictionary(*tree_.child(node, Role::body));
        MadeInputs other = dictionary(*tree_.child(node, Role::orelse));
        if (!out.known || !other.known) return {};
        merge(out, std::move(other));
        return out;
      }
      case NodeKind::bin_op: {
        if (node.detail != '|') return {};
        MadeInputs out = dictionary(tree_.children(node)[0]);
        MadeInputs other = dictionary(tree_.children(node)[1]);
        if (!out.known || !other.known) return {};
        merge(out, std::move(other));
        return out;
      }
      case NodeKind::name:
        return named(node);
      case NodeKind::call:
        return call(node);
      default:
        return {};
    }
  }

  MadeInputs display(const SyntaxNode& node) {
    MadeInputs out;
    out.known = true;
    for (const DictEntry& entry : dict_entries(tree_, node)) {
      if (entry.key == nullptr) {
        MadeInputs part = dictionary(*entry.value);
        if (!part.known) return {};
        merge(out, std::move(part));
        continue;
      }
      const auto key = text_value(tree_, *entry.key);
      if (!key) return {};
      merge(out, {true, {{*key, &tree_, entry.key, kind_of(tree_, *entry.value)}}});
    }
    return out;
  }

  /// {name: … for name in ("q", "k", "v")}
  MadeInputs comprehension(const SyntaxNode& node) {
    const SyntaxNode* key = tree_.child(node, Role::key);
    const SyntaxNode* clause = nullptr;
    for (const SyntaxNode& child : tree_.children(node)) {
      if (child.kind != NodeKind::comprehension) continue;
      if (clause != nullptr || tree_.child(child, Role::test) != nullptr) return {};
      clause = &child;
    }
    if (clause == nullptr || key == nullptr || key->kind != NodeKind::name) return {};
    const SyntaxNode& target = tree_.children(*clause)[0];
    if (target.kind != NodeKind::name || tree_.name(target) != tree_.name(*key)) return {};
    const SyntaxNode* items = tree_.child(*clause, Role::iter);
    if (items->kind == NodeKind::name) items = only_assignment(tree_, tree_.name(*items));
    if (items == nullptr) return {};
    MadeInputs out;
    out.known = true;
    const SyntaxNode* value = tree_.child(node, Role::value);
    const Kind what = value == nullptr ? Kind::unknown : kind_of(tree_, *value);
    if (const auto letters = literal_string(tree_, *items)) {
      for (const char letter : *letters) merge(out, {true, {{std::string(1, letter), &tree_, items, what}}});
      return out;
    }
    if (items->kind != NodeKind::list && items->kind != NodeKind::tuple && items->kind != NodeKind::set)
      return {};
    for (const SyntaxNode& item : tree_.children(*items)) {
      const auto text = text_value(tree_, item);
      if (!text) return {};
      merge(out, {true, {{*text, &tree_, &item, what}}});
    }
    return out;
  }

  /// A name: what is assigned to it in this function, and what is put into it afterwards.
  MadeInputs named(const SyntaxNode& use) {
    const SyntaxNode* scope = enclosing_function(tree_, use);
    const std::string_view name = tree_.name(use);
    MadeInputs out;
    bool assigned = false;
    for (const SyntaxTree::Index i : tree_.walk(scope == nullptr ? 0 : tree_.index(*scope))) {
      const SyntaxNode& node = tree_[i];
      if (node.kind != NodeKind::name || tree_.name(node) != name) continue;
      const SyntaxNode& parent = tree_.parent(node);
      const SyntaxNode& outer = tree_.parent(parent);
      if (node.role == Role::other &&
          (parent.kind == NodeKind::assign || parent.kind == NodeKind::ann_assign)) {
        const SyntaxNode* value = tree_.child(parent, Role::value);
        MadeInputs part = value == nullptr ? MadeInputs{} : dictionary(*value);
        if (!part.known) return {};
        merge(out, std::move(part));
        assigned = true;
      } else if (node.role == Role::other &&
                 (parent.kind == NodeKind::aug_assign || parent.kind == NodeKind::for_stmt ||
                  parent.kind == NodeKind::delete_stmt || parent.kind == NodeKind::tuple)) {
        const SyntaxNode* value =
            parent.kind == NodeKind::aug_assign ? tree_.child(parent, Role::value) : nullptr;
        MadeInputs part = value == nullptr ? MadeInputs{} : dictionary(*value);
        if (!part.known) return {};
        merge(out, std::move(part));
      } else if (parent.kind == NodeKind::subscript && parent.role == Role::other &&
                 outer.kind == NodeKind::assign) {
        const auto key = text_value(tree_, *tree_.child(parent, Role::slice));
        if (!key) return {};
        merge(out, {true, {{*key, &tree_, &parent, kind_of(tree_, *tree_.child(outer, Role::value))}}});
      } else if (parent.kind == NodeKind::subscript && outer.kind == NodeKind::delete_stmt) {
        return {};
      } else if (parent.kind == NodeKind::attribute && outer.kind == NodeKind::call &&
                 parent.role == Role::func) {
        const std::string_view method = tree_.name(parent);
        if (method == "pop" || method == "popitem" || method == "clear") return {};
        if (method == "setdefault") {
          const SyntaxNode* first = positional(tree_, outer, 0);
          const auto key = first == nullptr ? std::nullopt : text_value(tree_, *first);
          if (!key) return {};
          merge(out, {true, {{*key, &tree_, first, Kind::unknown}}});
        }
        if (method == "update") {
          MadeInputs part = arguments(outer);
          if (!part.known) return {};
          merge(out, std::move(part));
        }
      }
    }
    if (assigned) return out;
    const SyntaxNode* value = scope == nullptr ? nullptr : only_assignment(tree_, name);
    return value == nullptr ? MadeInputs{} : dictionary(*value);
  }

  /// dict(first, q=…), d.update(first, q=…)
  MadeInputs arguments(const SyntaxNode& node) {
    MadeInputs out;
    out.known = true;
    if (const SyntaxNode* first = positional(tree_, node, 0)) {
      MadeInputs part = dictionary(*first);
      if (!part.known) return {};
      merge(out, std::move(part));
    }
    for (const SyntaxNode& child : tree_.children(node)) {
      if (child.role != Role::keyword) continue;
      const SyntaxNode* value = tree_.child(child, Role::value);
      if (child.name != 0) {
        merge(out, {true, {{std::string(tree_.name(child)), &tree_, &child, kind_of(tree_, *value)}}});
        continue;
      }
      MadeInputs part = dictionary(*value);
      if (!part.known) return {};
      merge(out, std::move(part));
    }
    return out;
  }

  MadeInputs call(const SyntaxNode& node) {
    const std::string_view callee = callee_name(tree_, node);
    const SyntaxNode* func = tree_.child(node, Role::func);
    const SyntaxNode* first = positional(tree_, node, 0);
    if (func->kind == NodeKind::name && callee == "dict") {
      if (first != nullptr && first->kind == NodeKind::call && callee_name(tree_, *first) == "zip") {
        return zipped(*first);
      }
      return arguments(node);
    }
    if ((callee == "copy" || callee == "deepcopy") && first != nullptr) return dictionary(*first);
    if (callee == "copy" && func->kind == NodeKind::attribute)
      return dictionary(*tree_.child(*func, Role::value));
    if (depth_ >= kMostDepth) return {};
    return Maker(tree_, modules_, depth_ + 1).callable(*func);
  }

  MadeInputs zipped(const SyntaxNode& node) {
    const SyntaxNode* keys = positional(tree_, node, 0);
    if (keys != nullptr && keys->kind == NodeKind::name) keys = only_assignment(tree_, tree_.name(*keys));
    if (keys == nullptr || (keys->kind != NodeKind::list && keys->kind != NodeKind::tuple)) return {};
    MadeInputs out;
    out.known = true;
    for (const SyntaxNode& key : tree_.children(*keys)) {
      const auto text = text_value(tree_, key);
      if (!text) return {};
      merge(out, {true, {{*text, &tree_, &key, Kind::unknown}}});
    }
    return out;
  }

  const SyntaxTree& tree_;
  ModuleSet& modules_;
  int depth_;
  int steps_ = 0;
};

}  // namespace

std::vector<const SyntaxNode*> workload_calls(const SyntaxTree& bench) {
  std::vector<const SyntaxNode*> out;
  for (const SyntaxNode& node : bench.nodes()) {
    if (node.kind == NodeKind::call && harness_name(bench, node) == "Workload") out.push_back(&node);
  }
  return out;
}

const SyntaxNode* maker_argument(const SyntaxTree& bench, const SyntaxNode& workload) {
  const SyntaxNode* maker = positional(bench, workload, 1);
  if (maker != nullptr) return maker;
  for (const NamedArgument& argument : named_arguments(bench, workload)) {
    if (argument.name == "make_inputs") return argument.value;
  }
  return nullptr;
}

std::vector<const SyntaxNode*> input_functions(const SyntaxTree& bench) {
  std::vector<const SyntaxNode*> out;
  const auto add = [&](const SyntaxNode* maker) {
    if (maker == nullptr) return;
    for (const SyntaxNode* value : possible_values(bench, *maker)) {
      if (std::find(out.begin(), out.end(), value) == out.end()) out.push_back(value);
    }
  };
  for (const SyntaxNode* call : workload_calls(bench)) add(maker_argument(bench, *call));
  for (const SyntaxNode& node : bench.nodes()) {
    if (node.kind != NodeKind::call) continue;
    const std::string_view name = harness_name(bench, node);
    if (name == "run_leaderboard_bench") add(keyword_value(bench, node, "make_inputs"));
    if (name == "measure_windows") add(keyword_value(bench, node, "inputs"));
  }
  return out;
}

MadeInputs made_by(const SyntaxTree& tree, const SyntaxNode& callable, ModuleSet& modules) {
  return Maker(tree, modules, 0).callable(callable);
}

}  // namespace plumbline
