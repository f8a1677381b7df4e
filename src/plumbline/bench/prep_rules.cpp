// SPDX-License-Identifier: Apache-2.0
// The prep step that bench.py hands over (window-contract.md, section 4).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "plumbline/bench/calls.h"
#include "plumbline/bench/check.h"

namespace plumbline {
namespace {

bool is_measuring_call(const SyntaxTree& tree, const SyntaxNode& node) {
  return node.kind == NodeKind::call && callee_name(tree, node).starts_with("measure_windows");
}

/// What the bench's prep touches of the student's module: names bound from it, and imports of it.
std::set<std::string_view> kernel_hits(const SyntaxTree& tree, const SyntaxNode& def) {
  const std::vector<std::string_view> bound = kernel_names(tree);
  std::set<std::string_view> hits;
  for (const SyntaxTree::Index i : tree.walk(tree.index(def))) {
    const SyntaxNode& node = tree[i];
    if (node.kind == NodeKind::name &&
        std::find(bound.begin(), bound.end(), tree.name(node)) != bound.end()) {
      hits.insert(tree.name(node));
    } else if (imports_kernel(tree, node)) {
      hits.insert("kernel");
    }
  }
  return hits;
}

}  // namespace

PrepAnswer check_prep(const SyntaxTree& bench) {
  const SyntaxNode* value = nullptr;
  const SyntaxNode* without = nullptr;  // a measuring call that passes none: where to add it
  for (const SyntaxNode& node : bench.nodes()) {
    if (!is_measuring_call(bench, node)) continue;
    const SyntaxNode* passed = keyword_value(bench, node, "prep");
    if (passed != nullptr && !is_none(*passed)) {
      value = passed;
      break;
    }
    if (without == nullptr) without = &node;
  }
  PrepAnswer answer;
  const auto report = [&](const SyntaxNode& at, std::string_view code, std::string message,
                          std::string name = {}) {
    answer.findings.push_back(finding_at(bench, at, code, std::move(message), std::move(name)));
  };
  if (value == nullptr) {
    report(without == nullptr ? bench[0] : *without, "prep-not-passed",
           without == nullptr ? "no measure_windows call, so no prep step is passed"
                              : "no measure_windows call passes prep= other than None");
    return answer;
  }
  if (value->kind != NodeKind::name) {
    report(*value, "prep-not-name", "prep= is not a plain name, so the launch script cannot share it");
    return answer;
  }
  answer.name = std::string(bench.name(*value));
  const SyntaxNode* def = module_function(bench, *answer.name);
  if (def == nullptr) {
    report(*value, "prep-not-module-def",
           fmt::format("'{}' is not a module-level def of this file", *answer.name), *answer.name);
    return answer;
  }
  if (const auto hits = kernel_hits(bench, *def); !hits.empty()) {
    report(*def, "prep-touches-kernel",
           fmt::format("prep '{}' uses the student's module: {}", *answer.name, fmt::join(hits, ", ")),
           *answer.name);
  }
  return answer;
}

}  // namespace plumbline
