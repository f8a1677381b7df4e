// SPDX-License-Identifier: Apache-2.0
// What a bench does with its measurement: repeats it until it pleases, changes its result, replaces the
// clock.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "plumbline/bench/calls.h"
#include "plumbline/bench/sides.h"
#include "plumbline/bench/values.h"
#include "plumbline/bench/warnings.h"

namespace plumbline {
namespace {

bool measures(const SyntaxTree& tree, const SyntaxNode& node) {
  return node.kind == NodeKind::call && (harness_name(tree, node) == "measure_windows_workloads" ||
                                         harness_name(tree, node) == "run_leaderboard_bench");
}

/// The measuring calls, and the calls of defs that hold one.
std::vector<const SyntaxNode*> measuring_calls(const SyntaxTree& tree) {
  std::vector<const SyntaxNode*> calls;
  std::set<std::string_view> holders;
  for (const SyntaxNode& node : tree.nodes()) {
    if (!measures(tree, node)) continue;
    calls.push_back(&node);
    const SyntaxNode* function = enclosing_function(tree, node);
    if (function != nullptr && is_function(*function)) holders.insert(tree.name(*function));
  }
  for (const SyntaxNode& node : tree.nodes()) {
    if (node.kind == NodeKind::call && holders.contains(callee_name(tree, node))) calls.push_back(&node);
  }
  return calls;
}

std::set<std::string_view> names_in(const SyntaxTree& tree, const SyntaxNode& node) {
  std::set<std::string_view> names;
  for (const SyntaxTree::Index i : tree.walk(tree.index(node))) {
    if (tree[i].kind == NodeKind::name) names.insert(tree.name(tree[i]));
  }
  return names;
}

/// Does the call do something else in each turn of the loop? What only names the output, or seeds, does not.
bool depends_on(const SyntaxTree& tree, const SyntaxNode& call, const SyntaxNode& target) {
  const std::set<std::string_view> varying = names_in(tree, target);
  for (const SyntaxNode& argument : tree.children(call)) {
    if (argument.role == Role::func) continue;
    if (argument.role == Role::keyword &&
        (tree.name(argument) == "out" || tree.name(argument).find("seed") != std::string_view::npos)) {
      continue;
    }
    for (const std::string_view name : names_in(tree, argument)) {
      if (varying.contains(name)) return true;
    }
  }
  return false;
}

bool counts_only(const SyntaxTree& tree, const SyntaxNode& iterable) {
  if (iterable.kind != NodeKind::call) return false;
  const std::string_view callee = callee_name(tree, iterable);
  return callee == "range" || callee == "count" || callee == "repeat";
}

/// The loop that measures the same again, or nullptr.
const SyntaxNode* repeating_loop(const SyntaxTree& tree, const SyntaxNode& call) {
  for (const SyntaxNode* node = &call; tree.index(*node) != 0; node = &tree.parent(*node)) {
    const SyntaxNode& parent = tree.parent(*node);
    if (is_function(*node) || node->kind == NodeKind::lambda) return nullptr;
    if (parent.kind == NodeKind::while_stmt) return &parent;
    if (parent.kind == NodeKind::for_stmt && node->role == Role::body) {
      const SyntaxNode& target = tree.children(parent)[0];
      if (!depends_on(tree, call, target)) {
        // A loop variable may work through names that the body sets.
        const std::set<std::string_view> varying = names_in(tree, target);
        bool other = false;
        for (const SyntaxTree::Index i : tree.walk(tree.index(parent))) {
          const SyntaxNode& inner = tree[i];
          other = other || (inner.kind == NodeKind::name && varying.contains(tree.name(inner)) &&
                            !tree.inside(i, tree.index(call)) && !tree.inside(i, tree.index(target)) &&
                            tree.parent(inner).kind != NodeKind::compare && inner.role != Role::arg);
        }
        if (!other || counts_only(tree, *tree.child(parent, Role::iter))) return &parent;
      }
    }
    if (parent.kind == NodeKind::list_comp || parent.kind == NodeKind::generator_exp ||
        parent.kind == NodeKind::set_comp) {
      for (const SyntaxNode& clause : tree.children(parent)) {
        if (clause.kind == NodeKind::comprehension && counts_only(tree, *tree.child(clause, Role::iter)) &&
            !depends_on(tree, call, tree.children(clause)[0])) {
          return &parent;
        }
      }
    }
  }
  return nullptr;
}

/// The names of files that hold the result.
std::set<std::string> result_files(const SyntaxTree& tree, const std::vector<const SyntaxNode*>& calls) {
  std::set<std::string> files{"eval.json"};
  for (const SyntaxNode* call : calls) {
    for (const NamedArgument& argument : named_arguments(tree, *call)) {
      if (argument.name != "out") continue;
      if (const auto text = text_value(tree, *argument.value)) files.insert(*text);
    }
  }
  return files;
}

/// Does an expression name one of the files?
bool mentions(const SyntaxTree& tree, const SyntaxNode& expression, const std::set<std::string>& files) {
  for (const SyntaxTree::Index i : tree.walk(tree.index(expression))) {
    const SyntaxNode& node = tree[i];
    if (node.kind == NodeKind::name) {
      // with open("eval.json") as f: json.load(f)
      for (const SyntaxNode& item : tree.nodes()) {
        if (item.kind != NodeKind::with_item) continue;
        const SyntaxNode* bound = tree.child(item, Role::vars);
        const SyntaxNode* context = tree.child(item, Role::context);
        if (bound != nullptr && context != nullptr && bound->kind == NodeKind::name &&
            tree.name(*bound) == tree.name(node) && context->kind == NodeKind::call &&
            mentions(tree, *context, files)) {
          return true;
        }
      }
    } else if (node.kind != NodeKind::constant) {
      continue;
    }
    const auto text = text_value(tree, node);
    if (text && std::any_of(files.begin(), files.end(), [&](const std::string& file) {
          return *text == file || text->ends_with("/" + file) || text->find(" " + file) != std::string::npos;
        })) {
      return true;
    }
    const SyntaxNode* behind = node.kind == NodeKind::name ? only_assignment(tree, tree.name(node)) : nullptr;
    if (behind != nullptr && behind->kind == NodeKind::call && !tree.inside(i, tree.index(*behind)) &&
        (callee_name(tree, *behind) == "Path" || callee_name(tree, *behind) == "join") &&
        mentions(tree, *behind, files)) {
      return true;
    }
  }
  return false;
}

/// The names that hold what a measuring call returned, a copy of it, or a part of it.
std::set<std::string_view> result_names(const SyntaxTree& tree, const std::vector<const SyntaxNode*>& calls,
                                        const std::set<std::string>& files) {
  std::set<std::string_view> names;
  for (const SyntaxNode* call : calls) {
    const SyntaxNode& parent = tree.parent(*call);
    if (parent.kind != NodeKind::assign && parent.kind != NodeKind::ann_assign &&
        parent.kind != NodeKind::named_expr) {
      continue;
    }
    const SyntaxNode& target = tree.children(parent)[0];
    if (target.kind == NodeKind::name) names.insert(tree.name(target));
  }
  for (const SyntaxNode& node : tree.nodes()) {
    if (node.kind == NodeKind::call && node.role == Role::value &&
        (callee_name(tree, node) == "load" || callee_name(tree, node) == "loads")) {
      const std::string path = dotted_path(tree, *tree.child(node, Role::func));
      const SyntaxNode& target = tree.children(tree.parent(node))[0];
      if (path.starts_with("json.") && target.kind == NodeKind::name && mentions(tree, node, files)) {
        names.insert(tree.name(target));
      }
    }
  }
  for (int again = 0; again < 4; ++again) {
    for (const SyntaxNode& node : tree.nodes()) {
      if (node.kind != NodeKind::assign && node.kind != NodeKind::for_stmt) continue;
      const SyntaxNode& target = tree.children(node)[0];
      const SyntaxNode* value = tree.child(node, node.kind == NodeKind::assign ? Role::value : Role::iter);
      while (value != nullptr && (value->kind == NodeKind::subscript || value->kind == NodeKind::attribute ||
                                  value->kind == NodeKind::call)) {
        if (value->kind == NodeKind::call) {
          const std::string_view callee = callee_name(tree, *value);
          const SyntaxNode* first = positional(tree, *value, 0);
          const bool copies = callee == "deepcopy" || callee == "dict" || callee == "copy";
          value = copies && first != nullptr ? first : tree.child(*value, Role::func);
        } else {
          value = tree.child(*value, Role::value);
        }
      }
      if (value != nullptr && value->kind == NodeKind::name && names.contains(tree.name(*value)) &&
          target.kind == NodeKind::name) {
        names.insert(tree.name(target));
      }
    }
  }
  return names;
}

const SyntaxNode* root_of(const SyntaxTree& tree, const SyntaxNode& expression) {
  const SyntaxNode* node = &expression;
  while (node->kind == NodeKind::attribute || node->kind == NodeKind::subscript ||
         node->kind == NodeKind::call) {
    node = tree.child(*node, node->kind == NodeKind::call ? Role::func : Role::value);
    if (node == nullptr) return nullptr;
  }
  return node->kind == NodeKind::name ? node : nullptr;
}

bool is_target(const SyntaxTree& tree, const SyntaxNode& node) {
  const NodeKind parent = tree.parent(node).kind;
  return node.role == Role::other && (parent == NodeKind::assign || parent == NodeKind::aug_assign ||
                                      parent == NodeKind::delete_stmt || parent == NodeKind::ann_assign);
}

constexpr auto kChanging =
    std::to_array<std::string_view>({"update", "pop", "popitem", "clear", "setdefault", "append", "remove",
                                     "insert", "extend", "__setitem__"});

/// The keys of an eval that a bench may add for itself.
bool own_key(const SyntaxTree& tree, const SyntaxNode& subscript) {
  const SyntaxNode* container = tree.child(subscript, Role::value);
  if (container == nullptr || container->kind != NodeKind::name) return false;
  const auto key = text_value(tree, *tree.child(subscript, Role::slice));
  return key && *key != "performance" && *key != "workloads" && *key != "correctness" && *key != "ratio" &&
         *key != "findings" && *key != "ref_ms" && *key != "student_ms" && *key != "evidence";
}

constexpr auto kWriting =
    std::to_array<std::string_view>({"write_text", "write_bytes", "replace", "rename", "copy", "copyfile",
                                     "copy2", "move", "link", "symlink"});

/// Does a call write a file of those names?
bool writes_result(const SyntaxTree& tree, const SyntaxNode& call, const std::set<std::string>& files) {
  const std::string_view callee = callee_name(tree, call);
  if (!mentions(tree, call, files)) return false;
  if (callee == "open") {
    const SyntaxNode* mode = positional(tree, call, 1);
    if (mode == nullptr) mode = keyword_value(tree, call, "mode");
    const SyntaxNode* func = tree.child(call, Role::func);
    if (mode == nullptr && func->kind == NodeKind::attribute) mode = positional(tree, call, 0);
    const auto text = mode == nullptr ? std::nullopt : text_value(tree, *mode);
    return text && text->find_first_of("wa+x") != std::string::npos;
  }
  const std::string path = dotted_path(tree, *tree.child(call, Role::func));
  if (path.starts_with("subprocess.") || path == "os.system" || path == "os.popen") return true;
  return std::find(kWriting.begin(), kWriting.end(), callee) != kWriting.end();
}

/// fix("eval.json"), where fix(path) opens its path to write.
bool hands_over(const SyntaxTree& tree, const SyntaxNode& call, const std::set<std::string>& files) {
  const SyntaxNode* func = tree.child(call, Role::func);
  const SyntaxNode* function =
      func->kind == NodeKind::name ? module_function(tree, tree.name(*func)) : nullptr;
  if (function == nullptr) return false;
  std::size_t place = 0;
  for (const Parameter& parameter : parameters_of(tree, *function)) {
    const SyntaxNode* given = positional(tree, call, place++);
    if (given == nullptr || !mentions(tree, *given, files)) continue;
    for (const SyntaxTree::Index i : tree.walk(tree.index(*function))) {
      const SyntaxNode& node = tree[i];
      const SyntaxNode* path = node.kind == NodeKind::call ? positional(tree, node, 0) : nullptr;
      const SyntaxNode* mode = path == nullptr ? nullptr : positional(tree, node, 1);
      const auto text = mode == nullptr ? std::nullopt : text_value(tree, *mode);
      if (path != nullptr && callee_name(tree, node) == "open" && path->kind == NodeKind::name &&
          tree.name(*path) == tree.name(*parameter.node) && text &&
          text->find_first_of("wa+x") != std::string::npos) {
        return true;
      }
    }
  }
  return false;
}

/// A setting of a library rather than a part of it.
bool is_setting(std::string_view path) {
  return path.starts_with("torch.backends.") || path.find(".config.") != std::string_view::npos ||
         path.find("config.") == 0;
}

bool is_watched(std::string_view path) {
  for (const std::string_view module : {"torch.", "time.", "plumbline.", "random.", "json.", "os.replace"}) {
    if (path.starts_with(module)) return !is_setting(path);
  }
  return false;
}

/// The module that a name stands for: "time" for t after import time as t.
std::string module_path(const SyntaxTree& tree, const SyntaxNode& expression) {
  std::string path = dotted_path(tree, expression);
  const std::size_t dot = path.find('.');
  const std::string root = path.substr(0, dot);
  for (const SyntaxNode& node : tree.nodes()) {
    if (node.kind != NodeKind::alias || tree.as_name(node).empty()) {
      if (node.kind == NodeKind::alias && tree.parent(node).kind == NodeKind::import_from &&
          tree.name(node) == root) {
        return fmt::format("{}.{}", tree.name(tree.parent(node)), path);
      }
      continue;
    }
    if (tree.as_name(node) != root) continue;
    const std::string rest = dot == std::string::npos ? "" : path.substr(dot);
    return tree.parent(node).kind == NodeKind::import_from
               ? fmt::format("{}.{}{}", tree.name(tree.parent(node)), tree.name(node), rest)
               : fmt::format("{}{}", tree.name(node), rest);
  }
  return path;
}

void patched(const SyntaxTree& tree, const SyntaxNode& node, std::string_view who, Findings& out) {
  std::string path;
  if (node.kind == NodeKind::attribute && is_target(tree, node)) {
    path = module_path(tree, node);
  } else if (node.kind == NodeKind::call && callee_name(tree, node) == "setattr") {
    const SyntaxNode* object = positional(tree, node, 0);
    const SyntaxNode* name = positional(tree, node, 1);
    const auto text = name == nullptr ? std::nullopt : text_value(tree, *name);
    if (object != nullptr && text) path = fmt::format("{}.{}", module_path(tree, *object), *text);
  } else if (node.kind == NodeKind::subscript && is_target(tree, node)) {
    const auto key = text_value(tree, *tree.child(node, Role::slice));
    if (key && key->starts_with("PLUMBLINE_")) path = "plumbline." + *key;
  }
  if (!is_watched(path)) return;
  out.push_back(finding_at(tree, node, "harness-patched", fmt::format("{} replaces {}", who, path)));
}

}  // namespace

Findings warn_patches(const SyntaxTree& tree, std::string_view who) {
  Findings out;
  for (const SyntaxNode& node : tree.nodes()) patched(tree, node, who, out);
  return out;
}

Findings warn_result(const SyntaxTree& bench) {
  Findings out = warn_patches(bench, "the bench");
  const std::vector<const SyntaxNode*> calls = measuring_calls(bench);
  if (calls.empty()) return out;
  std::set<const SyntaxNode*> reported;
  const std::set<std::string> files = result_files(bench, calls);
  const std::set<std::string_view> results = result_names(bench, calls, files);
  for (const SyntaxNode* call : calls) {
    if (const SyntaxNode* loop = repeating_loop(bench, *call);
        loop != nullptr && reported.insert(loop).second) {
      out.push_back(finding_at(
          bench, *call, "measured-again",
          fmt::format("the loop on line {} measures the same again", bench.position(loop->begin).line)));
    }
    // if the first result does not please: measure again
    for (const SyntaxNode* node = call; bench.index(*node) != 0; node = &bench.parent(*node)) {
      const SyntaxNode& parent = bench.parent(*node);
      if (parent.kind != NodeKind::if_stmt && parent.kind != NodeKind::if_exp) continue;
      const SyntaxNode* test = bench.child(parent, Role::test);
      if (test == nullptr || bench.inside(bench.index(*call), bench.index(*test))) continue;
      bool by_result = false;
      for (const std::string_view name : names_in(bench, *test))
        by_result = by_result || results.contains(name);
      if (by_result && reported.insert(&parent).second) {
        out.push_back(
            finding_at(bench, *call, "measured-again", "whether this measures depends on a result"));
      }
    }
  }
  for (const SyntaxNode& node : bench.nodes()) {
    const SyntaxNode* root = nullptr;
    if (node.kind == NodeKind::subscript && is_target(bench, node) && !own_key(bench, node)) {
      root = root_of(bench, node);
    } else if (node.kind == NodeKind::call) {
      const SyntaxNode* func = bench.child(node, Role::func);
      const std::string_view callee = callee_name(bench, node);
      if (func->kind == NodeKind::attribute &&
          std::find(kChanging.begin(), kChanging.end(), callee) != kChanging.end()) {
        root = root_of(bench, *func);
      }
      const std::string path = dotted_path(bench, *func);
      if (path.starts_with("os.exec")) {
        out.push_back(finding_at(bench, node, "measured-again", "the bench starts itself, or another, anew"));
      }
      if (writes_result(bench, node, files) || hands_over(bench, node, files)) {
        out.push_back(finding_at(bench, node, "result-rewritten", "the bench writes the eval JSON itself"));
      }
    }
    if (root != nullptr && results.contains(bench.name(*root))) {
      out.push_back(
          finding_at(bench, node, "result-rewritten",
                     fmt::format("'{}' holds the result and is changed after measuring", bench.name(*root))));
    }
  }
  return out;
}

}  // namespace plumbline
