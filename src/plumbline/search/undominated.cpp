// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/undominated.h"

#include <algorithm>

namespace plumbline {

SearchEnd find_undominated(const Problem& problem, const Front& exact, const SearchOptions& how,
                           unsigned threads, const SearchRanks& ranks,
                           const std::function<void(std::size_t done, std::size_t all)>& progress,
                           Undominated& out) {
  if (!problem.uncertain_loss || problem.uncertain_loss->at_most < 0 || exact.points.empty())
    return SearchEnd::whole;
  SearchOptions options;
  options.prune = how.prune;
  options.stop = how.stop;
  for (const ProblemRoot& each : problem.front) options.front.push_back(each.node);
  int& loss = options.front[problem.uncertain_loss->place];

  // What dominates a shape is dominated by, or is, a point of this front, which then dominates the shape too.
  options.seek = Seek::front;
  loss = problem.uncertain_loss->at_most;
  const Engine first(problem, options);
  SearchState sure = first.start();
  const std::size_t slabs = first.order().size();
  auto end = run_search(
      first, sure, threads, [&](const SearchState& now) { progress(now.next, 2 * slabs); }, &ranks);
  if (end != SearchEnd::whole) return end;

  std::vector<std::int64_t> known;
  for (const FrontPoint& each : exact.points) known.push_back(each.number);
  std::sort(known.begin(), known.end());
  options.seek = Seek::uncovered;
  options.known = &known;
  loss = problem.uncertain_loss->at_least;
  const Engine second(problem, options);
  SearchState left = second.start();
  left.top.limit = kMostUndominated;
  left.front = std::move(sure.front);
  end = run_search(
      second, left, threads, [&](const SearchState& now) { progress(slabs + now.next, 2 * slabs); }, &ranks);
  out = {left.uncovered, std::move(left.top.best)};
  return end;
}

}  // namespace plumbline
