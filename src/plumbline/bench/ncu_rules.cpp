// SPDX-License-Identifier: Apache-2.0
// The profiler's launch script (window-contract.md, section 4).
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "plumbline/bench/calls.h"
#include "plumbline/bench/check.h"

namespace plumbline {
namespace {

/// Does an import bring the bench's `prep` in? The names under which it may then be called go to `names`.
bool imported(const SyntaxTree& script, std::string_view prep, std::vector<std::string_view>& names) {
  bool any = false;
  for (const SyntaxNode& node : script.nodes()) {
    if (node.kind != NodeKind::alias) continue;
    const SyntaxNode& import = script.parent(node);
    const bool from = import.kind == NodeKind::import_from;
    if (from ? script.name(import) == "bench" && script.name(node) == prep : script.name(node) == "bench") {
      any = true;
      if (from && !script.as_name(node).empty()) names.push_back(script.as_name(node));
    }
  }
  return any;
}

/// `<expression>.profiler.start(…)`; a bare profiler.start() does not say whose profiler it is.
bool is_start(const SyntaxTree& script, const SyntaxNode& call) {
  const SyntaxNode* func = script.child(call, Role::func);
  if (func == nullptr || func->kind != NodeKind::attribute || script.name(*func) != "start") return false;
  const SyntaxNode* owner = script.child(*func, Role::value);
  return owner->kind == NodeKind::attribute && script.name(*owner) == "profiler";
}

bool is_prep_call(const SyntaxTree& script, const SyntaxNode& call, std::string_view prep,
                  const std::vector<std::string_view>& names) {
  const SyntaxNode* func = script.child(call, Role::func);
  if (func->kind == NodeKind::name) {
    return std::find(names.begin(), names.end(), script.name(*func)) != names.end();
  }
  if (func->kind != NodeKind::attribute || script.name(*func) != prep) return false;
  const SyntaxNode* owner = script.child(*func, Role::value);
  return owner->kind == NodeKind::name && script.name(*owner) == "bench";
}

}  // namespace

Findings check_ncu_run(const SyntaxTree& script, std::string_view prep) {
  std::vector<std::string_view> names{prep};
  const bool has_import = imported(script, prep, names);
  std::vector<const SyntaxNode*> calls;
  int start_line = std::numeric_limits<int>::max();
  for (const SyntaxNode& node : script.nodes()) {
    if (node.kind != NodeKind::call) continue;
    if (is_prep_call(script, node, prep, names)) calls.push_back(&node);
    if (is_start(script, node)) start_line = std::min(start_line, script.position(node.begin).line);
  }
  const std::string name(prep);
  if (!has_import || calls.empty()) {
    return {finding_at(script, script[0], "ncu-prep-not-called",
                       has_import ? fmt::format("the bench's prep '{}' is imported and never called", prep)
                                  : fmt::format("the bench's prep '{}' is not imported from bench", prep),
                       name)};
  }
  if (start_line == std::numeric_limits<int>::max()) {
    return {finding_at(script, script[0], "ncu-no-profiler-start",
                       "no ….profiler.start() call: nothing is profiled")};
  }
  for (const SyntaxNode* call : calls) {
    const int line = script.position(call->begin).line;
    if (line <= start_line) continue;
    return {finding_at(
        script, *call, "ncu-prep-after-start",
        fmt::format("prep '{}' is called after the profiler's start on line {}", prep, start_line), name)};
  }
  return {};
}

}  // namespace plumbline
