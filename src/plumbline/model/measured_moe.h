// SPDX-License-Identifier: Apache-2.0
// Experts in the measured model: which experts a routing wakes, the tiles that their rows make, the analytic
// times of a fused call and of one grouped GEMM, and the features of their residuals.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "plumbline/model/kernel_request.h"
#include "plumbline/model/machine.h"
#include "plumbline/model/operation_analytic.h"

namespace plumbline {

/// What a routing gives one rank, as expected values.
struct ExpertLoad {
  static constexpr std::size_t kBlocks = 4;
  static constexpr std::array<double, kBlocks> kRows{16, 32, 64, 128};
  double rows = 0;                      ///< token-expert pairs on this rank
  double active = 0;                    ///< its experts that get a row
  double max_rows = 0;                  ///< rows of the busiest expert
  std::array<double, kBlocks> tiles{};  ///< row tiles of kRows rows, summed over its experts
};

/// The busiest rank's share: loads of a power law are read at fixed quantiles, so that equal shapes give
/// equal numbers.
ExpertLoad expert_load(const MoeShape& shape);
/// The same where the active experts and the busiest one are known.
ExpertLoad expert_load(const GroupedGemmShape& shape);

/// Names of the constants: t0_us (launches), bandwidth (of weights), p (how memory and tensor time combine),
/// efficiency (share of the peak), tile_rows (the tile's rows that are paid when few come, as a share of
/// 128), row_bytes (bytes a routed row moves for each of its elements), expert_us (work for each expert of
/// the rank), pair_bytes (bytes that a chosen expert of any rank moves for each element of hidden: kernels
/// that write and add the whole of [tokens, topk, hidden], others' rows too).
inline constexpr std::array<std::string_view, 8> kMoeConstants{
    "t0_us", "bandwidth", "p", "efficiency", "tile_rows", "row_bytes", "expert_us", "pair_bytes"};

/// launch + experts + rows moved + (weights^p + tensor^p)^(1/p).
OperationAnalytic moe_analytic(const Machine& machine, std::span<const double> constants,
                               const MoeShape& shape);
OperationAnalytic grouped_analytic(const Machine& machine, std::span<const double> constants,
                                   const GroupedGemmShape& shape);

inline constexpr std::size_t kMoeFeatures = 49;
/// Sizes, loads, tiles and waves of both products, parts of the analytic time.
void moe_features(const Machine& machine, const OperationAnalytic& analytic, const MoeShape& shape,
                  std::span<float> out);
inline constexpr std::size_t kGroupedFeatures = 40;
void grouped_features(const Machine& machine, const OperationAnalytic& analytic,
                      const GroupedGemmShape& shape, std::span<float> out);

}  // namespace plumbline
