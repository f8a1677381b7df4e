// SPDX-License-Identifier: Apache-2.0
// How far the prep step reaches: everything that it uses, in this file and in the card's modules.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "plumbline/bench/calls.h"
#include "plumbline/bench/warnings.h"

namespace plumbline {
namespace {

constexpr std::size_t kMostPlaces = 4096;

/// A def, a class or a value that prep arrives at.
struct Place {
  const SyntaxTree* tree;
  const SyntaxNode* node;
};

bool names_kernel(std::string_view module) { return module == "kernel" || module.starts_with("kernel."); }

/// Walks from prep outwards. Every place is visited once, so circles end.
class Reach {
 public:
  Reach(const SyntaxTree& bench, ModuleSet& modules) : bench_(bench), modules_(modules) {}

  Findings from(const SyntaxNode& prep) {
    visit(bench_, prep);
    for (std::size_t i = 0; i < places_.size() && i < kMostPlaces && findings_.empty(); ++i) {
      const Place place = places_[i];
      examine(place);
    }
    return std::move(findings_);
  }

 private:
  void visit(const SyntaxTree& tree, const SyntaxNode& node) {
    if (seen_.insert(&node).second) places_.push_back({&tree, &node});
  }

  void hit(const Place& place, const SyntaxNode& at, const std::string& how) {
    if (!findings_.empty()) return;
    const std::string where =
        place.node->name != 0 ? fmt::format("'{}' ", place.tree->name(*place.node)) : "";
    findings_.push_back(finding_at(*place.tree, at, "prep-reaches-kernel",
                                   fmt::format("prep arrives at the student's module: {}{}", where, how)));
  }

  void examine(const Place& place) {
    const SyntaxTree& tree = *place.tree;
    const std::set<std::string_view> parameters = parameter_names(tree, *place.node);
    for (const SyntaxTree::Index i : tree.walk(tree.index(*place.node))) {
      const SyntaxNode& node = tree[i];
      if (imports_kernel(tree, node)) {
        hit(place, node, "imports it");
      } else if (node.kind == NodeKind::alias) {
        imported_name(place, node, tree.as_name(node).empty() ? tree.name(node) : tree.as_name(node));
      } else if (node.kind == NodeKind::name && !parameters.contains(tree.name(node))) {
        used_name(place, node);
      } else if (node.kind == NodeKind::call) {
        dynamic_import(place, node);
      } else if (node.kind == NodeKind::subscript) {
        loaded_module(place, node);
      }
    }
  }

  static std::set<std::string_view> parameter_names(const SyntaxTree& tree, const SyntaxNode& def) {
    std::set<std::string_view> names;
    const SyntaxNode* arguments = tree.child(def, Role::args);
    if (arguments == nullptr) return names;
    for (const SyntaxNode& argument : tree.children(*arguments)) {
      if (argument.kind == NodeKind::arg) names.insert(tree.name(argument));
    }
    return names;
  }

  /// Everything in the file that binds the name: defs, classes, assignments, imports.
  void used_name(const Place& place, const SyntaxNode& use) {
    const SyntaxTree& tree = *place.tree;
    const std::string_view name = tree.name(use);
    // An attribute says which part of a module is meant, so each use of a module counts; otherwise one will
    // do.
    const bool part = tree.parent(use).kind == NodeKind::attribute;
    if (!part && !asked_.insert({place.node, name}).second) return;
    if (part && !asked_parts_.insert({place.node, name, tree.name(tree.parent(use))}).second) return;
    for (const SyntaxNode& node : tree.nodes()) {
      if ((is_function(node) || node.kind == NodeKind::class_def) && tree.name(node) == name) {
        visit(tree, node);
      } else if (node.kind == NodeKind::assign || node.kind == NodeKind::ann_assign) {
        if (!tree.inside(tree.index(node), tree.index(*place.node)) && assigns(tree, node, name)) {
          if (const SyntaxNode* value = tree.child(node, Role::value)) visit(tree, *value);
        }
      } else if (node.kind == NodeKind::alias) {
        const std::string_view bound =
            tree.as_name(node).empty() ? first_part(tree.name(node)) : tree.as_name(node);
        if (bound == name) used_import(place, node, use);
      }
    }
  }

  static std::string_view first_part(std::string_view dotted) { return dotted.substr(0, dotted.find('.')); }

  static bool assigns(const SyntaxTree& tree, const SyntaxNode& assignment, std::string_view name) {
    const auto children = tree.children(assignment);
    return std::any_of(children.begin(), children.end(), [&](const SyntaxNode& target) {
      return target.role == Role::other && target.kind == NodeKind::name && tree.name(target) == name;
    });
  }

  void used_import(const Place& place, const SyntaxNode& alias, const SyntaxNode& use) {
    const SyntaxTree& tree = *place.tree;
    if (imports_kernel(tree, tree.parent(alias)) &&
        (tree.parent(alias).kind == NodeKind::import_stmt
             ? names_kernel(tree.name(alias))
             : names_kernel(tree.name(tree.parent(alias))) || tree.name(alias) == "kernel")) {
      return hit(place, use, fmt::format("uses '{}', which is bound from it", tree.name(use)));
    }
    // module.function(…): the attribute says which function of the module.
    const SyntaxNode& parent = tree.parent(use);
    imported_name(place, alias, parent.kind == NodeKind::attribute ? tree.name(parent) : tree.name(use));
  }

  /// An import of a module of the card: `used` is the name taken from it.
  void imported_name(const Place& place, const SyntaxNode& alias, std::string_view used) {
    const SyntaxTree& tree = *place.tree;
    const SyntaxNode& import = tree.parent(alias);
    const bool from = import.kind == NodeKind::import_from;
    const std::string_view module = from ? tree.name(import) : tree.name(alias);
    const SyntaxTree* target = modules_.find(tree, module, from ? import.as_name : 0);
    std::string_view wanted = from ? tree.name(alias) : used;
    if (from) {
      // from package import module
      const std::string path = module.empty() ? std::string(wanted) : fmt::format("{}.{}", module, wanted);
      if (const SyntaxTree* inner = modules_.find(tree, path, import.as_name)) target = inner, wanted = used;
    }
    if (target == nullptr) return;
    for (const SyntaxNode& node : target->children((*target)[0])) {
      const bool definition = is_function(node) || node.kind == NodeKind::class_def;
      if (definition && target->name(node) == wanted) visit(*target, node);
      if (node.kind == NodeKind::assign && assigns(*target, node, wanted)) visit(*target, node);
      if (node.kind != NodeKind::import_stmt && node.kind != NodeKind::import_from) continue;
      for (const SyntaxNode& inner : target->children(node)) {  // passed on by the module
        const std::string_view bound =
            target->as_name(inner).empty() ? target->name(inner) : target->as_name(inner);
        if (bound == wanted || bound == "*") visit(*target, node);
      }
    }
  }

  /// import_module("kernel"), __import__("kernel"), spec_from_file_location(…, "…/kernel.py")
  void dynamic_import(const Place& place, const SyntaxNode& call) {
    const SyntaxTree& tree = *place.tree;
    const std::string_view callee = callee_name(tree, call);
    const bool by_name = callee == "import_module" || callee == "__import__" || callee == "find_spec";
    const bool by_path = callee == "spec_from_file_location" || callee == "run_path" ||
                         callee == "SourceFileLoader" || callee == "run_module";
    if (!by_name && !by_path) return;
    for (const SyntaxNode& argument : tree.children(call)) {
      const auto text = argument.role == Role::arg ? literal_string(tree, argument) : std::nullopt;
      if (!text) continue;
      std::string_view module = *text;
      while (module.starts_with(".")) module.remove_prefix(1);
      if (names_kernel(module) || (by_path && module.ends_with("kernel.py"))) {
        hit(place, call, fmt::format("imports it by name ({})", callee));
      } else if (by_name) {
        if (const SyntaxTree* target = modules_.find(tree, module, 0)) visit(*target, (*target)[0]);
      }
    }
  }

  /// sys.modules["kernel"]
  void loaded_module(const Place& place, const SyntaxNode& subscript) {
    const SyntaxTree& tree = *place.tree;
    const SyntaxNode* index = tree.child(subscript, Role::slice);
    const auto text = literal_string(tree, *index);
    if (text && names_kernel(*text) &&
        dotted_path(tree, *tree.child(subscript, Role::value)) == "sys.modules") {
      hit(place, subscript, "takes it from sys.modules");
    }
  }

  const SyntaxTree& bench_;
  ModuleSet& modules_;
  std::vector<Place> places_;
  std::set<const SyntaxNode*> seen_;
  std::set<std::pair<const SyntaxNode*, std::string_view>> asked_;
  std::set<std::tuple<const SyntaxNode*, std::string_view, std::string_view>> asked_parts_;
  Findings findings_;
};

}  // namespace

Findings warn_prep_reach(const SyntaxTree& bench, std::string_view prep, ModuleSet& modules) {
  const SyntaxNode* def = module_function(bench, prep);
  return def == nullptr ? Findings{} : Reach(bench, modules).from(*def);
}

}  // namespace plumbline
