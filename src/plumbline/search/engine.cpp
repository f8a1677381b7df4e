// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/engine.h"

#include <algorithm>
#include <thread>

#include "plumbline/search/ranks.h"
#include "plumbline/search/search_plan.h"

namespace plumbline {

namespace {
constexpr std::size_t kFirstRound = 4, kLargestRound = 128;
}

void Tally::add(const Tally& other) {
  seen += other.seen;
  pruned += other.pruned;
  rejected.resize(std::max(rejected.size(), other.rejected.size()));
  for (std::size_t i = 0; i < other.rejected.size(); ++i) rejected[i] += other.rejected[i];
}

Engine::Engine(const Problem& problem, SearchOptions options)
    : plan_(std::make_unique<SearchPlan>(problem, std::move(options))) {}
Engine::~Engine() = default;

const std::vector<Slab>& Engine::slabs() const { return plan_->slabs; }
const std::vector<std::size_t>& Engine::order() const { return plan_->order; }
const std::vector<std::vector<std::int32_t>>& Engine::cuts() const { return plan_->cuts; }

SearchState Engine::start() const {
  SearchState state;
  state.top.limit = plan_->options.first_only ? 1 : static_cast<std::size_t>(plan_->problem.space.top);
  state.tally.rejected.assign(plan_->problem.constraints.size(), 0);
  return state;
}

std::size_t Engine::round_end(const SearchState& state) const {
  std::size_t begin = 0, length = kFirstRound;
  while (begin + length <= state.next) {
    begin += length;
    length = std::min(length * 2, kLargestRound);
  }
  return std::min(begin + length, plan_->order.size());
}

bool Engine::search_slab(std::size_t place, const SearchState& state, SlabResult& result) const {
  const Slab& slab = plan_->slabs[plan_->order[place]];
  Walk walk(*plan_, result, state.top, state.front);
  if (slab.refused_by >= 0) {
    result.fate = SlabFate::refused;
    result.tally.rejected[static_cast<std::size_t>(slab.refused_by)] += volume(slab);
    return true;
  }
  walk.enter(slab, plan_->slab_level);
  if (walk.pruned()) {
    result.fate = SlabFate::bounded;
    result.tally.pruned += volume(slab);
    return true;
  }
  return walk.search(plan_->slab_level);
}

void Engine::finish_round(SearchState& state, std::vector<SlabResult>& results) const {
  for (const SlabResult& result : results) {
    for (const Candidate& each : result.top.best) state.top.add(each);
    for (const FrontPoint& each : result.front.points) state.front.add(each);
    state.tally.add(result.tally);
    state.uncovered += result.uncovered;
    state.fates.push_back(result.fate);
  }
  state.next += results.size();
}

SearchEnd run_search(const Engine& engine, SearchState& state, unsigned threads,
                     const std::function<void(const SearchState&)>& after_round, const SearchRanks* ranks) {
  threads = threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : threads;
  const SearchRanks alone;
  const SearchRanks& who = ranks == nullptr ? alone : *ranks;
  const auto first = static_cast<std::size_t>(who.rank), step = static_cast<std::size_t>(who.size);
  while (state.next < engine.order().size()) {
    const std::size_t begin = state.next, count = engine.round_end(state) - begin;
    std::vector<SlabResult> results(count);
    std::atomic<std::size_t> next{first};
    std::atomic<bool> stopped{false};
    const auto work = [&] {
      for (std::size_t i = next.fetch_add(step); i < count && !stopped; i = next.fetch_add(step)) {
        if (!engine.search_slab(begin + i, state, results[i])) stopped = true;
      }
    };
    {
      std::vector<std::jthread> others;
      for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i) others.emplace_back(work);
      work();
    }
    if (who.size > 1) {
      const auto all = who.exchange(pack_results(results, who, stopped));
      if (!all) return SearchEnd::lost;
      for (int r = 0; r < who.size; ++r) {
        const std::string& bytes = (*all)[static_cast<std::size_t>(r)];
        if (says_stopped(bytes)) {
          stopped = true;
        } else if (!unpack_results(bytes, r, who.size, results)) {
          return SearchEnd::lost;
        }
      }
    }
    if (stopped) return SearchEnd::stopped;
    engine.finish_round(state, results);
    if (after_round) after_round(state);
  }
  return SearchEnd::whole;
}

}  // namespace plumbline
