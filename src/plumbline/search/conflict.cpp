// SPDX-License-Identifier: Apache-2.0
// Why no shape is allowed: the smallest set of constraints that conflict, and by how much each would have to
// give.
#include <cmath>

#include <fmt/format.h>

#include "plumbline/base/numbers.h"
#include "plumbline/search/answer.h"

namespace plumbline {
namespace {

constexpr int kMostSearches = 400;  // subsets tried before the set found so far has to do

int add_node(Program& program, Op op, int a, int b) {
  ProgramNode node;
  node.op = op;
  node.a = a;
  node.b = b;
  for (const int each : {a, b}) {
    if (each >= 0) node.support |= program.nodes[static_cast<std::size_t>(each)].support;
  }
  program.nodes.push_back(node);
  return static_cast<int>(program.nodes.size()) - 1;
}

/// A node that says by how much a constraint is broken (0 or less: it holds), or -1 where that is not a
/// number.
int violation(Program& program, int at) {
  const ProgramNode node = program.nodes[static_cast<std::size_t>(at)];
  if (node.op == Op::less || node.op == Op::less_equal)
    return add_node(program, Op::subtract, node.a, node.b);
  if (node.op == Op::equal) {
    const int over = add_node(program, Op::subtract, node.a, node.b);
    const int under = add_node(program, Op::subtract, node.b, node.a);
    return add_node(program, Op::maximum, over, under);
  }
  if (node.op != Op::logical_and && node.op != Op::logical_or) return -1;
  const int left = violation(program, node.a);
  const int right = left < 0 ? -1 : violation(program, node.b);
  if (right < 0) return -1;
  return add_node(program, node.op == Op::logical_and ? Op::maximum : Op::minimum, left, right);
}

class Search {
 public:
  Search(const Problem& problem, unsigned threads)
      : problem_(problem),
        threads_(threads),
        basic_(problem.constraints.size() - problem.space.constraints.size()) {
    problem_.front.clear();
    problem_.space.top = 1;
  }

  std::size_t count() const { return problem_.space.constraints.size(); }

  bool feasible(const std::vector<char>& kept) {
    ++searches;
    SearchOptions options;
    options.first_only = true;
    options.use = use_of(kept);
    const Engine engine(problem_, options);
    SearchState state = engine.start();
    while (state.next < engine.order().size() && state.top.best.empty()) {
      std::vector<SlabResult> results(1);
      engine.search_slab(state.next, state, results[0]);
      engine.finish_round(state, results);
    }
    return !state.top.best.empty();
  }

  /// The least violation of constraint `c` among shapes that fulfil `kept`.
  std::optional<double> least_violation(std::size_t c, std::vector<char> kept) {
    kept[c] = 0;
    Problem relaxed = problem_;
    const int node = violation(relaxed.program, problem_.constraints[basic_ + c].node);
    if (node < 0) return std::nullopt;
    relaxed.objective.node = node;
    SearchOptions options;
    options.use = use_of(kept);
    const Engine engine(relaxed, options);
    SearchState state = engine.start();
    run_search(engine, state, threads_);
    if (state.top.best.empty()) return std::nullopt;
    return state.top.best.front().value;
  }

  int searches = 0;

 private:
  std::vector<char> use_of(const std::vector<char>& kept) const {
    std::vector<char> use(problem_.constraints.size(), 1);
    for (std::size_t i = 0; i < kept.size(); ++i) use[basic_ + i] = kept[i];
    return use;
  }

  Problem problem_;
  unsigned threads_;
  std::size_t basic_;
};

/// The next set of `size` out of `count`, as places in ascending order. False after the last.
bool next_set(std::vector<std::size_t>& set, std::size_t count) {
  for (std::size_t i = set.size(); i-- > 0;) {
    if (set[i] + (set.size() - i) < count) {
      ++set[i];
      for (std::size_t j = i + 1; j < set.size(); ++j) set[j] = set[j - 1] + 1;
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<Conflict> find_conflict(const Problem& problem, unsigned threads) {
  Search search(problem, threads);
  const std::size_t count = search.count();
  std::vector<char> kept(count, 1);
  if (search.feasible(kept)) return std::nullopt;
  // What can be left out one by one leaves a set of which nothing can be left out; then smaller sets are
  // tried.
  for (std::size_t i = 0; i < count; ++i) {
    kept[i] = 0;
    if (search.feasible(kept)) kept[i] = 1;
  }
  Conflict out;
  std::size_t size = 0;
  for (const char each : kept) size += static_cast<std::size_t>(each);
  for (std::size_t smaller = 1; smaller < size && out.smallest; ++smaller) {
    std::vector<std::size_t> set(smaller);
    for (std::size_t i = 0; i < smaller; ++i) set[i] = i;
    do {
      if (search.searches >= kMostSearches) {
        out.smallest = false;
        break;
      }
      std::vector<char> some(count, 0);
      for (const std::size_t each : set) some[each] = 1;
      if (!search.feasible(some)) {
        kept = some;
        size = smaller;
        break;
      }
    } while (next_set(set, count));
  }
  const std::vector<char> all(count, 1);
  for (std::size_t i = 0; i < count; ++i) {
    if (kept[i] == 0) continue;
    auto gives = search.least_violation(i, all);
    if (!gives) gives = search.least_violation(i, kept);
    const SpaceConstraint& each = problem.space.constraints[i];
    out.members.push_back({each.name, each.expression.text, gives});
  }
  return out;
}

std::string conflict_text(const Problem& problem, const std::optional<Conflict>& conflict) {
  if (!conflict || conflict->members.empty())
    return fmt::format(
        "no shape of {} is a valid layer: heads that do not divide, or sizes that are not whole",
        problem.space.name);
  std::string out =
      conflict->smallest ? "no shape fulfils" : "no shape fulfils (a set of which nothing can be left out)";
  for (std::size_t i = 0; i < conflict->members.size(); ++i) {
    const Conflict::Member& each = conflict->members[i];
    out +=
        fmt::format("{} {} ({}){}", i == 0 ? "" : " and", each.name, each.text,
                    each.gives ? fmt::format(", which would have to give by {}", format_double(*each.gives))
                               : ", which no loosening would satisfy");
  }
  return out;
}

}  // namespace plumbline
