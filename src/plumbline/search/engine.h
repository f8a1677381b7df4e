// SPDX-License-Identifier: Apache-2.0
// The exact search: slabs of a space walked with bounds, rows of a slab summed at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "plumbline/search/candidates.h"
#include "plumbline/search/problem.h"

namespace plumbline {

/// What a search looks for.
enum class Seek : std::uint8_t {
  best,      ///< the first shapes and the front
  front,     ///< the front, and no first shapes
  uncovered  ///< how many shapes no point of the first state's front covers, and the first of these
};

/// How a search is run. Where it seeks the best, nothing here changes the shapes found.
struct SearchOptions {
  Seek seek = Seek::best;
  std::vector<int> front;  ///< nodes in place of those of the problem's front; empty: these
  const std::vector<std::int64_t>* known = nullptr;  ///< ascending: numbers that are not counted as uncovered
  bool prune = true;        ///< false: every shape that no constraint refuses is evaluated
  bool first_only = false;  ///< stop at the first shape that fulfils every constraint
  std::vector<char> use;    ///< which constraints count; empty: all
  unsigned threads = 1;
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: give up
};

/// Shapes by what became of them; they add up to the space.
struct Tally {
  std::int64_t seen = 0;               ///< evaluated, and allowed by every constraint
  std::int64_t pruned = 0;             ///< a bound showed that none of them can be in the answer
  std::vector<std::int64_t> rejected;  ///< by constraint: the first that refused it
  void add(const Tally& other);
};

/// A slab: a cell of the grid that the space is cut into.
struct Slab {
  std::vector<std::int32_t> low, high;  ///< places [low, high) of each dimension
  double bound = 0;                     ///< no shape of it is better
  int refused_by = -1;                  ///< a constraint that no shape of it fulfils, or -1
};

/// What a slab came to.
enum class SlabFate : std::uint8_t { searched, bounded, refused };

/// The state of a search: complete after every round, and what a checkpoint holds.
struct SearchState {
  TopList top;
  Front front;
  Tally tally;
  std::int64_t uncovered = 0;   ///< shapes, where they are looked for
  std::size_t next = 0;         ///< the first slab (by bound) that is not finished
  std::vector<SlabFate> fates;  ///< of the finished slabs, in that order
};

/// What one slab adds to the state.
struct SlabResult {
  TopList top;
  Front front;
  Tally tally;
  std::int64_t uncovered = 0;
  SlabFate fate = SlabFate::searched;
};

struct SearchPlan;

/// A problem ready to be walked. Cheap to share between threads.
class Engine {
 public:
  explicit Engine(const Problem& problem, SearchOptions options = {});
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const std::vector<Slab>& slabs() const;                      ///< in the order of the grid
  const std::vector<std::size_t>& order() const;               ///< of slabs: the least bound first
  const std::vector<std::vector<std::int32_t>>& cuts() const;  ///< of each dimension, from 0 to its size
  SearchState start() const;

  /// Slabs of the round that starts at state.next. Rounds do not depend on threads or ranks, and so neither
  /// does what a slab knows of the best so far.
  std::size_t round_end(const SearchState& state) const;
  /// Searches one slab of the order, from what the state knows. Nothing when it was stopped.
  bool search_slab(std::size_t place, const SearchState& state, SlabResult& result) const;
  /// Adds the results of a round, in order.
  void finish_round(SearchState& state, std::vector<SlabResult>& results) const;

 private:
  std::unique_ptr<const SearchPlan> plan_;
};

struct SearchRanks;

/// How a search ended. Where it is not whole, the state is that of the last finished round.
enum class SearchEnd : std::uint8_t {
  whole,
  stopped,  ///< from outside
  lost      ///< another process ended, or sent what is not a result
};

/// Runs the search from `state` to its end on `threads` threads of each of `ranks` (none: this process
/// alone). `after_round` sees the state after every round (a checkpoint, progress).
SearchEnd run_search(const Engine& engine, SearchState& state, unsigned threads,
                     const std::function<void(const SearchState&)>& after_round = {},
                     const SearchRanks* ranks = nullptr);

}  // namespace plumbline
