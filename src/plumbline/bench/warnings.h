// SPDX-License-Identifier: Apache-2.0
// What a bench or a launch script does that is likely unfair, beyond the rules that refuse. Every code here
// is a warning. Each rule is a pure function of syntax trees; what cannot be resolved is left alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/bench/modules.h"
#include "plumbline/bench/sides.h"
#include "plumbline/bench/syntax.h"
#include "plumbline/contract/finding.h"

namespace plumbline {

/// A longer file (about 6,000 dense lines) gets the one warning bench-too-long: some of the searches below
/// grow with the square of the length.
inline constexpr std::size_t kMostNodesExamined = 50'000;

/// That warning, or nothing.
Findings too_long(const SyntaxTree& tree);

/// prep-reaches-kernel: the prep step arrives at the student's module through other functions of the bench,
/// an alias, a module of the card (imports are followed, in circles too), importlib or functools.partial.
Findings warn_prep_reach(const SyntaxTree& bench, std::string_view prep, ModuleSet& modules);

/// timed-extra-work, timed-extra-work-both: what the timed callables of the bench do beside calling the
/// kernel.
Findings warn_timed_work(const SyntaxTree& bench, const std::vector<TimedSide>& sides);

/// sides-same-function, reference-from-student, sides-keywords-differ.
Findings warn_sides(const SyntaxTree& bench, const std::vector<TimedSide>& sides);

/// inputs-constant, inputs-mutated.
Findings warn_inputs(const SyntaxTree& bench, const std::vector<TimedSide>& sides);

/// workloads-few-known, workloads-uncounted: of lists that are no literal.
Findings warn_workload_count(const SyntaxTree& bench);

/// All of the above that apply. A leaderboard bench is not asked for its workloads.
Findings bench_warnings(const SyntaxTree& bench, const std::optional<std::string>& prep, bool leaderboard,
                        ModuleSet& modules);

/// The ncu command lines of shell scripts beside a launch script or in the folder above, that run it.
std::vector<std::string> wrapper_commands(const std::string& script_path);

/// ncu-no-synchronize, ncu-no-stop, ncu-start-in-loop, ncu-launch-cut, ncu-from-start, ncu-no-warmup,
/// ncu-prep-arguments. `commands` come from wrappers; those in the script's own comments and docstring are
/// added.
Findings script_warnings(const SyntaxTree& script, const SyntaxTree* bench,
                         const std::optional<std::string>& prep, const std::vector<std::string>& commands);

}  // namespace plumbline
