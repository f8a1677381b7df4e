// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/deployment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plumbline/model/layer_parts.h"
#include "plumbline/model/measured.h"

namespace plumbline {
namespace {

/// A checkpoint in blocks of fp8 is fp8 already: asking for fp8 means its own kind.
Dtype asked_format(Dtype own, Dtype asked) {
  return own == Dtype::fp8_block && asked == Dtype::fp8 ? own : asked;
}

WeightFormat weights_in(Dtype format) {
  return {std::string(to_string(format)), cost_of(format).weight_bytes * 8};
}

/// The first format of the layer's weights that no kernel was measured in.
std::string unmeasured_format(const TransformerLayer& layer) {
  for (const WeightFormat* weights :
       {&layer.attention, &layer.mlp, &layer.experts_precision, &layer.shared_precision}) {
    if (!kernel_format(*weights)) return weights->name;
  }
  return "";
}

/// Latent attention was measured as one call, for DeepSeek-V3's sizes (Kimi K2 has them too).
bool measured_latent(const LatentShape& l) {
  return l.q_rank == 1536 && l.kv_rank == 512 && l.nope_dim == 128 && l.rope_dim == 64 && l.value_dim == 128;
}

std::optional<DeploymentProblem> check_layer(const Predictor& predictor, const Transformer& model,
                                             const TransformerLayer& layer, const Deployment& d) {
  if (!layer.unlisted.empty()) return DeploymentProblem{false, layer.unlisted};
  if (!formats_of(layer, d)) {
    return DeploymentProblem{
        false, fmt::format("no kernels for weights kept as {} were measured", unmeasured_format(layer))};
  }
  if (layer.latent.kv_rank > 0 && !measured_latent(layer.latent))
    return DeploymentProblem{false, std::string(kLatentNotMeasured)};
  Layer whole = layer_of(model, layer, d);
  whole.name.clear();
  for (const Diagnostic& wrong : validate(whole)) return DeploymentProblem{true, wrong.message};
  if (predictor.source->specification_only) return std::nullopt;
  for (const Phase phase : {Phase::prefill, Phase::decode}) {
    whole.phase = phase;
    if (auto why = not_measured(*predictor.source, whole); !why.empty())
      return DeploymentProblem{false, std::move(why)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Dtype> kernel_format(const WeightFormat& weights) {
  if (weights.name == "mxfp4") return Dtype::w4a16_mxfp4;
  return find_dtype(weights.name);
}

std::optional<LayerFormats> formats_of(const TransformerLayer& layer, const Deployment& deployment) {
  LayerFormats formats;
  const std::array<std::pair<const WeightFormat*, Dtype*>, 4> parts{
      {{&layer.attention, &formats.attention},
       {&layer.mlp, &formats.mlp},
       {&layer.experts_precision, &formats.experts},
       {&layer.shared_precision, &formats.shared}}};
  for (const auto& [weights, into] : parts) {
    const auto own = kernel_format(*weights);
    if (!own && !deployment.weights) return std::nullopt;
    *into = deployment.weights ? asked_format(own.value_or(Dtype::bf16), *deployment.weights) : *own;
  }
  return formats;
}

Dtype cache_format(const Transformer& model, const Deployment& deployment) {
  if (deployment.cache) return *deployment.cache;
  if (model.kv_element_bytes < 1) return Dtype::nvfp4;
  if (model.kv_element_bytes < 2) return Dtype::fp8;
  // Asking for fp8 or nvfp4 stands for the vendor's checkpoint of that format, and those keep the cache in
  // fp8. (A checkpoint that is fp8 already says itself what it wants.)
  const bool vendor =
      deployment.weights == Dtype::nvfp4 || (deployment.weights == Dtype::fp8 && model.quantization.empty());
  return vendor ? Dtype::fp8 : Dtype::bf16;
}

Transformer as_deployed(const Transformer& model, const Deployment& deployment) {
  Transformer result = model;
  result.kv_element_bytes = cost_of(cache_format(model, deployment)).weight_bytes;
  if (!deployment.weights) return result;
  for (TransformerLayer& layer : result.layers) {
    const auto formats = formats_of(layer, deployment);
    layer.attention = weights_in(formats->attention);
    layer.mlp = weights_in(formats->mlp);
    layer.experts_precision = weights_in(formats->experts);
    layer.shared_precision = weights_in(formats->shared);
    set_weight_bytes(layer);
  }
  return result;
}

Layer layer_of(const Transformer& model, const TransformerLayer& layer, const Deployment& deployment) {
  Layer out = layer.shape;
  const LayerFormats formats = *formats_of(layer, deployment);
  const ExpertsShape& e = layer.experts;
  out.has_attention = layer.has_attention;
  out.has_mlp = layer.has_mlp;
  out.tp = deployment.tp;
  out.dtype = formats.attention;
  out.mlp_dtype = e.count > 0 ? formats.experts : formats.mlp;
  out.kv_dtype = cache_format(model, deployment);
  out.kv_lora_rank = layer.latent.kv_rank;
  out.q_lora_rank = layer.latent.q_rank;
  if (e.count == 0) return out;  // dense first layers: no experts to deal
  out.ep = deployment.ep;
  out.experts = e.count;
  out.topk = e.active;
  out.moe_ffn_dim = e.width;
  if (e.shared_width > 0) {
    // configurations give the width of all shared experts together
    out.shared_experts = e.shared_width % e.width == 0 ? e.shared_width / e.width : 1;
    out.shared_ffn_dim = e.shared_width / out.shared_experts;
    out.shared_dtype = formats.shared;
  }
  settle(out);
  return out;
}

std::optional<DeploymentProblem> deployment_problem(const Predictor& predictor, const Transformer& model,
                                                    const Deployment& deployment) {
  if (deployment.tp % deployment.ep != 0) {
    return DeploymentProblem{
        true, fmt::format("--ep {} does not divide --tp {}: experts are dealt to the same GPUs",
                          deployment.ep, deployment.tp)};
  }
  const bool any_experts = std::any_of(model.layers.begin(), model.layers.end(),
                                       [](const TransformerLayer& layer) { return layer.experts.count > 0; });
  if (deployment.ep > 1 && !any_experts) return DeploymentProblem{true, "--ep needs a model with experts"};
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (i > 0 && same_kernels(model.layers[i], model.layers[i - 1])) continue;
    if (auto wrong = check_layer(predictor, model, model.layers[i], deployment)) return wrong;
  }
  return std::nullopt;
}

}  // namespace plumbline
