// SPDX-License-Identifier: Apache-2.0
// How many workloads a bench times (window-contract.md, section 4).
#include <fmt/format.h>

#include "plumbline/bench/calls.h"
#include "plumbline/bench/check.h"

namespace plumbline {
namespace {

constexpr std::size_t kFewestWorkloads = 3;

}  // namespace

WorkloadsAnswer check_workloads(const SyntaxTree& bench, const std::optional<std::string>& problem_json) {
  WorkloadsAnswer answer;
  std::vector<const SyntaxNode*> calls;
  for (const SyntaxNode& node : bench.nodes()) {
    if (node.kind != NodeKind::call) continue;
    const std::string_view callee = callee_name(bench, node);
    if (callee == "measure_windows_workloads") calls.push_back(&node);
    answer.leaderboard = answer.leaderboard || callee == "run_leaderboard_bench";
  }
  if (answer.leaderboard) {
    answer.times_workloads = problem_json && problem_group_length(*problem_json).value_or(0) > 1;
    return answer;
  }
  answer.times_workloads = !calls.empty();
  if (calls.empty()) {
    answer.findings.push_back(finding_at(bench, bench[0], "workloads-not-called",
                                         "no measure_windows_workloads call: at most one shape is timed"));
  }
  for (const SyntaxNode* call : calls) {
    const SyntaxNode* list = positional(bench, *call, 0);
    if (list == nullptr) list = keyword_value(bench, *call, "workloads");
    if (list == nullptr || (list->kind != NodeKind::list && list->kind != NodeKind::tuple)) continue;
    if (list->child_count < kFewestWorkloads) {
      answer.findings.push_back(
          finding_at(bench, *list, "workloads-too-few",
                     fmt::format("{} workload{} timed, at least {} are needed", list->child_count,
                                 list->child_count == 1 ? " is" : "s are", kFewestWorkloads)));
    }
  }
  return answer;
}

}  // namespace plumbline
