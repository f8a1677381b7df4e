// SPDX-License-Identifier: Apache-2.0
// Latent attention (DeepSeek-V3's) in the measured model: the whole block, or its attention kernels alone.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "plumbline/model/kernel_request.h"
#include "plumbline/model/machine.h"
#include "plumbline/model/operation_analytic.h"

namespace plumbline {

/// Names of the constants: t0_us (launches), bandwidth, gemm_efficiency, attention_efficiency (shares of the
/// peaks), row_bytes (bytes moved between the kernels for each element of a token), softmax (operations of a
/// pair beside its products).
inline constexpr std::array<std::string_view, 6> kMlaConstants{
    "t0_us", "bandwidth", "gemm_efficiency", "attention_efficiency", "row_bytes", "softmax"};

/// launch + rows moved + max(projections' products, weights) + max(attention's products, cache).
OperationAnalytic mla_analytic(const Machine& machine, std::span<const double> constants,
                               const MlaShape& shape);
inline constexpr std::size_t kMlaFeatures = 34;
void mla_features(const Machine& machine, const OperationAnalytic& analytic, const MlaShape& shape,
                  std::span<float> out);

}  // namespace plumbline
