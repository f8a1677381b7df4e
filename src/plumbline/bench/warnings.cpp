// SPDX-License-Identifier: Apache-2.0
#include "plumbline/bench/warnings.h"

#include <iterator>
#include <utility>

#include "plumbline/bench/calls.h"

namespace plumbline {

Findings too_long(const SyntaxTree& tree) {
  if (tree.nodes().size() <= kMostNodesExamined) return {};
  return {finding_at(tree, tree[0], "bench-too-long",
                     "the file is too long to be examined for more than the rules that refuse")};
}

Findings bench_warnings(const SyntaxTree& bench, const std::optional<std::string>& prep, bool leaderboard,
                        ModuleSet& modules) {
  Findings all;
  if (Findings large = too_long(bench); !large.empty()) return large;
  const auto add = [&](Findings some) {
    all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
  };
  const std::vector<TimedSide> sides = timed_sides(bench);
  if (prep) add(warn_prep_reach(bench, *prep, sides, modules));
  add(warn_inputs_reach(bench, sides, modules));
  add(warn_reference_reach(bench, sides, modules));
  add(warn_harness(bench));
  add(warn_result(bench));
  add(warn_same(bench, modules));
  add(warn_side_code(bench, sides, modules));
  add(warn_timed_work(bench, sides));
  add(warn_sides(bench, sides));
  add(warn_inputs(bench, sides));
  if (!leaderboard) add(warn_workload_count(bench));
  return all;
}

}  // namespace plumbline
