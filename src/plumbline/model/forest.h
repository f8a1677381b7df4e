// SPDX-License-Identifier: Apache-2.0
// Forest: regression trees over quantised features, in the compact form that prediction walks and files hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/diagnostics.h"

namespace plumbline {

inline constexpr std::size_t kMaxFeatures = 96;  ///< most features a forest may have
inline constexpr std::size_t kMaxCuts = 254;     ///< most thresholds of one feature
inline constexpr int kMaxLeaves = 128;           ///< most leaves of one tree

/// An inner node: rows whose quantised feature is above `bin` go right. A child >= 0 is a node of the same
/// tree, a child < 0 is leaf ~child.
struct ForestNode {
  std::uint8_t feature = 0;
  std::uint8_t bin = 0;
  std::int8_t left = -1;
  std::int8_t right = -1;
};

/// A sum of trees. An empty forest (no features) gives 0 everywhere.
struct Forest {
  std::vector<std::uint32_t> cut_begin;  ///< features + 1 offsets into `cuts`
  std::vector<float> cuts;  ///< each feature's thresholds, ascending; quantised = how many are below
  std::vector<std::uint32_t>
      node_begin;  ///< trees + 1 offsets into `nodes`; a tree of n nodes has n + 1 leaves
  std::vector<ForestNode> nodes;
  std::vector<std::int16_t> leaves;  ///< tree t's leaves start at node_begin[t] + t
  double scale = 0;                  ///< value of one leaf unit
  double base = 0;                   ///< added to the sum

  /// How many features a row has.
  std::size_t features() const { return cut_begin.empty() ? 0 : cut_begin.size() - 1; }
  /// How many trees are summed.
  std::size_t trees() const { return node_begin.empty() ? 0 : node_begin.size() - 1; }
};

/// How many thresholds of `feature` are below `value`.
std::uint8_t quantise(const Forest& forest, std::size_t feature, float value);

/// The forest's value at `row` (as many numbers as it has features). Allocates nothing.
double evaluate(const Forest& forest, std::span<const float> row);

/// Appends the forest's bytes (little-endian) to `out`.
void append_forest(const Forest& forest, std::string& out);

/// Reads a forest that append_forest wrote from the front of `bytes` and removes it there. Every index is
/// checked, so that evaluate() cannot leave its arrays. Error: residuals-invalid.
Parsed<Forest> take_forest(std::string_view& bytes, const std::string& file);

}  // namespace plumbline
