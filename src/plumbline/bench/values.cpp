// SPDX-License-Identifier: Apache-2.0
#include "plumbline/bench/values.h"

#include <algorithm>
#include <cmath>

#include "plumbline/base/numbers.h"
#include "plumbline/bench/calls.h"
#include "plumbline/bench/sides.h"

namespace plumbline {
namespace {

constexpr int kMostSteps = 12;
constexpr std::size_t kMostValues = 32;

bool is_body(const SyntaxNode& node) { return is_function(node) || node.kind == NodeKind::lambda; }

/// How a parameter of `function` is passed by `call`, or nullptr.
const SyntaxNode* passed(const SyntaxTree& tree, const SyntaxNode& function, std::string_view name,
                         const SyntaxNode& call) {
  if (const SyntaxNode* value = keyword_value(tree, call, name)) return value;
  std::size_t place = 0;
  for (const Parameter& parameter : parameters_of(tree, function)) {
    if (parameter.stars != 0) return nullptr;
    if (tree.name(*parameter.node) == name) return positional(tree, call, place);
    ++place;
  }
  return nullptr;
}

void collect(const SyntaxTree& tree, const SyntaxNode& node, int depth, std::vector<const SyntaxNode*>& out);

void collect_parameter(const SyntaxTree& tree, const SyntaxNode& function, const SyntaxNode& name, int depth,
                       std::vector<const SyntaxNode*>& out) {
  const SyntaxNode* arguments = tree.child(function, Role::args);
  if (arguments == nullptr) return;
  std::vector<const SyntaxNode*> defaults;
  for (const SyntaxNode& child : tree.children(*arguments)) {
    if (child.role == Role::default_value) defaults.push_back(&child);
  }
  // A default stands right behind its parameter in the source.
  for (const Parameter& parameter : parameters_of(tree, function)) {
    if (!parameter.has_default || tree.name(*parameter.node) != tree.name(name)) continue;
    const SyntaxNode* nearest = nullptr;
    for (const SyntaxNode* value : defaults) {
      if (value->begin > parameter.node->begin && (nearest == nullptr || value->begin < nearest->begin)) {
        nearest = value;
      }
    }
    if (nearest != nullptr) collect(tree, *nearest, depth, out);
  }
  if (!is_function(function)) return;
  for (const SyntaxNode& call : tree.nodes()) {
    if (call.kind != NodeKind::call || callee_name(tree, call) != tree.name(function)) continue;
    if (const SyntaxNode* value = passed(tree, function, tree.name(name), call)) {
      collect(tree, *value, depth, out);
    }
  }
}

void collect(const SyntaxTree& tree, const SyntaxNode& node, int depth, std::vector<const SyntaxNode*>& out) {
  if (depth > kMostSteps || out.size() >= kMostValues ||
      std::find(out.begin(), out.end(), &node) != out.end()) {
    return;
  }
  out.push_back(&node);
  if (node.kind == NodeKind::if_exp) {
    collect(tree, *tree.child(node, Role::body), depth + 1, out);
    collect(tree, *tree.child(node, Role::orelse), depth + 1, out);
    return;
  }
  if (node.kind != NodeKind::name) return;
  for (const SyntaxNode* function = enclosing_function(tree, node); function != nullptr;
       function = enclosing_function(tree, *function)) {
    for (const Parameter& parameter : parameters_of(tree, *function)) {
      if (tree.name(*parameter.node) != tree.name(node)) continue;
      return collect_parameter(tree, *function, node, depth + 1, out);
    }
  }
  const SyntaxNode* value = only_assignment(tree, tree.name(node));
  if (value != nullptr) collect(tree, *value, depth + 1, out);
}

std::optional<double> number(const SyntaxTree& tree, const SyntaxNode& node, int depth) {
  if (depth > kMostSteps) return std::nullopt;
  switch (node.kind) {
    case NodeKind::constant: {
      const auto kind = static_cast<ConstantKind>(node.detail);
      if (kind == ConstantKind::true_value) return 1.0;
      if (kind == ConstantKind::false_value) return 0.0;
      if (kind != ConstantKind::integer && kind != ConstantKind::real) return std::nullopt;
      std::string digits(tree.text(node));
      std::erase(digits, '_');
      if (digits.starts_with(".")) digits.insert(0, "0");
      if (digits.ends_with(".")) digits.push_back('0');
      if (const std::size_t dot = digits.find(".e"); dot != std::string::npos) digits.insert(dot + 1, "0");
      if (const auto whole = parse_int(digits)) return static_cast<double>(*whole);
      return parse_double(digits);
    }
    case NodeKind::name: {
      const SyntaxNode* value = only_assignment(tree, tree.name(node));
      return value == nullptr ? std::nullopt : number(tree, *value, depth + 1);
    }
    case NodeKind::unary_op: {
      const auto inner = number(tree, tree.children(node)[0], depth + 1);
      if (!inner) return std::nullopt;
      if (node.detail == '!') return *inner == 0 ? 1.0 : 0.0;
      return node.detail == '-' ? -*inner : *inner;
    }
    case NodeKind::bin_op: {
      const auto a = number(tree, tree.children(node)[0], depth + 1);
      const auto b = number(tree, tree.children(node)[1], depth + 1);
      if (!a || !b) return std::nullopt;
      const std::string_view between = tree.source().substr(
          tree.children(node)[0].end, tree.children(node)[1].begin - tree.children(node)[0].end);
      if (node.detail == '+') return *a + *b;
      if (node.detail == '-') return *a - *b;
      if (node.detail == '*')
        return between.find("**") != std::string_view::npos ? std::pow(*a, *b) : *a * *b;
      if (node.detail == '/' && *b != 0) {
        return between.find("//") != std::string_view::npos ? std::floor(*a / *b) : *a / *b;
      }
      if (node.detail == '<' && *b >= 0 && *b < 62) return *a * std::pow(2.0, *b);
      return std::nullopt;
    }
    case NodeKind::call: {
      const std::string_view callee = callee_name(tree, node);
      const SyntaxNode* first = positional(tree, node, 0);
      if (first == nullptr || (callee != "float" && callee != "int" && callee != "bool")) return std::nullopt;
      if (const auto text = literal_string(tree, *first)) return parse_double(std::string(*text));
      return number(tree, *first, depth + 1);
    }
    default:
      return std::nullopt;
  }
}

std::optional<std::string> text_of(const SyntaxTree& tree, const SyntaxNode& node, int depth) {
  if (depth > kMostSteps) return std::nullopt;
  if (const auto literal = literal_string(tree, node)) return std::string(*literal);
  if (node.kind == NodeKind::name) {
    const SyntaxNode* value = only_assignment(tree, tree.name(node));
    return value == nullptr ? std::nullopt : text_of(tree, *value, depth + 1);
  }
  if (node.kind == NodeKind::bin_op && node.detail == '+') {
    const auto a = text_of(tree, tree.children(node)[0], depth + 1);
    const auto b = text_of(tree, tree.children(node)[1], depth + 1);
    return a && b ? std::optional(*a + *b) : std::nullopt;
  }
  return std::nullopt;
}

void dict_arguments(const SyntaxTree& tree, const SyntaxNode& expression, int depth,
                    std::vector<NamedArgument>& out);

void call_keywords(const SyntaxTree& tree, const SyntaxNode& call, int depth,
                   std::vector<NamedArgument>& out) {
  for (const SyntaxNode& child : tree.children(call)) {
    if (child.role != Role::keyword) continue;
    const SyntaxNode* value = tree.child(child, Role::value);
    if (child.name != 0) {
      out.push_back({std::string(tree.name(child)), value, &child});
    } else {
      dict_arguments(tree, *value, depth + 1, out);
    }
  }
}

/// OPTIONS["noise"] = …, OPTIONS.update(noise=…): what is added to a dict after it is made.
void added_later(const SyntaxTree& tree, std::string_view name, int depth, std::vector<NamedArgument>& out) {
  for (const SyntaxNode& node : tree.nodes()) {
    if (node.kind != NodeKind::name || tree.name(node) != name) continue;
    const SyntaxNode& parent = tree.parent(node);
    const SyntaxNode& outer = tree.parent(parent);
    if (parent.kind == NodeKind::subscript && outer.kind == NodeKind::assign && parent.role == Role::other) {
      const auto key = text_value(tree, *tree.child(parent, Role::slice));
      if (key) out.push_back({*key, tree.child(outer, Role::value), &outer});
    } else if (parent.kind == NodeKind::attribute && tree.name(parent) == "update" &&
               outer.kind == NodeKind::call && parent.role == Role::func) {
      call_keywords(tree, outer, depth, out);
      if (const SyntaxNode* more = positional(tree, outer, 0)) dict_arguments(tree, *more, depth + 1, out);
    }
  }
}

void dict_arguments(const SyntaxTree& tree, const SyntaxNode& expression, int depth,
                    std::vector<NamedArgument>& out) {
  if (depth > kMostSteps) return;
  if (expression.kind == NodeKind::dict) {
    for (const DictEntry& entry : dict_entries(tree, expression)) {
      if (entry.key == nullptr) {
        dict_arguments(tree, *entry.value, depth + 1, out);
      } else if (const auto key = text_value(tree, *entry.key)) {
        out.push_back({*key, entry.value, entry.key});
      }
    }
  } else if (expression.kind == NodeKind::call && callee_name(tree, expression) == "dict") {
    if (const SyntaxNode* first = positional(tree, expression, 0))
      dict_arguments(tree, *first, depth + 1, out);
    call_keywords(tree, expression, depth, out);
  } else if (expression.kind == NodeKind::bin_op && expression.detail == '|') {
    for (const SyntaxNode& side : tree.children(expression)) dict_arguments(tree, side, depth + 1, out);
  } else if (expression.kind == NodeKind::name) {
    const SyntaxNode* function = enclosing_function(tree, expression);
    if (function != nullptr && is_function(*function)) {
      const std::vector<Parameter> parameters = parameters_of(tree, *function);
      const bool own = std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& parameter) {
        return parameter.stars == 2 && tree.name(*parameter.node) == tree.name(expression);
      });
      if (own) {
        for (const SyntaxNode& call : tree.nodes()) {
          if (call.kind != NodeKind::call || callee_name(tree, call) != tree.name(*function)) continue;
          std::vector<NamedArgument> given;
          call_keywords(tree, call, depth + 1, given);
          for (NamedArgument& argument : given) {
            const bool taken = std::any_of(
                parameters.begin(), parameters.end(),
                [&](const Parameter& parameter) { return tree.name(*parameter.node) == argument.name; });
            if (!taken) out.push_back(std::move(argument));
          }
        }
        return;
      }
    }
    if (const SyntaxNode* value = only_assignment(tree, tree.name(expression))) {
      dict_arguments(tree, *value, depth + 1, out);
    }
    added_later(tree, tree.name(expression), depth, out);
  }
}

/// partial(f, noise=…) behind a name that is called, or nullptr.
const SyntaxNode* partial_behind(const SyntaxTree& tree, const SyntaxNode& func) {
  const SyntaxNode* value = func.kind == NodeKind::name ? only_assignment(tree, tree.name(func)) : &func;
  return value != nullptr && value->kind == NodeKind::call && callee_name(tree, *value) == "partial"
             ? value
             : nullptr;
}

}  // namespace

const SyntaxNode* enclosing_function(const SyntaxTree& tree, const SyntaxNode& node) {
  const SyntaxNode* at = &node;
  while (tree.index(*at) != 0) {
    at = &tree.parent(*at);
    if (is_body(*at)) return at;
  }
  return nullptr;
}

std::vector<const SyntaxNode*> possible_values(const SyntaxTree& tree, const SyntaxNode& node) {
  std::vector<const SyntaxNode*> out;
  collect(tree, node, 0, out);
  return out;
}

std::optional<double> number_value(const SyntaxTree& tree, const SyntaxNode& node) {
  return number(tree, node, 0);
}

std::optional<std::string> text_value(const SyntaxTree& tree, const SyntaxNode& node) {
  return text_of(tree, node, 0);
}

std::vector<Parameter> parameters_of(const SyntaxTree& tree, const SyntaxNode& function) {
  std::vector<Parameter> out;
  const SyntaxNode* arguments = tree.child(function, Role::args);
  if (arguments == nullptr) return out;
  for (const SyntaxNode& child : tree.children(*arguments)) {
    if (child.kind != NodeKind::arg) continue;
    Parameter parameter{&child, false, 0};
    const std::string_view source = tree.source();
    std::size_t before = child.begin;
    while (before > 0 && (source[before - 1] == ' ' || source[before - 1] == '\t')) --before;
    while (before > 0 && source[before - 1] == '*') --before, ++parameter.stars;
    std::size_t after = child.end;
    while (after < source.size() && (source[after] == ' ' || source[after] == '\t')) ++after;
    parameter.has_default = after + 1 < source.size() && source[after] == '=' && source[after + 1] != '=';
    out.push_back(parameter);
  }
  std::sort(out.begin(), out.end(),
            [](const Parameter& a, const Parameter& b) { return a.node->begin < b.node->begin; });
  return out;
}

std::vector<DictEntry> dict_entries(const SyntaxTree& tree, const SyntaxNode& dict) {
  std::vector<const SyntaxNode*> parts;
  for (const SyntaxNode& child : tree.children(dict)) parts.push_back(&child);
  std::sort(parts.begin(), parts.end(),
            [](const SyntaxNode* a, const SyntaxNode* b) { return a->begin < b->begin; });
  std::vector<DictEntry> out;
  const SyntaxNode* key = nullptr;
  for (const SyntaxNode* part : parts) {
    if (part->role == Role::key) {
      key = part;
    } else {
      out.push_back({key, part});
      key = nullptr;
    }
  }
  return out;
}

std::vector<NamedArgument> named_arguments(const SyntaxTree& tree, const SyntaxNode& call) {
  std::vector<NamedArgument> out;
  call_keywords(tree, call, 0, out);
  const SyntaxNode* func = tree.child(call, Role::func);
  const SyntaxNode* partial = func == nullptr ? nullptr : partial_behind(tree, *func);
  if (partial != nullptr) call_keywords(tree, *partial, 0, out);
  return out;
}

const SyntaxNode* function_named(const SyntaxTree& tree, std::string_view name) {
  if (const SyntaxNode* def = module_function(tree, name)) return def;
  const SyntaxNode* only = nullptr;
  for (const SyntaxNode& node : tree.nodes()) {
    if (!is_function(node) || tree.name(node) != name) continue;
    if (only != nullptr) return nullptr;
    only = &node;
  }
  return only;
}

std::string_view harness_name(const SyntaxTree& tree, const SyntaxNode& call) {
  std::string_view name = callee_name(tree, call);
  const SyntaxNode* func = tree.child(call, Role::func);
  if (func == nullptr) return name;
  if (const SyntaxNode* partial = partial_behind(tree, *func)) {
    const SyntaxNode* inner = positional(tree, *partial, 0);
    if (inner == nullptr) return name;
    func = inner;
  } else if (func->kind == NodeKind::name) {
    const SyntaxNode* value = only_assignment(tree, name);
    if (value != nullptr && (value->kind == NodeKind::name || value->kind == NodeKind::attribute))
      func = value;
  }
  if (func->kind == NodeKind::name || func->kind == NodeKind::attribute) name = tree.name(*func);
  if (func->kind != NodeKind::name) return name;
  for (const SyntaxNode& node : tree.nodes()) {
    if (node.kind == NodeKind::alias && tree.as_name(node) == name &&
        tree.parent(node).kind == NodeKind::import_from &&
        tree.name(tree.parent(node)).starts_with("plumbline")) {
      return tree.name(node);
    }
  }
  return name;
}

bool imports_plumbline(const SyntaxTree& tree) {
  const auto ours = [](std::string_view name) {
    return name == "plumbline" || name.starts_with("plumbline.");
  };
  return std::any_of(tree.nodes().begin(), tree.nodes().end(), [&](const SyntaxNode& node) {
    if (node.kind == NodeKind::import_from) return ours(tree.name(node));
    return node.kind == NodeKind::alias && tree.parent(node).kind == NodeKind::import_stmt &&
           ours(tree.name(node));
  });
}

bool is_local(const SyntaxTree& tree, const SyntaxNode& function, std::string_view name) {
  for (const SyntaxTree::Index i : tree.walk(tree.index(function))) {
    const SyntaxNode& node = tree[i];
    if ((node.kind == NodeKind::global_stmt || node.kind == NodeKind::nonlocal_stmt) &&
        tree.text(node).find(name) != std::string_view::npos) {
      return false;
    }
    if (node.kind == NodeKind::arg && tree.name(node) == name) return true;
    if (node.kind != NodeKind::name || tree.name(node) != name || node.role == Role::value) continue;
    const SyntaxNode* at = &node;
    const SyntaxNode* parent = &tree.parent(*at);
    while (parent->kind == NodeKind::tuple || parent->kind == NodeKind::list ||
           parent->kind == NodeKind::starred) {
      at = parent;
      parent = &tree.parent(*at);
    }
    const bool target = at->role == Role::other || at->role == Role::vars;
    if (target && (parent->kind == NodeKind::assign || parent->kind == NodeKind::ann_assign ||
                   parent->kind == NodeKind::named_expr || parent->kind == NodeKind::for_stmt ||
                   parent->kind == NodeKind::comprehension || parent->kind == NodeKind::with_item)) {
      return true;
    }
  }
  return false;
}

}  // namespace plumbline
