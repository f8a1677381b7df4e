// SPDX-License-Identifier: Apache-2.0
#include "plumbline/bench/calls.h"

#include <algorithm>
#include <utility>

#include "plumbline/base/numbers.h"

namespace plumbline {
namespace {

constexpr std::string_view kKernel = "kernel";

bool is_kernel_module(std::string_view module) {
  return module.starts_with(kKernel) && (module.size() == kKernel.size() || module[kKernel.size()] == '.');
}

}  // namespace

std::string_view callee_name(const SyntaxTree& tree, const SyntaxNode& call) {
  const SyntaxNode* func = tree.child(call, Role::func);
  if (func == nullptr || (func->kind != NodeKind::name && func->kind != NodeKind::attribute)) return {};
  return tree.name(*func);
}

std::string dotted_path(const SyntaxTree& tree, const SyntaxNode& expression) {
  std::vector<std::string_view> parts;
  const SyntaxNode* node = &expression;
  while (node->kind == NodeKind::attribute) {
    parts.push_back(tree.name(*node));
    node = tree.child(*node, Role::value);
  }
  if (node->kind != NodeKind::name) return {};
  std::string path(tree.name(*node));
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) path.append(".").append(*part);
  return path;
}

const SyntaxNode* keyword_value(const SyntaxTree& tree, const SyntaxNode& call, std::string_view name) {
  for (const SyntaxNode& child : tree.children(call)) {
    if (child.role == Role::keyword && child.name != 0 && tree.name(child) == name) {
      return tree.child(child, Role::value);
    }
  }
  return nullptr;
}

const SyntaxNode* positional(const SyntaxTree& tree, const SyntaxNode& call, std::size_t n) {
  for (const SyntaxNode& child : tree.children(call)) {
    if (child.role != Role::arg) continue;
    if (n == 0) return &child;
    --n;
  }
  return nullptr;
}

bool is_none(const SyntaxNode& node) {
  return node.kind == NodeKind::constant && node.detail == static_cast<std::uint8_t>(ConstantKind::none);
}

std::optional<std::string_view> literal_string(const SyntaxTree& tree, const SyntaxNode& node) {
  if (node.kind != NodeKind::constant || node.detail != static_cast<std::uint8_t>(ConstantKind::string)) {
    return std::nullopt;
  }
  std::string_view text = tree.text(node);
  while (!text.empty() && text[0] != '"' && text[0] != '\'') text.remove_prefix(1);
  if (text.size() < 2) return std::nullopt;
  const char quote = text[0];
  const bool triple = text.size() >= 6 && text[1] == quote && text[2] == quote;
  const std::size_t width = triple ? 3 : 1;
  text = text.substr(width, text.size() - 2 * width);
  if (text.find_first_of(std::string("\\") + quote) != std::string_view::npos) return std::nullopt;
  return text;
}

std::optional<long long> literal_int(const SyntaxTree& tree, const SyntaxNode& node) {
  if (node.kind != NodeKind::constant || node.detail != static_cast<std::uint8_t>(ConstantKind::integer)) {
    return std::nullopt;
  }
  std::string digits(tree.text(node));
  std::erase(digits, '_');
  return parse_int(digits);
}

bool is_function(const SyntaxNode& node) {
  return node.kind == NodeKind::function_def || node.kind == NodeKind::async_function_def;
}

const SyntaxNode* module_function(const SyntaxTree& tree, std::string_view name) {
  for (const SyntaxNode& node : tree.children(tree[0])) {
    if (is_function(node) && tree.name(node) == name) return &node;
  }
  return nullptr;
}

bool imports_kernel(const SyntaxTree& tree, const SyntaxNode& import) {
  if (import.kind == NodeKind::import_from && is_kernel_module(tree.name(import))) return true;
  if (import.kind != NodeKind::import_stmt && import.kind != NodeKind::import_from) return false;
  const bool from = import.kind == NodeKind::import_from;
  const auto names = tree.children(import);
  return std::any_of(names.begin(), names.end(), [&](const SyntaxNode& alias) {
    return from ? tree.name(alias) == kKernel : is_kernel_module(tree.name(alias));
  });
}

std::vector<std::string_view> kernel_names(const SyntaxTree& tree) {
  std::vector<std::string_view> names;
  for (const SyntaxNode& node : tree.nodes()) {
    if (node.kind != NodeKind::alias) continue;
    const SyntaxNode& import = tree.parent(node);
    const std::string_view name = tree.name(node);
    const std::string_view as_name = tree.as_name(node);
    if (import.kind == NodeKind::import_stmt) {
      if (is_kernel_module(name)) names.push_back(as_name.empty() ? kKernel : as_name);
    } else if (is_kernel_module(tree.name(import))) {
      names.push_back(as_name.empty() ? name : as_name);
    }
  }
  return names;
}

Finding finding_at(const SyntaxTree& tree, const SyntaxNode& node, std::string_view code, std::string message,
                   std::string name) {
  return {.diagnostic = diagnose(code, std::move(message), tree.locate(node)), .name = std::move(name)};
}

}  // namespace plumbline
