// SPDX-License-Identifier: Apache-2.0
// GEMM in the measured model: the analytic time, and the features that its residual is fitted on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "plumbline/model/machine.h"
#include "plumbline/model/operation_analytic.h"

namespace plumbline {

/// y[m,n] = x[m,k]·w[n,k]ᵀ, bf16 out. Counts of elements, each at least 1.
struct GemmShape {
  std::int64_t m = 1, n = 1, k = 1;
  Dtype dtype = Dtype::bf16;
};

/// Names of the analytic constants, in the order of a constants vector (all are positive except short_k):
/// t0_us (launch), bandwidth (share of the data sheet's), p (how memory and tensor time combine), efficiency
/// (share of peak of a 256×128 tile), area_power (how it falls with the tile), wave (share of a started wave
/// that is paid), k_ramp (elements of k that a tile's start and end cost), split_us and reduce (split-K),
/// throttle (growth with the work of long kernels), short_k.
inline constexpr std::array<std::string_view, 11> kGemmConstants{
    "t0_us",  "bandwidth", "p",      "efficiency", "area_power", "wave",
    "k_ramp", "split_us",  "reduce", "throttle",   "short_k"};

/// What the analytic formula says, in microseconds.
struct GemmAnalytic {
  double us = 0;
  double launch_us = 0, memory_us = 0, tensor_us = 0;
  double split = 1, waves = 0;
};

/// The analytic time: launch + (memory^p + tensor^p)^(1/p), the best of seven tiles and four splits of k.
GemmAnalytic gemm_analytic(const Machine& machine, std::span<const double> constants, const GemmShape& shape);

/// Names of the constants that a low-precision GEMM has after those of kGemmConstants: quant_us and
/// quant_bytes (the kernel that quantises the activations, where the rows have it inside: launch, and bytes
/// an element of x over HBM).
inline constexpr std::array<std::string_view, 13> kLowGemmConstants{
    "t0_us",    "bandwidth", "p",        "efficiency", "area_power", "wave",       "k_ramp",
    "split_us", "reduce",    "throttle", "short_k",    "quant_us",   "quant_bytes"};
/// gemm_analytic in the shape's format with quantising added; `moved_us` of the answer is that part.
OperationAnalytic low_gemm_analytic(const Machine& machine, std::span<const double> constants,
                                    const GemmShape& shape);
/// How many features a low-precision GEMM has: gemm_features in its format, and four of quantising.
inline constexpr std::size_t kLowGemmFeatures = 76;
/// Fills `out`, which holds kLowGemmFeatures.
void low_gemm_features(const Machine& machine, const OperationAnalytic& analytic, const GemmShape& shape,
                       std::span<float> out);

/// How many features a GEMM shape has.
inline constexpr std::size_t kGemmFeatures = 72;

/// Features of one shape: sizes, tile and wave counts, tile times over the roofline, the analytic answer,
/// alignment classes. `out` holds kGemmFeatures.
void gemm_features(const Machine& machine, const GemmAnalytic& analytic, const GemmShape& shape,
                   std::span<float> out);

/// Elements (1, 2, 4 or 8) that a row's width is a multiple of: 8 bf16 elements are the 16 bytes that fast
/// kernels load at once.
int alignment_class(std::int64_t width);

/// Sizes by which a shape counts as inside or outside what was measured: rows, weights (n·k), depth.
std::array<double, 3> domain_of(const GemmShape& shape);

/// True when n and k are multiples of 8 elements, as the fast kernels need.
bool is_aligned(const GemmShape& shape);

}  // namespace plumbline
