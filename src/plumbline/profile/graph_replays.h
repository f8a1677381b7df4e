// SPDX-License-Identifier: Apache-2.0
// Replays of CUDA graphs whose kernels were recorded node by node: whether each replay is whole.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plumbline::profile {

/// Counts how often each node of a graph ran. Nodes that one launch ran are of one graph, so they ran equally
/// often where every replay was recorded whole.
class GraphReplays {
 public:
  /// A kernel of node `node` that ran for the launch `correlation`; rows of one launch mostly follow each
  /// other.
  void ran(std::int64_t process, std::int64_t correlation, std::int64_t node);

  /// The doubt about replays that are not whole; "" where all are, or where there are too many nodes to tell.
  std::string describe_partial();

 private:
  struct Node {
    std::uint32_t graph = 0;  ///< its parent in the union; itself at the root
    std::int64_t count = 0;
  };
  std::uint32_t root(std::uint32_t node);

  static constexpr std::size_t kMostNodes = 200'000;
  std::map<std::int64_t, std::unordered_map<std::int64_t, std::uint32_t>> index_;  ///< by process, by node id
  std::vector<Node> nodes_;
  std::pair<std::int64_t, std::int64_t> launch_{INT64_MIN, INT64_MIN};  ///< of the last row
  std::uint32_t last_ = 0;
};

/// The same where a trace names no nodes: all that is known of a replay is how often it ran which kernel. One
/// replay that ran a part of what at least three others ran whole is doubted; two graphs may look like that.
class GraphTallies {
 public:
  /// A kernel that ran for the launch `correlation`. Launches of one kernel are not graphs, unless `graph`.
  void ran(std::int64_t correlation, std::uint32_t name, bool graph);

  /// The doubt; `is_graph` tells launches of graphs from others. "" where all are whole, or too many to tell.
  template <class IsGraph>
  std::string describe_partial(IsGraph is_graph) const {
    std::map<Tally, std::int64_t> replays;
    for (const auto& [correlation, tally] : tallies_) {
      if (is_graph(correlation)) ++replays[tally];
    }
    return describe(replays);
  }

 private:
  using Tally = std::map<std::uint32_t, std::int64_t>;  ///< launches by kernel name
  std::string describe(const std::map<Tally, std::int64_t>& replays) const;

  static constexpr std::size_t kMostEntries = 200'000;
  std::unordered_map<std::int64_t, Tally> tallies_;
  std::size_t entries_ = 0;
  std::pair<std::int64_t, std::uint32_t> last_{INT64_MIN, 0};  ///< of the last kernel
};

}  // namespace plumbline::profile
