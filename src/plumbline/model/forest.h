// SPDX-License-Identifier: Apache-2.0
// Forest: regression trees over quantised features, in the compact form that prediction walks and files hold.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
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

/// A row's features as bins (how many thresholds of each are below its value), each times 256.
using QuantisedRow = std::array<std::uint32_t, kMaxFeatures>;

/// The trees laid out for evaluate(): kTreesSideBySide of them are walked at once, a step of each in turn, so
/// that no step waits for the one before and no branch is guessed. Made by prepare().
struct ForestWalk {
  static constexpr std::size_t kTreesSideBySide = 16;
  static constexpr std::size_t kBlock = 16;  ///< thresholds of one block
  struct Group {
    std::uint32_t begin = 0;  ///< in `nodes`: the roots, then level by level, right children after left ones
    std::uint32_t steps = 0;  ///< depth of the deepest tree
  };
  std::vector<Group> groups;  ///< of trees of like depth
  std::vector<std::uint32_t>
      nodes;  ///< left child << 16 | (255 − bin) << 8 | feature; leaves lead to themselves
  std::vector<std::int16_t> values;               ///< of the leaves, place by place beside `nodes`
  std::vector<std::array<float, kBlock>> tops;    ///< a feature's greatest threshold of each block
  std::vector<std::uint32_t> block_begin;         ///< by feature, in `blocks`
  std::vector<std::array<float, kBlock>> blocks;  ///< thresholds, ascending; infinity fills the last block
};

/// The walk of a forest that may never be asked often: laid out after kAskedBefore evaluations, by the thread
/// that comes first. A command that predicts one layer is done before its trees could be laid out.
struct LazyWalk {
  static constexpr std::uint32_t kAskedBefore = 8;
  explicit LazyWalk(bool with_thresholds) : thresholds(with_thresholds) {}
  bool thresholds;
  std::atomic<std::uint32_t> asked{0};
  std::once_flag once;
  ForestWalk walk;
  std::atomic<bool> ready{false};  ///< `walk` may be read
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
  /// Absent: evaluate() goes tree by tree, with the same result. Copies share it: see prepare().
  std::shared_ptr<LazyWalk> walk;

  /// How many features a row has.
  std::size_t features() const { return cut_begin.empty() ? 0 : cut_begin.size() - 1; }
  /// How many trees are summed.
  std::size_t trees() const { return node_begin.empty() ? 0 : node_begin.size() - 1; }
};

/// How many thresholds of `feature` are below `value`.
std::uint8_t quantise(const Forest& forest, std::size_t feature, float value);

/// quantise() of every feature; `row` has as many numbers as the forest has features.
void quantise_row(const Forest& forest, std::span<const float> row, QuantisedRow& out);

/// True when rows quantised for one of the forests are right for the other.
bool same_thresholds(const Forest& a, const Forest& b);

/// The forest's value at a row that quantise_row() wrote for it. Allocates nothing.
double evaluate(const Forest& forest, const QuantisedRow& row);
/// The same at `row` (as many numbers as the forest has features).
double evaluate(const Forest& forest, std::span<const float> row);

/// Lets evaluate() lay the trees out for speed once they are asked often; it never gives another number. Call
/// it again when the trees change. Without `thresholds`, quantise_row() stays slow: for a forest that is only
/// asked about rows quantised for another one.
void prepare(Forest& forest, bool thresholds = true);

/// The layout, made now: what evaluate() makes when it is needed.
void prepare_now(const Forest& forest);

/// Appends the forest's bytes (little-endian) to `out`: without its thresholds where they are those of
/// `like`, which has same_thresholds and is written before it.
void append_forest(const Forest& forest, std::string& out, const Forest* like = nullptr);

/// Reads a forest that append_forest wrote from the front of `bytes` and removes it there, not prepared.
/// Every index is checked, so that evaluate() cannot leave its arrays. `like`: as it was written. Error:
/// residuals-invalid.
Parsed<Forest> take_forest(std::string_view& bytes, const std::string& file, const Forest* like = nullptr);

}  // namespace plumbline
