// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/shape_layer.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "plumbline/model/decoder_kernels.h"
#include "plumbline/model/measured.h"
#include "plumbline/model/operation.h"

namespace plumbline {
namespace {

KernelRequest attention_request(const ShapeLayer& shape, const Layer& rank) {
  AttentionShape out = attention_shape(rank);
  out.kv = shape.kv;
  return {out};
}

KernelRequest experts_request(const ShapeLayer& shape) {
  MoeShape out;
  out.tokens = token_rows(shape.layer);
  out.hidden = shape.layer.hidden_dim;
  out.inter = shape.expert_dim;
  out.topk = shape.experts_per_token;
  out.experts = shape.num_experts;
  out.tp = shape.tensor_parallel;
  out.dtype = shape.weights;
  out.gated = shape.layer.activation == Activation::gated;
  return {out};
}

KernelRequest all_reduce_request(const ShapeLayer& shape) {
  return {CollectiveShape{CollectiveOp::all_reduce, shape.tensor_parallel,
                          token_rows(shape.layer) * shape.layer.hidden_dim, 2}};
}

KernelTime nothing(std::string_view name) { return {name, 0, 0, 0, Provenance::interpolated, Bound::launch}; }

/// Kernel `i` of the layer, whose time in bf16 and without experts is `time`.
KernelTime rank_decoder_kernel(const KernelSource& source, const ShapeLayer& shape, const Layer& rank,
                               std::size_t i, const KernelTime& time) {
  const DecoderKernel kernel = decoder_kernels(rank, !attention_writes_cache(source))[i];
  if (shape.num_experts > 0 && kernel.mlp) return nothing(time.name);
  if (shape.weights != Dtype::bf16 && kernel.role == KernelRole::projection) {
    GemmShape gemm = layer_gemms(rank, token_rows(rank))[kernel.place];
    gemm.dtype = shape.weights;
    return predict_kernel(source, time.name, {gemm});
  }
  if (shape.kv != Dtype::bf16 && kernel.role == KernelRole::attention)
    return predict_kernel(source, time.name, attention_request(shape, rank));
  return time;
}

}  // namespace

Layer rank_layer(const ShapeLayer& shape) {
  Layer out = shape.layer;
  const auto share = [&](std::int64_t count) {
    return std::max<std::int64_t>(1, count / shape.tensor_parallel);
  };
  out.num_heads = share(out.num_heads);
  out.num_kv_heads = share(out.num_kv_heads);
  out.ffn_dim = share(out.ffn_dim);
  return out;
}

std::size_t rank_kernel_count(const Predictor& predictor, const ShapeLayer& shape, const LayerParts& parts) {
  return predict(predictor, rank_layer(shape)).kernel_count + (parts.experts ? 2U : 0U) +
         (parts.parallel ? 1U : 0U);
}

KernelTime rank_kernel(const Predictor& predictor, const ShapeLayer& shape, const LayerParts& parts,
                       std::size_t i, KernelMemory* memory) {
  const Layer rank = rank_layer(shape);
  if (const auto time = predict_kernel_of(predictor, rank, i, memory)) {
    return predictor.source == nullptr ? *time
                                       : rank_decoder_kernel(*predictor.source, shape, rank, i, *time);
  }
  i -= predict(predictor, rank, memory).kernel_count;
  if (parts.experts && i == 0) {
    if (shape.num_experts == 0) return nothing("router");
    return predict_gemm(predictor, "router", token_rows(rank), shape.num_experts, rank.hidden_dim);
  }
  if (parts.experts && i == 1) {
    if (shape.num_experts == 0) return nothing("experts");
    return predict_kernel(*predictor.source, "experts", experts_request(shape));
  }
  if (shape.tensor_parallel == 1) return nothing("all_reduce");
  KernelTime one = predict_kernel(*predictor.source, "all_reduce", all_reduce_request(shape));
  one.ms *= 2;  // behind attention, and behind the MLP
  one.low_ms *= 2;
  one.high_ms *= 2;
  return one;
}

std::pair<double, double> rank_band(const Predictor& predictor, const ShapeLayer& shape,
                                    const LayerParts& parts) {
  if (!parts.any()) {
    const Prediction p = predict(predictor, shape.layer);
    return {p.low_ms, p.high_ms};
  }
  double total = 0, below = 0, above = 0;
  for (std::size_t i = 0; i < rank_kernel_count(predictor, shape, parts); ++i) {
    const KernelTime time = rank_kernel(predictor, shape, parts, i);
    total += time.ms;
    below += (time.ms - time.low_ms) * (time.ms - time.low_ms);
    above += (time.high_ms - time.ms) * (time.high_ms - time.ms);
  }
  const double factor = std::exp(layer_half_width(*predictor.source, layer_kind(shape.layer)));
  return {std::min(total / factor, total - std::sqrt(below)),
          std::max(total * factor, total + std::sqrt(above))};
}

Diagnostics unmeasured_parts(const Predictor& predictor, const ShapeLayer& shape, const LayerParts& parts) {
  Diagnostics out;
  if (predictor.source == nullptr) return out;
  const auto ask = [&](const KernelRequest& request) {
    const Diagnostics found = check_request(*predictor.source, request);
    out.insert(out.end(), found.begin(), found.end());
  };
  const Layer rank = rank_layer(shape);
  if (shape.weights != Dtype::bf16) {
    auto gemm = projection(rank, "output_projection");
    gemm->dtype = shape.weights;
    ask({*gemm});
  }
  if (shape.kv != Dtype::bf16) ask(attention_request(shape, rank));
  if (parts.experts && shape.num_experts > 0) ask(experts_request(shape));
  if (parts.parallel && shape.tensor_parallel > 1) ask(all_reduce_request(shape));
  return out;
}

}  // namespace plumbline
