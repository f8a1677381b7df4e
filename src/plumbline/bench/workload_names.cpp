// SPDX-License-Identifier: Apache-2.0
#include "plumbline/bench/workload_names.h"

#include "plumbline/bench/calls.h"
#include "plumbline/bench/modules.h"
#include "plumbline/bench/values.h"

namespace plumbline {

namespace {

const SyntaxNode* name_argument(const SyntaxTree& tree, const SyntaxNode& call) {
  const SyntaxNode* name = positional(tree, call, 0);
  return name ? name : keyword_value(tree, call, "name");
}

/// workload("t512", …), where the function of this file only returns Workload(NAME, …) with its own parameter
/// as the name: the argument for it, or nullptr.
const SyntaxNode* name_through_helper(const SyntaxTree& tree, const SyntaxNode& call) {
  const SyntaxNode* function = module_function(tree, callee_name(tree, call));
  if (!function) return nullptr;
  const SyntaxNode* made = nullptr;
  for (const SyntaxTree::Index i : tree.walk(tree.index(*function))) {
    if (tree[i].kind != NodeKind::call || callee_name(tree, tree[i]) != "Workload") continue;
    if (made) return nullptr;
    made = &tree[i];
  }
  const SyntaxNode* name =
      made && tree.parent(*made).kind == NodeKind::return_stmt ? name_argument(tree, *made) : nullptr;
  if (!name || name->kind != NodeKind::name) return nullptr;
  const std::vector<Parameter> parameters = parameters_of(tree, *function);
  for (std::size_t at = 0; at < parameters.size() && parameters[at].stars == 0; ++at) {
    if (tree.name(*parameters[at].node) != tree.name(*name)) continue;
    const SyntaxNode* given = positional(tree, call, at);
    return given ? given : keyword_value(tree, call, tree.name(*name));
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> spelled_workloads(const std::string& bench) {
  const PythonFile file = read_python_file(bench, "bench-syntax");
  if (!file.tree) return {};
  const SyntaxTree& tree = *file.tree;
  const SyntaxNode* list = nullptr;
  for (const SyntaxNode& node : tree.nodes()) {
    if (node.kind != NodeKind::call || callee_name(tree, node) != "measure_windows_workloads") continue;
    if (list) return {};  // two measurements: which one wrote the eval is not known
    list = positional(tree, node, 0);
    if (!list) list = keyword_value(tree, node, "workloads");
    if (!list) return {};
  }
  if (!list || (list->kind != NodeKind::list && list->kind != NodeKind::tuple)) return {};
  std::vector<std::string> names;
  for (const SyntaxNode& element : tree.children(*list)) {
    if (element.kind != NodeKind::call) continue;
    const SyntaxNode* name = callee_name(tree, element) == "Workload" ? name_argument(tree, element)
                                                                      : name_through_helper(tree, element);
    if (!name) continue;
    if (const auto text = literal_string(tree, *name)) names.emplace_back(*text);
  }
  return names;
}

bool takes_workload(const std::string& script) {
  const PythonFile file = read_python_file(script, "ncu-syntax");
  if (!file.tree) return false;
  const SyntaxTree& tree = *file.tree;
  for (const SyntaxNode& node : tree.nodes()) {
    if (node.kind != NodeKind::subscript) continue;
    const std::string list = dotted_path(tree, *tree.child(node, Role::value));
    if ((list == "sys.argv" || list == "argv") && literal_int(tree, *tree.child(node, Role::slice)) == 2)
      return true;
  }
  return false;
}

}  // namespace plumbline
