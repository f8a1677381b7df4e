// SPDX-License-Identifier: Apache-2.0
// What a bench or a launch script does that is likely unfair, beyond the rules that refuse. A code here is
// a warning, but where a rule is certain. Each rule is a pure function of syntax trees; what cannot be
// resolved is left alone.
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
Findings warn_prep_reach(const SyntaxTree& bench, std::string_view prep, const std::vector<TimedSide>& sides,
                         ModuleSet& modules);

/// inputs-touch-kernel (a finding), inputs-import-unknown: the same of what makes the workloads' inputs.
Findings warn_inputs_reach(const SyntaxTree& bench, const std::vector<TimedSide>& sides, ModuleSet& modules);

/// sides-one-module, reference-from-student (in the reference's own module), student-imported.
Findings warn_reference_reach(const SyntaxTree& bench, const std::vector<TimedSide>& sides,
                              ModuleSet& modules);

/// harness-loosened, harness-keyword: how the harness is called, also through constants, ** and partial.
Findings warn_harness(const SyntaxTree& bench);

/// harness-patched: what a file replaces in torch, in the clocks or in the harness. `who` begins the message.
Findings warn_patches(const SyntaxTree& tree, std::string_view who);

/// measured-again, result-rewritten, harness-patched.
Findings warn_result(const SyntaxTree& bench);

/// workloads-same, inputs-kept: one shape several times, inputs that are made once.
Findings warn_same(const SyntaxTree& bench, ModuleSet& modules);

/// side-stream, side-counts-calls, side-keeps-results, side-waits, side-looks-around: in the sides' own code.
Findings warn_side_code(const SyntaxTree& bench, const std::vector<TimedSide>& sides, ModuleSet& modules);

/// timed-extra-work, timed-extra-work-both: what the timed callables of the bench do beside calling the
/// kernel.
Findings warn_timed_work(const SyntaxTree& bench, const std::vector<TimedSide>& sides);

/// sides-same-function, reference-from-student, sides-keywords-differ.
Findings warn_sides(const SyntaxTree& bench, const std::vector<TimedSide>& sides);

/// inputs-constant, inputs-mutated.
Findings warn_inputs(const SyntaxTree& bench, const std::vector<TimedSide>& sides);

/// workloads-few-known, workloads-uncounted: of lists that are not a literal.
Findings warn_workload_count(const SyntaxTree& bench);

/// All of the above that apply; some are findings. A leaderboard bench is not asked for its workloads.
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
