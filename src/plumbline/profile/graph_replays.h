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

}  // namespace plumbline::profile
