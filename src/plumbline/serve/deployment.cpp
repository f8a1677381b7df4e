// SPDX-License-Identifier: Apache-2.0
#include "plumbline/serve/deployment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plumbline/model/measured.h"
#include "plumbline/serve/layer_work.h"

namespace plumbline {
namespace {

/// A checkpoint in blocks of fp8 is fp8 already: asking for fp8 means its own kind.
Dtype asked_format(Dtype own, Dtype asked) {
  return own == Dtype::fp8_block && asked == Dtype::fp8 ? own : asked;
}

WeightFormat weights_in(Dtype format) {
  return {std::string(to_string(format)), cost_of(format).weight_bytes * 8};
}

Diagnostic cannot_split(std::string message) { return diagnose("serve-cannot-split", std::move(message)); }

Diagnostic not_measured(std::string message) { return diagnose("serve-not-measured", std::move(message)); }

std::optional<Diagnostic> check_split(const TransformerLayer& layer, const Deployment& d) {
  const auto divides = [](std::int64_t n, std::int64_t by) { return n % by == 0; };
  const Layer& s = layer.shape;
  if (layer.has_attention && !divides(s.num_heads, d.tp))
    return cannot_split(fmt::format("{} heads cannot be shared by {} GPUs", s.num_heads, d.tp));
  const std::int64_t kv = s.num_kv_heads;
  if (layer.has_attention && layer.latent.kv_rank == 0 && !divides(kv, d.tp) && !divides(d.tp, kv))
    return cannot_split(fmt::format("{} KV heads can neither be shared nor repeated by {} GPUs", kv, d.tp));
  const ExpertsShape& e = layer.experts;
  if (layer.has_mlp && e.count == 0 && !divides(s.ffn_dim, d.tp))
    return cannot_split(fmt::format("an MLP of width {} cannot be shared by {} GPUs", s.ffn_dim, d.tp));
  if (e.count > 0 && !divides(e.count, d.ep))
    return cannot_split(fmt::format("{} experts cannot be dealt to {} groups", e.count, d.ep));
  if (e.count > 0 && !divides(e.width, d.tp / d.ep))
    return cannot_split(
        fmt::format("an expert of width {} cannot be shared by {} GPUs", e.width, d.tp / d.ep));
  if (e.count > 0 && !divides(e.shared_width, d.tp))
    return cannot_split(
        fmt::format("a shared expert of width {} cannot be shared by {} GPUs", e.shared_width, d.tp));
  return std::nullopt;
}

/// Most GPUs that the source's collectives were measured over.
std::int64_t most_gpus(const KernelSource& source) {
  const Operation* operation = find_operation(source, {OperationKind::collective, {}});
  return operation == nullptr ? 1 : static_cast<std::int64_t>(operation->high[1]);
}

/// Latent attention was measured as one call, for DeepSeek-V3's sizes (Kimi K2 has them too).
bool measured_latent(const TransformerLayer& layer) {
  const LatentShape& l = layer.latent;
  return layer.shape.hidden_dim == 7168 && l.q_rank == 1536 && l.kv_rank == 512 && l.nope_dim == 128 &&
         l.rope_dim == 64 && l.value_dim == 128;
}

/// Why a kernel of the layer was not measured, or none.
std::optional<Diagnostic> check_layer(const Predictor& predictor, const Transformer& model,
                                      const TransformerLayer& layer, const Deployment& d) {
  if (!layer.unlisted.empty()) return not_measured(layer.unlisted);
  if (!layer.causal) return not_measured("attention is bidirectional: such a model answers no requests");
  if (!formats_of(layer, d)) {
    return not_measured(
        fmt::format("no kernels for weights kept as {} were measured", unmeasured_format(layer)));
  }
  if (layer.latent.kv_rank > 0 && !measured_latent(layer))
    return not_measured("latent attention of these sizes: only DeepSeek-V3's were measured");
  for (const bool decode : {false, true}) {
    const StepWork work = decode ? StepWork{1, 1024, 0, 0, 0} : StepWork{0, 1, 1, 1024, 1024};
    for (const LayerKernel& kernel : layer_kernels(model, layer, d, work)) {
      for (Diagnostic& found : check_request(*predictor.source, kernel.request)) {
        if (found.code != "operation-not-measured") return std::move(found);
        return not_measured(fmt::format("source '{}' has no measured {}, which this model's {} needs",
                                        predictor.source_name, name_of(key_of(kernel.request.shape)),
                                        kernel.name));
      }
    }
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

Diagnostics check_deployment(const Predictor& predictor, const Transformer& model,
                             const Deployment& deployment) {
  if (predictor.source == nullptr || predictor.source->specification_only)
    return {not_measured(fmt::format(
        "'{}' has no measured kernels: a request is not predicted from a data sheet", predictor.hardware))};
  if (model.head != HeadKind::language_model)
    return {not_measured("the model has no LM head: it answers no requests")};
  if (deployment.tp % deployment.ep != 0)
    return {cannot_split(fmt::format("--ep {} does not divide --tp {}: experts are dealt to the same GPUs",
                                     deployment.ep, deployment.tp))};
  if (const auto most = most_gpus(*predictor.source); deployment.tp > most)
    return {not_measured(fmt::format("source '{}' has no collectives measured over {} GPUs ({} at most)",
                                     predictor.source_name, deployment.tp, most))};
  const Dtype cache = cache_format(model, deployment);
  if (cache != Dtype::bf16 && cache != Dtype::fp8)
    return {not_measured(fmt::format("no attention over a KV cache of {} was measured", to_string(cache)))};
  const bool any_experts = std::any_of(model.layers.begin(), model.layers.end(),
                                       [](const TransformerLayer& layer) { return layer.experts.count > 0; });
  if (deployment.ep > 1 && !any_experts) return {cannot_split("--ep needs a model with experts")};
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (i > 0 && same_kernels(model.layers[i], model.layers[i - 1])) continue;
    if (auto wrong = check_split(model.layers[i], deployment)) return {std::move(*wrong)};
    if (auto wrong = check_layer(predictor, model, model.layers[i], deployment)) return {std::move(*wrong)};
  }
  return {};
}

}  // namespace plumbline
