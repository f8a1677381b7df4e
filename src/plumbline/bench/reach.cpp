// SPDX-License-Identifier: Apache-2.0
#include "plumbline/bench/reach.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "plumbline/bench/calls.h"
#include "plumbline/bench/values.h"

namespace plumbline {
namespace {

constexpr std::size_t kMostPlaces = 4096;
constexpr int kMostSteps = 8;  // of passed-on names

std::string_view first_part(std::string_view dotted) { return dotted.substr(0, dotted.find('.')); }

std::string_view bound_name(const SyntaxTree& tree, const SyntaxNode& alias) {
  if (!tree.as_name(alias).empty()) return tree.as_name(alias);
  return tree.parent(alias).kind == NodeKind::import_stmt ? first_part(tree.name(alias)) : tree.name(alias);
}

bool assigns(const SyntaxTree& tree, const SyntaxNode& assignment, std::string_view name) {
  const auto children = tree.children(assignment);
  return std::any_of(children.begin(), children.end(), [&](const SyntaxNode& target) {
    return target.role == Role::other && target.kind == NodeKind::name && tree.name(target) == name;
  });
}

/// Walks outwards. Every place is visited once, so circles end.
class Reach {
 public:
  Reach(const std::set<std::string>& students, ModuleSet& modules, bool unknown_imports)
      : students_(students), modules_(modules), unknown_imports_(unknown_imports) {}

  Reached from(const SyntaxTree& tree, const SyntaxNode& start) {
    visit(tree, start);
    for (std::size_t i = 0; i < out_.places.size() && i < kMostPlaces && !certain(); ++i) {
      const Place place = out_.places[i];
      examine(place);
    }
    return std::move(out_);
  }

 private:
  bool certain() const { return out_.student && out_.student->certain; }

  bool names_student(std::string_view module) const {
    return std::any_of(students_.begin(), students_.end(), [&](const std::string& student) {
      return module.starts_with(student) &&
             (module.size() == student.size() || module[student.size()] == '.');
    });
  }

  /// "kernel.py", "../kernel.py"
  bool names_student_file(std::string_view path) const {
    return std::any_of(students_.begin(), students_.end(), [&](const std::string& student) {
      const std::string file = student + ".py";
      return path == file || path.ends_with("/" + file);
    });
  }

  bool imports_student(const SyntaxTree& tree, const SyntaxNode& import) const {
    const bool from = import.kind == NodeKind::import_from;
    if (from && names_student(tree.name(import))) return true;
    if (!from && import.kind != NodeKind::import_stmt) return false;
    const auto names = tree.children(import);
    return std::any_of(names.begin(), names.end(), [&](const SyntaxNode& alias) {
      return from ? students_.contains(std::string(tree.name(alias))) : names_student(tree.name(alias));
    });
  }

  void visit(const SyntaxTree& tree, const SyntaxNode& node) {
    if (seen_.insert(&node).second) out_.places.push_back({&tree, &node});
  }

  void hit(const Place& place, const SyntaxNode& at, const std::string& how, bool sure = true) {
    if (certain() || (out_.student && !sure)) return;
    const bool named =
        place.node->name != 0 && (is_function(*place.node) || place.node->kind == NodeKind::class_def);
    const std::string where = named ? fmt::format("'{}' ", place.tree->name(*place.node)) : "";
    out_.student = StudentUse{place.tree, &at, where + how, sure};
  }

  void examine(const Place& place) {
    const SyntaxTree& tree = *place.tree;
    std::set<std::string_view> parameters;
    for (const Parameter& parameter : parameters_of(tree, *place.node))
      parameters.insert(tree.name(*parameter.node));
    for (const SyntaxTree::Index i : tree.walk(tree.index(*place.node))) {
      const SyntaxNode& node = tree[i];
      if (imports_student(tree, node)) {
        hit(place, node, "imports it");
      } else if (node.kind == NodeKind::alias) {
        imported_name(place, node, bound_name(tree, node));
      } else if (node.kind == NodeKind::name && !parameters.contains(tree.name(node))) {
        used_name(place, node);
      } else if (node.kind == NodeKind::call) {
        dynamic_import(place, node);
      } else if (node.kind == NodeKind::subscript) {
        loaded_module(place, node);
      }
    }
  }

  /// Everything visible from the place that binds the name: defs, classes, assignments, imports, and what is
  /// stored into it.
  void used_name(const Place& place, const SyntaxNode& use) {
    const SyntaxTree& tree = *place.tree;
    const std::string_view name = tree.name(use);
    // An attribute says which part of a module is meant, so each use of a module counts; otherwise one will
    // do.
    const bool part = tree.parent(use).kind == NodeKind::attribute;
    if (!part && !asked_.insert({place.node, name}).second) return;
    if (part && !asked_parts_.insert({place.node, name, tree.name(tree.parent(use))}).second) return;
    if (local(tree, *place.node, name)) return;
    const auto visible = [&](const SyntaxNode& binding) {
      const SyntaxNode* scope = enclosing_function(tree, binding);
      return scope == nullptr || tree.inside(tree.index(*place.node), tree.index(*scope));
    };
    for (const SyntaxNode& node : tree.nodes()) {
      if ((is_function(node) || node.kind == NodeKind::class_def) && tree.name(node) == name) {
        if (visible(node)) visit(tree, node);
      } else if (node.kind == NodeKind::assign || node.kind == NodeKind::ann_assign) {
        if (!tree.inside(tree.index(node), tree.index(*place.node)) && assigns(tree, node, name) &&
            visible(node)) {
          if (const SyntaxNode* value = tree.child(node, Role::value)) visit(tree, *value);
        }
      } else if (node.kind == NodeKind::alias) {
        if (bound_name(tree, node) == name) used_import(place, node, use);
      } else if (node.kind == NodeKind::name && tree.name(node) == name) {
        stored_into(tree, node);
      }
    }
  }

  /// is_local, asked once for each function and name: a name may stand in every line of a long function.
  bool local(const SyntaxTree& tree, const SyntaxNode& function, std::string_view name) {
    const auto [known, first] = locals_.try_emplace({&function, name}, false);
    if (first) known->second = is_local(tree, function, name);
    return known->second;
  }

  /// cache["y"] = …, cache.update(…), box.value = …
  void stored_into(const SyntaxTree& tree, const SyntaxNode& name) {
    const SyntaxNode& parent = tree.parent(name);
    if (parent.kind != NodeKind::subscript && parent.kind != NodeKind::attribute) return;
    const SyntaxNode* scope = enclosing_function(tree, name);
    if (scope != nullptr && local(tree, *scope, tree.name(name))) return;
    const SyntaxNode& outer = tree.parent(parent);
    const bool part = parent.kind == NodeKind::subscript || parent.kind == NodeKind::attribute;
    if (part && (outer.kind == NodeKind::assign || outer.kind == NodeKind::aug_assign) &&
        parent.role == Role::other) {
      if (const SyntaxNode* value = tree.child(outer, Role::value)) visit(tree, *value);
    }
    if (parent.kind == NodeKind::attribute && outer.kind == NodeKind::call && parent.role == Role::func) {
      const std::string_view method = tree.name(parent);
      if (method == "update" || method == "append" || method == "setdefault" || method == "extend")
        visit(tree, outer);
    }
  }

  void used_import(const Place& place, const SyntaxNode& alias, const SyntaxNode& use) {
    const SyntaxTree& tree = *place.tree;
    const SyntaxNode& import = tree.parent(alias);
    const bool student =
        import.kind == NodeKind::import_stmt
            ? names_student(tree.name(alias))
            : names_student(tree.name(import)) || students_.contains(std::string(tree.name(alias)));
    if (student) return hit(place, use, fmt::format("uses '{}', which is bound from it", tree.name(use)));
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
      if (definition && (target->name(node) == wanted || wanted == "*")) visit(*target, node);
      if (node.kind == NodeKind::assign && (wanted == "*" || assigns(*target, node, wanted)))
        visit(*target, node);
      if (node.kind != NodeKind::import_stmt && node.kind != NodeKind::import_from) continue;
      for (const SyntaxNode& inner : target->children(node)) {  // passed on by the module
        const std::string_view bound =
            target->as_name(inner).empty() ? target->name(inner) : target->as_name(inner);
        if (bound == wanted || bound == "*") visit(*target, node);
      }
    }
  }

  /// import_module("kernel"), __import__("kernel"), spec_from_file_location(…, "…/kernel.py"),
  /// open("…/kernel.py"), sys.modules.get("kernel")
  void dynamic_import(const Place& place, const SyntaxNode& call) {
    const SyntaxTree& tree = *place.tree;
    const std::string_view callee = callee_name(tree, call);
    const bool by_name = callee == "import_module" || callee == "__import__" || callee == "find_spec" ||
                         callee == "run_module";
    const bool by_path = callee == "spec_from_file_location" || callee == "run_path" ||
                         callee == "SourceFileLoader" || callee == "open" || callee == "Path" ||
                         callee == "read_text" || callee == "join";
    const SyntaxNode* func = tree.child(call, Role::func);
    const bool table = callee == "get" && func != nullptr && dotted_path(tree, *func) == "sys.modules.get";
    if (!by_name && !by_path && !table) return;
    bool known = false;
    for (const SyntaxNode& argument : tree.children(call)) {
      const auto text = argument.role == Role::arg ? text_value(tree, argument) : std::nullopt;
      if (!text) continue;
      known = true;
      std::string_view module = *text;
      while (module.starts_with(".") && !module.starts_with("./") && !module.starts_with("../"))
        module.remove_prefix(1);
      if ((!by_path && names_student(module)) || (by_path && names_student_file(*text))) {
        hit(place, call, fmt::format("imports it by name ({})", callee));
      } else if (by_name) {
        if (const SyntaxTree* target = modules_.find(tree, module, 0)) visit(*target, (*target)[0]);
      }
    }
    if (by_name && !known && unknown_imports_) {
      hit(place, call, fmt::format("imports a module whose name only the run knows ({})", callee), false);
    }
  }

  /// sys.modules["kernel"], globals()["kernel"]
  void loaded_module(const Place& place, const SyntaxNode& subscript) {
    const SyntaxTree& tree = *place.tree;
    const auto text = text_value(tree, *tree.child(subscript, Role::slice));
    if (!text || !names_student(*text)) return;
    const SyntaxNode* table = tree.child(subscript, Role::value);
    const std::string_view callee =
        table->kind == NodeKind::call ? callee_name(tree, *table) : std::string_view{};
    if (dotted_path(tree, *table) == "sys.modules") hit(place, subscript, "takes it from sys.modules");
    if (callee == "globals" || callee == "vars" || callee == "locals") {
      hit(place, subscript, fmt::format("takes it from {}()", callee));
    }
  }

  const std::set<std::string>& students_;
  ModuleSet& modules_;
  bool unknown_imports_;
  Reached out_;
  std::set<const SyntaxNode*> seen_;
  std::set<std::pair<const SyntaxNode*, std::string_view>> asked_;
  std::map<std::pair<const SyntaxNode*, std::string_view>, bool> locals_;
  std::set<std::tuple<const SyntaxNode*, std::string_view, std::string_view>> asked_parts_;
};

/// The import that binds a name at module level, or nullptr.
const SyntaxNode* binding_import(const SyntaxTree& tree, std::string_view name) {
  for (const SyntaxNode& node : tree.nodes()) {
    if (node.kind == NodeKind::alias && bound_name(tree, node) == name) return &node;
  }
  return nullptr;
}

std::optional<Place> follow(const SyntaxTree& tree, std::string_view name, ModuleSet& modules, int depth) {
  if (depth > kMostSteps) return std::nullopt;
  for (const SyntaxNode& node : tree.children(tree[0])) {
    if ((is_function(node) || node.kind == NodeKind::class_def) && tree.name(node) == name)
      return Place{&tree, &node};
  }
  if (const SyntaxNode* value = only_assignment(tree, name)) {
    const SyntaxNode* resolved = resolve_callable(tree, *value);
    if (is_function(*resolved) || resolved->kind == NodeKind::lambda) return Place{&tree, resolved};
    if (resolved->kind == NodeKind::name) return follow(tree, tree.name(*resolved), modules, depth + 1);
    return std::nullopt;
  }
  const SyntaxNode* alias = binding_import(tree, name);
  if (alias == nullptr || tree.parent(*alias).kind != NodeKind::import_from) return std::nullopt;
  const SyntaxNode& import = tree.parent(*alias);
  const SyntaxTree* target = modules.find(tree, tree.name(import), import.as_name);
  return target == nullptr ? std::nullopt : follow(*target, tree.name(*alias), modules, depth + 1);
}

}  // namespace

Reached reach_from(const SyntaxTree& tree, const SyntaxNode& start, const std::set<std::string>& students,
                   ModuleSet& modules, bool unknown_imports) {
  return Reach(students, modules, unknown_imports).from(tree, start);
}

std::string module_of(const SyntaxTree& bench, const TimedSide& side) {
  if (const std::size_t colon = side.target.find(':'); colon != std::string::npos)
    return side.target.substr(0, colon);
  if (side.body != nullptr || side.target.empty()) return {};
  const SyntaxNode* alias = binding_import(bench, first_part(side.target));
  if (alias == nullptr) return {};
  const SyntaxNode& import = bench.parent(*alias);
  if (import.kind == NodeKind::import_stmt) return std::string(bench.name(*alias));
  // from package import module; module.run(…)
  const bool part = side.target.find('.') != std::string::npos;
  return part ? std::string(bench.name(*alias)) : std::string(bench.name(import));
}

std::set<std::string> student_modules(const SyntaxTree& bench, const std::vector<TimedSide>& sides) {
  std::set<std::string> modules{"kernel"};
  for (const TimedSide& side : sides) {
    const std::string module = side.reference ? std::string() : module_of(bench, side);
    if (!module.empty()) modules.insert(module);
  }
  // A library is nobody's own.
  for (const std::string_view library : {"torch", "numpy", "triton"}) {
    std::erase_if(modules, [&](const std::string& module) { return first_part(module) == library; });
  }
  return modules;
}

std::optional<Place> definition_of(const SyntaxTree& bench, const TimedSide& side, ModuleSet& modules) {
  if (side.body != nullptr) return Place{&bench, side.body};
  if (const std::size_t colon = side.target.find(':'); colon != std::string::npos) {
    const SyntaxTree* tree = modules.find(bench, std::string_view(side.target).substr(0, colon), 0);
    return tree == nullptr ? std::nullopt
                           : follow(*tree, std::string_view(side.target).substr(colon + 1), modules, 0);
  }
  const std::size_t dot = side.target.rfind('.');
  if (dot == std::string::npos)
    return side.target.empty() ? std::nullopt : follow(bench, side.target, modules, 0);
  const SyntaxNode* alias = binding_import(bench, first_part(side.target));
  if (alias == nullptr) return std::nullopt;
  const SyntaxTree* tree = modules.find(bench, bench.name(*alias), 0);
  return tree == nullptr ? std::nullopt : follow(*tree, side.target.substr(dot + 1), modules, 0);
}

}  // namespace plumbline
