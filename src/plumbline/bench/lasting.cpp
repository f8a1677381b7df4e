// SPDX-License-Identifier: Apache-2.0
#include "plumbline/bench/lasting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "plumbline/bench/calls.h"
#include "plumbline/bench/values.h"

namespace plumbline {
namespace {

/// What makes memory or tools: kept between calls by honest code.
constexpr auto kMakes = std::to_array<std::string_view>({"empty",
                                                         "empty_like",
                                                         "new_empty",
                                                         "zeros",
                                                         "zeros_like",
                                                         "new_zeros",
                                                         "ones",
                                                         "ones_like",
                                                         "full",
                                                         "full_like",
                                                         "arange",
                                                         "tensor",
                                                         "Stream",
                                                         "Event",
                                                         "CUDAGraph",
                                                         "compile",
                                                         "load",
                                                         "load_inline",
                                                         "Generator",
                                                         "dict",
                                                         "list",
                                                         "device",
                                                         "get_device_properties",
                                                         "autotune",
                                                         "RawKernel",
                                                         "current_device"});

/// A parameter whose default is a list, a dict or a set: one object for all calls.
bool mutable_default(const SyntaxTree& tree, const SyntaxNode& function, const SyntaxNode& name) {
  for (const Parameter& parameter : parameters_of(tree, function)) {
    if (!parameter.has_default || tree.name(*parameter.node) != tree.name(name)) continue;
    for (const SyntaxNode* value : possible_values(tree, name)) {
      const bool made = value->kind == NodeKind::call &&
                        (callee_name(tree, *value) == "dict" || callee_name(tree, *value) == "list");
      if (made || value->kind == NodeKind::dict || value->kind == NodeKind::list ||
          value->kind == NodeKind::set)
        return true;
    }
  }
  return false;
}

bool computes(const SyntaxTree& tree, const SyntaxNode& value) {
  if (value.kind == NodeKind::bin_op) return true;
  if (value.kind != NodeKind::call) return false;
  const std::string_view callee = callee_name(tree, value);
  return std::find(kMakes.begin(), kMakes.end(), callee) == kMakes.end();
}

/// Does the expression hold a product of tensors or the like, rather than a size?
bool computes_tensors(const SyntaxTree& tree, const SyntaxNode& value) {
  if (value.kind != NodeKind::bin_op) return computes(tree, value);
  for (const SyntaxTree::Index i : tree.walk(tree.index(value))) {
    const SyntaxNode& node = tree[i];
    if (node.kind == NodeKind::bin_op && node.detail == '@') return true;
    if (node.kind == NodeKind::name && node.role != Role::func) return true;
  }
  return false;
}

/// Locals that are looked up in something lasting: y = _kept.get(key), y = _kept[key].
LastingNames looked_up(const SyntaxTree& tree, const SyntaxNode& function, const std::string& name) {
  LastingNames out{name};
  for (const SyntaxTree::Index i : tree.walk(tree.index(function))) {
    const auto bound = name_binding(tree, tree[i]);
    if (!bound) continue;
    const SyntaxNode* value = bound->value;
    const SyntaxNode* from = value;
    if (value->kind == NodeKind::call && callee_name(tree, *value) == "get") {
      const SyntaxNode* func = tree.child(*value, Role::func);
      from = func->kind == NodeKind::attribute ? tree.child(*func, Role::value) : value;
    } else if (value->kind != NodeKind::subscript) {
      continue;
    }
    if (lasting(tree, function, *from) == name) out.insert(std::string(bound->name));
  }
  return out;
}

/// Does a branch around `store`, or one that returns early, ask whether `name` holds it already? A handler of
/// the KeyError asks, too.
bool asked_for(const SyntaxTree& tree, const SyntaxNode& function, const SyntaxNode& store,
               const LastingNames& names) {
  for (const SyntaxTree::Index i : tree.walk(tree.index(function))) {
    const SyntaxNode& node = tree[i];
    if (node.kind == NodeKind::except_handler && tree.inside(tree.index(store), i) &&
        names_any(tree, tree.parent(node), names)) {
      return true;
    }
    const SyntaxNode* test = node.kind == NodeKind::if_stmt ? tree.child(node, Role::test) : nullptr;
    if (test == nullptr || !names_any(tree, *test, names)) continue;
    if (tree.inside(tree.index(store), i)) return true;
    for (const SyntaxTree::Index k : tree.walk(i)) {
      if (tree[k].kind == NodeKind::return_stmt) return true;
    }
  }
  return false;
}

void kept_by_decorator(const SyntaxTree& tree, const SyntaxNode& function, std::vector<KeptResult>& out) {
  for (const SyntaxNode& child : tree.children(function)) {
    if (child.role != Role::decorator) continue;
    const SyntaxNode* at = child.kind == NodeKind::call ? tree.child(child, Role::func) : &child;
    const std::string path = dotted_path(tree, *at);
    const std::string last = path.substr(path.rfind('.') + 1);
    if (last == "cache" || last == "lru_cache" || last == "memoize" || last == "memoise" || last == "cached")
      out.push_back({&child, fmt::format("is wrapped in {}: a result is handed out again", path)});
  }
}

/// x.answer = x @ x: the tensor carries it to whoever is handed it next.
bool on_a_parameter(const SyntaxTree& tree, const SyntaxNode& function, const SyntaxNode& target) {
  if (target.kind != NodeKind::attribute) return false;
  const std::string_view attribute = tree.name(target);
  const SyntaxNode* object = tree.child(target, Role::value);
  if (object->kind != NodeKind::name || attribute == "grad" || attribute == "data") return false;
  const std::string_view name = tree.name(*object);
  if (name == "self" || name == "ctx" || name == "cls") return false;
  for (const Parameter& parameter : parameters_of(tree, function)) {
    if (tree.name(*parameter.node) == name) return true;
  }
  return false;
}

}  // namespace

std::string lasting(const SyntaxTree& tree, const SyntaxNode& function, const SyntaxNode& expression) {
  const SyntaxNode* node = &expression;
  while (node->kind == NodeKind::subscript) node = tree.child(*node, Role::value);
  const std::string path = dotted_path(tree, *node);
  const std::string root = path.substr(0, path.find('.'));
  if (root == "self" && path != root) return path;
  if (path.empty() || !is_local(tree, function, root)) return path;
  return node->kind == NodeKind::name && mutable_default(tree, function, *node) ? path : std::string();
}

LastingNames lasting_in(const SyntaxTree& tree, const SyntaxNode& function, const SyntaxNode& node) {
  LastingNames names;
  for (const SyntaxTree::Index i : tree.walk(tree.index(node))) {
    const SyntaxNode& inner = tree[i];
    if (inner.kind != NodeKind::name && inner.kind != NodeKind::attribute) continue;
    if (inner.role == Role::func || tree.parent(inner).kind == NodeKind::attribute) {
      // _kept[key].clone(), _out.clone(): the object is what is named.
      if (inner.kind != NodeKind::name || inner.role == Role::func) continue;
    }
    if (const std::string name = lasting(tree, function, inner); !name.empty()) names.insert(name);
  }
  return names;
}

bool names_any(const SyntaxTree& tree, const SyntaxNode& node, const LastingNames& names) {
  for (const SyntaxTree::Index i : tree.walk(tree.index(node))) {
    const SyntaxNode& inner = tree[i];
    if ((inner.kind == NodeKind::name || inner.kind == NodeKind::attribute) &&
        names.contains(dotted_path(tree, inner))) {
      return true;
    }
    if (inner.kind != NodeKind::call || callee_name(tree, inner) != "hasattr") continue;
    const SyntaxNode* object = positional(tree, inner, 0);
    const SyntaxNode* attribute = positional(tree, inner, 1);
    const auto text = attribute == nullptr ? std::nullopt : literal_string(tree, *attribute);
    if (object != nullptr && text && names.contains(fmt::format("{}.{}", dotted_path(tree, *object), *text)))
      return true;
  }
  return false;
}

std::optional<NameBinding> name_binding(const SyntaxTree& tree, const SyntaxNode& node) {
  if (node.kind != NodeKind::assign && node.kind != NodeKind::named_expr) return {};
  const SyntaxNode* value = tree.child(node, Role::value);
  const SyntaxNode& target = tree.children(node)[0];
  if (value == nullptr || target.kind != NodeKind::name) return {};
  return NameBinding{tree.name(target), value};
}

std::vector<KeptResult> kept_results(const SyntaxTree& tree, const SyntaxNode& function) {
  std::vector<KeptResult> out;
  kept_by_decorator(tree, function, out);
  LastingNames stored;  // in a branch that asks whether it is there
  for (const SyntaxTree::Index i : tree.walk(tree.index(function))) {
    const SyntaxNode& node = tree[i];
    if (node.kind == NodeKind::call && callee_name(tree, node) == "setdefault") {
      const SyntaxNode* func = tree.child(node, Role::func);
      const SyntaxNode* object = func->kind == NodeKind::attribute ? tree.child(*func, Role::value) : nullptr;
      const SyntaxNode* made = positional(tree, node, 1);
      const std::string name = object == nullptr ? std::string() : lasting(tree, function, *object);
      if (!name.empty() && made != nullptr && computes_tensors(tree, *made) &&
          tree.parent(node).kind == NodeKind::return_stmt)
        out.push_back({&node, fmt::format("returns what an earlier call has left in '{}'", name)});
    }
    if (node.kind != NodeKind::assign) continue;
    const SyntaxNode* value = tree.child(node, Role::value);
    if (value == nullptr || !computes_tensors(tree, *value)) continue;
    for (const SyntaxNode& target : tree.children(node)) {
      if (&target == value) continue;
      if (on_a_parameter(tree, function, target)) {
        out.push_back({&target, fmt::format("leaves a result on its input ('{}')", tree.text(target))});
        continue;
      }
      const std::string name = lasting(tree, function, target);
      if (!name.empty() && asked_for(tree, function, node, looked_up(tree, function, name)))
        stored.insert(name);
    }
  }
  for (const SyntaxTree::Index i : tree.walk(tree.index(function))) {
    const SyntaxNode& node = tree[i];
    if (node.kind != NodeKind::return_stmt || node.child_count == 0) continue;
    for (const std::string& name : stored) {
      const SyntaxNode& returned = tree.children(node)[0];
      LastingNames handed = lasting_in(tree, function, returned);
      const LastingNames found = looked_up(tree, function, name);
      const bool local = returned.kind == NodeKind::name && found.contains(std::string(tree.name(returned)));
      if (handed.contains(name) || local)
        out.push_back({&node, fmt::format("returns what an earlier call has left in '{}'", name)});
    }
  }
  return out;
}

}  // namespace plumbline
