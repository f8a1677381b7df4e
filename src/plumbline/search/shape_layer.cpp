// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/shape_layer.h"

#include <algorithm>

#include "plumbline/model/kernel_memory.h"
#include "plumbline/model/layer_parts.h"
#include "plumbline/model/measured.h"
#include "plumbline/model/operation.h"

namespace plumbline {
namespace {

KernelTime nothing(std::string_view name) { return {name, 0, 0, 0, Provenance::interpolated, Bound::launch}; }

/// The names that kernels of such layers have, in the order of rank_kernel().
std::vector<std::string_view> kernel_names(const Predictor& predictor, const Layer& layer,
                                           const LayerParts& parts) {
  std::vector<std::string_view> names;
  if (predictor.source == nullptr) {
    const Prediction proxy = predict(predictor, layer);
    for (const KernelTime& kernel : proxy.kernels()) names.push_back(kernel.name);
    return names;
  }
  for (const DecoderKernel& kernel : decoder_kernels(layer, !attention_writes_cache(*predictor.source)))
    names.push_back(kernel.name);
  if (parts.experts) names.insert(names.end(), {"router", "experts"});
  if (parts.parallel) names.push_back("all_reduce");
  return names;
}

}  // namespace

Layer whole_layer(const ShapeLayer& shape) {
  Layer out = shape.layer;
  out.tp = shape.tensor_parallel;
  out.dtype = out.mlp_dtype = shape.weights;
  out.kv_dtype = shape.kv;
  if (shape.num_experts == 0) return out;
  out.experts = shape.num_experts;
  out.topk = shape.experts_per_token;
  out.moe_ffn_dim = shape.expert_dim;
  settle(out);
  return out;
}

std::size_t rank_kernel_count(const Predictor& predictor, const ShapeLayer& shape, const LayerParts& parts) {
  return kernel_names(predictor, shape.layer, parts).size();
}

KernelTime rank_kernel(const Predictor& predictor, const ShapeLayer& shape, const LayerParts& parts,
                       std::size_t i, KernelMemory* memory) {
  if (!parts.any()) return *predict_kernel_of(predictor, shape.layer, i, memory);
  const std::string_view name = kernel_names(predictor, shape.layer, parts)[i];
  const Prediction all = predict(predictor, whole_layer(shape), memory);
  const auto kernels = all.kernels();
  const auto found =
      std::find_if(kernels.begin(), kernels.end(), [&](const KernelTime& k) { return k.name == name; });
  return found == kernels.end() ? nothing(name) : *found;
}

std::pair<double, double> rank_band(const Predictor& predictor, const ShapeLayer& shape) {
  const Prediction p = predict(predictor, whole_layer(shape));
  return {p.low_ms, p.high_ms};
}

Diagnostics unmeasured_parts(const Predictor& predictor, const ShapeLayer& shape) {
  Diagnostics out;
  if (predictor.source == nullptr) return out;
  const Layer layer = whole_layer(shape);
  for (const LayerKernel& kernel : layer_kernels(layer, work_of(layer))) {
    for (Diagnostic& found : check_request(*predictor.source, kernel.request))
      out.push_back(std::move(found));
  }
  return out;
}

}  // namespace plumbline
