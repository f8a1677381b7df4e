// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/graph_replays.h"

#include <fmt/format.h>

#include <algorithm>

namespace plumbline::profile {

std::uint32_t GraphReplays::root(std::uint32_t node) {
  while (nodes_[node].graph != node) {
    nodes_[node].graph = nodes_[nodes_[node].graph].graph;
    node = nodes_[node].graph;
  }
  return node;
}

void GraphReplays::ran(std::int64_t process, std::int64_t correlation, std::int64_t node) {
  if (nodes_.size() >= kMostNodes) return;
  const auto id = static_cast<std::uint32_t>(nodes_.size());
  const auto [it, fresh] = index_[process].try_emplace(node, id);
  if (fresh) nodes_.push_back({id, 0});
  ++nodes_[it->second].count;
  const std::pair launch(process, correlation);
  if (launch == launch_) nodes_[root(it->second)].graph = root(last_);
  launch_ = launch;
  last_ = it->second;
}

std::string GraphReplays::describe_partial() {
  if (nodes_.size() >= kMostNodes) return {};
  std::vector<std::int64_t> most(nodes_.size());  // by root
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) most[root(i)] = std::max(most[root(i)], nodes_[i].count);
  std::int64_t missing = 0;
  std::int64_t replays = 0;
  std::int64_t few = 0;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const std::int64_t lacking = most[root(i)] - nodes_[i].count;
    if (lacking > 0 && few == 0) {
      replays = most[root(i)];
      few = nodes_[i].count;
    }
    missing += lacking;
  }
  if (missing == 0) return {};
  return fmt::format(
      "this is not the window: replays of a CUDA graph are not whole (missing kernels: {}; a node ran {} "
      "times "
      "where another of its graph ran {} times), unless the graph has conditional nodes",
      missing, few, replays);
}

void GraphTallies::ran(std::int64_t correlation, std::uint32_t name, bool graph) {
  const std::pair before = last_;
  last_ = {correlation, name};
  if (entries_ >= kMostEntries) return;
  auto at = tallies_.find(correlation);
  if (at == tallies_.end()) {
    const bool second = before.first == correlation;
    if (!graph && !second) return;
    at = tallies_.try_emplace(correlation).first;
    if (second) entries_ += at->second.try_emplace(before.second, 1).second ? 1 : 0;
  }
  const auto [count, fresh] = at->second.try_emplace(name, 0);
  entries_ += fresh ? 1 : 0;
  ++count->second;
}

std::string GraphTallies::describe(const std::map<Tally, std::int64_t>& replays) const {
  constexpr std::size_t kMostKinds = 200;  // each is held against each
  constexpr std::int64_t kFewestWhole = 3;
  if (entries_ >= kMostEntries || replays.size() > kMostKinds) return {};
  const auto all = [](const Tally& tally) {
    std::int64_t sum = 0;
    for (const auto& [name, count] : tally) sum += count;
    return sum;
  };
  const auto part_of = [](const Tally& part, const Tally& whole) {
    return part != whole && std::all_of(part.begin(), part.end(), [&](const auto& kernel) {
             const auto found = whole.find(kernel.first);
             return found != whole.end() && kernel.second <= found->second;
           });
  };
  for (const auto& [part, once] : replays) {
    if (once != 1) continue;
    for (const auto& [whole, times] : replays) {
      if (times < kFewestWhole || !part_of(part, whole)) continue;
      return fmt::format(
          "this is not the window: one replay of a CUDA graph has {} kernels and {} others have {}, with the "
          "same ones "
          "among them: it was recorded in part, unless it is another graph",
          all(part), times, all(whole));
    }
  }
  return {};
}

}  // namespace plumbline::profile
