// SPDX-License-Identifier: Apache-2.0
// How a bench calls the harness: options that loosen it, keywords that it does not have.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "plumbline/base/text.h"
#include "plumbline/bench/calls.h"
#include "plumbline/bench/harness_api.h"
#include "plumbline/bench/values.h"
#include "plumbline/bench/warnings.h"

namespace plumbline {
namespace {

constexpr auto kWorkloads =
    std::to_array<std::string_view>({"workloads", "student", "reference", "prep", "out", "op", "noise",
                                     "time_limit_s", "cold", "min_workloads", "rounds", "max_calls",
                                     "memory_bytes", "load_limit_s", "paths", "require_geometric_mean"});
constexpr auto kWindows = std::to_array<std::string_view>(
    {"fn", "prep", "inputs", "calls", "noise", "time_limit_s", "cold", "session", "out"});
constexpr auto kLeaderboard = std::to_array<std::string_view>(
    {"problem_json", "student", "reference", "make_inputs", "prep", "out", "paths", "op", "noise",
     "time_limit_s", "cold", "rounds", "max_calls", "memory_bytes", "load_limit_s"});
constexpr auto kWorkload = std::to_array<std::string_view>(
    {"name", "make_inputs", "campaign", "tolerance", "outputs", "shape", "draws"});

/// An option and the value from which on a reading says less than the harness's own default promises. The
/// bounds leave room for a bench that is only in a hurry: half to twice the default.
struct Bound {
  std::string_view name;
  double limit;
  bool above;  ///< loosened above the limit, else below it
  std::string_view means;
};
constexpr auto kBounds = std::to_array<Bound>({
    {"noise", 0.01, true, "readings stop while they still differ (default 0.005)"},
    {"rounds", 4, false, "too few A B B A rounds to see drift (default 8)"},
    {"time_limit_s", 2, false, "readings are cut off before they settle (default 20)"},
    {"max_calls", 8, false, "a window of a few calls is within the timer's resolution (default 200)"},
    {"memory_bytes", 64e6, false, "the input sets fit into L2 together (default 8 GiB)"},
    {"cold", 1, false, "the L2 cache is warm (default True)"},
    {"min_workloads", 3, false, "one shape can be tuned to (default 3)"},
    {"require_geometric_mean", 1, false, "a ratio without a mean over workloads passes (default True)"},
    {"tolerance", 0.05, true, "wrong outputs pass (default 0.02 for bf16, 0.001 for fp32)"},
});

const Bound* bound_of(std::string_view name) {
  const auto found =
      std::find_if(kBounds.begin(), kBounds.end(), [&](const Bound& bound) { return bound.name == name; });
  return found == kBounds.end() ? nullptr : &*found;
}

/// float("inf"), math.inf, numpy.inf.
bool endless(const SyntaxTree& bench, const SyntaxNode& value) {
  if (value.kind == NodeKind::call && callee_name(bench, value) == "float") {
    const SyntaxNode* word = positional(bench, value, 0);
    const auto text = word == nullptr ? std::nullopt : literal_string(bench, *word);
    return text && to_lower(*text).starts_with("inf");
  }
  return dotted_path(bench, value).ends_with(".inf");
}

void check_bound(const SyntaxTree& bench, const NamedArgument& argument, Findings& out) {
  const Bound* bound = bound_of(argument.name);
  if (bound == nullptr) return;
  for (const SyntaxNode* value : possible_values(bench, *argument.value)) {
    const auto number = is_none(*value) && argument.name == "cold" ? std::optional(0.0)
                        : endless(bench, *value)                   ? std::optional(HUGE_VAL)
                                                                   : number_value(bench, *value);
    if (!number || (bound->above ? !(*number > bound->limit) : !(*number < bound->limit))) continue;
    const std::string written = value == argument.value
                                    ? std::string(bench.text(*value))
                                    : fmt::format("{} ({})", bench.text(*argument.value), bench.text(*value));
    out.push_back(finding_at(bench, *argument.at, "harness-loosened",
                             fmt::format("{}={}: {}", argument.name, written, bound->means), argument.name));
    return;
  }
}

void check_known(const SyntaxTree& bench, const NamedArgument& argument, std::string_view function,
                 std::span<const std::string_view> known, Findings& out) {
  if (std::find(known.begin(), known.end(), argument.name) != known.end()) return;
  const auto near = nearest_name(argument.name, known);
  out.push_back(finding_at(bench, *argument.at, "harness-keyword",
                           fmt::format("{} has no parameter '{}'{}", function, argument.name,
                                       near ? fmt::format("; did you mean '{}'?", *near) : ""),
                           argument.name));
}

/// More positional arguments than the function takes.
void check_positional(const SyntaxTree& bench, const SyntaxNode& call, std::string_view function,
                      std::size_t taken, Findings& out) {
  const SyntaxNode* extra = positional(bench, call, taken);
  for (std::size_t i = 0; i <= taken; ++i) {
    const SyntaxNode* argument = positional(bench, call, i);
    if (argument == nullptr || argument->kind == NodeKind::starred) return;
  }
  out.push_back(finding_at(bench, *extra, "harness-keyword",
                           fmt::format("{} takes {} positional argument{}; this one has to be named",
                                       function, taken, taken == 1 ? "" : "s")));
}

}  // namespace

std::span<const std::string_view> harness_keywords(std::string_view function) {
  if (function == "measure_windows_workloads") return kWorkloads;
  if (function == "measure_windows") return kWindows;
  if (function == "run_leaderboard_bench") return kLeaderboard;
  if (function == "Workload") return kWorkload;
  return {};
}

Findings warn_harness(const SyntaxTree& bench) {
  Findings out;
  const bool ours = imports_plumbline(bench);
  for (const SyntaxNode& call : bench.nodes()) {
    if (call.kind != NodeKind::call) continue;
    const std::string_view function = harness_name(bench, call);
    const bool measures = function.starts_with("measure_windows") || function == "run_leaderboard_bench";
    if (!measures && function != "Workload") continue;
    const auto known = ours ? harness_keywords(function) : std::span<const std::string_view>{};
    for (const NamedArgument& argument : named_arguments(bench, call)) {
      check_bound(bench, argument, out);
      if (!known.empty()) check_known(bench, argument, function, known, out);
    }
    if (!known.empty()) check_positional(bench, call, function, function == "Workload" ? 2 : 1, out);
  }
  return out;
}

}  // namespace plumbline
