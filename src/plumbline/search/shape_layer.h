// SPDX-License-Identifier: Apache-2.0
// ShapeLayer: a decoder layer with what Layer does not hold (ranks, experts, precision), and the kernels of
// one rank. Not installed.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "plumbline/base/diagnostics.h"
#include "plumbline/model/dtype.h"
#include "plumbline/model/predict.h"

namespace plumbline {

/// A layer of a space. Counts are of the whole layer, not of a rank.
struct ShapeLayer {
  Layer layer;
  std::int64_t tensor_parallel = 1;  ///< GPUs that share the layer; heads and ffn_dim are divided among them
  std::int64_t num_experts = 0;      ///< 0: the MLP of `layer`; otherwise routed experts instead of it
  std::int64_t experts_per_token = 1;
  std::int64_t expert_dim = 1024;  ///< width of one expert
  Dtype weights = Dtype::bf16;     ///< of projections and experts
  Dtype kv = Dtype::bf16;          ///< of the KV cache
};

/// Which kernels beyond those of Layer the shapes of a space may have.
struct LayerParts {
  bool experts = false;   ///< a router's GEMM and the experts
  bool parallel = false;  ///< two all-reduces
  bool low_bits = false;  ///< formats other than bf16
  bool any() const { return experts || parallel || low_bits; }
};

/// The layer of the model, as it is predicted. What it has beyond a dense one are its parts.
Layer whole_layer(const ShapeLayer& shape);

/// How many kernels every layer of such a space has; those that a shape does not run take 0 ms.
std::size_t rank_kernel_count(const Predictor& predictor, const ShapeLayer& shape, const LayerParts& parts);
/// Kernel `i` of a rank: of predict(), by its place. A predictor with parts has a kernel source.
KernelTime rank_kernel(const Predictor& predictor, const ShapeLayer& shape, const LayerParts& parts,
                       std::size_t i, KernelMemory* memory = nullptr);

/// The ends of the layer's 90 % band in milliseconds.
std::pair<double, double> rank_band(const Predictor& predictor, const ShapeLayer& shape);

/// Parts of `shape` that the source has not measured, as warnings.
Diagnostics unmeasured_parts(const Predictor& predictor, const ShapeLayer& shape);

}  // namespace plumbline
