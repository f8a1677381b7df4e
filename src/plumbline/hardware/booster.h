// SPDX-License-Identifier: Apache-2.0
// Gradient-boosted regression trees: leaf-wise, on histograms, squared error. The same rows and options give
// the same forest, bit for bit, everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plumbline/model/forest.h"

namespace plumbline {

/// Rows × columns, row after row.
struct FeatureTable {
  std::size_t columns = 0;
  std::vector<float> values;

  std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  std::span<const float> row(std::size_t i) const { return {values.data() + i * columns, columns}; }
};

/// How to boost. The defaults were chosen by folds of unseen sites of the public GEMM rows.
struct BoostOptions {
  int trees = 400;
  int leaves = 48;            ///< at most kMaxLeaves
  double rate = 0.05;         ///< shrinkage of each tree
  double row_share = 0.7;     ///< of the rows, drawn for each tree
  double column_share = 0.5;  ///< of the features, drawn for each tree
  double min_weight = 4;      ///< least weight of a leaf
  double ridge = 1;           ///< added to a leaf's weight: small leaves are shrunk
  int models = 1;             ///< forests with different draws, averaged
  double soft = 0;            ///< errors beyond it count linearly; 0: all by their squares
  std::uint64_t seed = 1;
  const Forest* like = nullptr;  ///< grow on this forest's thresholds, so that the two can be added
};

/// A forest that approximates `target` (one value a row; `weight` likewise, or empty for ones).
Forest boost(const FeatureTable& table, std::span<const double> target, std::span<const double> weight,
             const BoostOptions& options);

/// The sum of two forests on the same thresholds, as one.
Forest sum_of(const Forest& a, const Forest& b);

/// Removes the thresholds that no node of either forest asks for. Both were grown on the same thresholds,
/// keep the same ones, and answer as before.
void drop_unused_cuts(Forest& a, Forest& b);

}  // namespace plumbline
