// SPDX-License-Identifier: Apache-2.0
// The rules that refuse a bench or its profiler launch script. Each is a pure function of a syntax tree.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "plumbline/bench/syntax.h"
#include "plumbline/contract/finding.h"

namespace plumbline {

/// What the bench hands over as its prep step. One finding at most, in the order prep-not-passed,
/// prep-not-name, prep-not-module-def, prep-touches-kernel.
struct PrepAnswer {
  std::optional<std::string> name;  ///< the name that the winning call passes
  Findings findings;
};

/// The first measure_windows* call, breadth first, whose first prep= is not the literal None decides.
PrepAnswer check_prep(const SyntaxTree& bench);

/// The launch script: it imports `prep` from bench and calls it, starts the profiler, and makes no prep call
/// on a line after the first start. One finding at most, in the order ncu-prep-not-called,
/// ncu-no-profiler-start, ncu-prep-after-start.
Findings check_ncu_run(const SyntaxTree& script, std::string_view prep);

/// How many workloads the bench times.
struct WorkloadsAnswer {
  bool times_workloads = false;  ///< the eval reports a geometric mean over workloads
  bool leaderboard = false;      ///< a board decides what is timed: nothing is asked of the bench
  Findings findings;
};

/// workloads-not-called, or workloads-too-few for each call with a literal list or tuple of fewer than three.
/// `problem_json` is the text of eval/leaderboard/problem.json, if there is one; only a leaderboard bench
/// reads it.
WorkloadsAnswer check_workloads(const SyntaxTree& bench, const std::optional<std::string>& problem_json);

/// len(json.loads(text)["group"]), as Python's json module would find it; none when any step of that fails.
std::optional<std::size_t> problem_group_length(std::string_view text);

}  // namespace plumbline
