// SPDX-License-Identifier: Apache-2.0
#include "plumbline/serve/layer_work.h"

#include <algorithm>

#include "plumbline/model/decoder_kernels.h"

namespace plumbline {
namespace {

/// How tokens of real prompts choose experts: unevenly. Of the three that were measured, the middle one.
constexpr Routing kServedRouting = Routing::power_law_1_2;

class Builder {
 public:
  Builder(const Transformer& model, const TransformerLayer& layer, const Deployment& deployment,
          const StepWork& work)
      : layer_(layer),
        deployment_(deployment),
        work_(work),
        local_(local_layer(layer, deployment)),
        formats_(*formats_of(layer, deployment)),
        cache_(cache_format(model, deployment)),
        rows_(tokens_of(work)) {}

  std::vector<LayerKernel> kernels() {
    if (layer_.has_attention) layer_.latent.kv_rank > 0 ? latent_attention() : attention();
    // where attention and MLP read the same input, their outputs are summed before they are reduced
    if (layer_.has_attention && !local_.parallel) all_reduce();
    if (layer_.has_mlp) layer_.experts.count > 0 ? experts() : mlp();
    if (layer_.has_mlp || local_.parallel) all_reduce();
    return std::move(kernels_);
  }

 private:
  void gemm(std::string_view name, std::int64_t n, std::int64_t k, Dtype dtype) {
    kernels_.push_back({name, {GemmShape{rows_, n, k, dtype}}, true});
  }

  /// The projection of that place in layer_gemms().
  void project(std::size_t place, Dtype dtype) {
    const GemmShape shape = layer_gemms(local_, rows_)[place];
    gemm(projection_names(local_)[place], shape.n, shape.k, dtype);
  }

  void all_reduce() {
    if (deployment_.tp == 1) return;
    kernels_.push_back(
        {"all_reduce",
         {CollectiveShape{CollectiveOp::all_reduce, deployment_.tp, rows_ * local_.hidden_dim, 2}}});
  }

  void attention() {
    project(0, formats_.attention);
    if (work_.prompts > 0) attend("attention_prefill", work_.prompts, work_.prompt_tokens, work_.prompt_keys);
    if (work_.decodes > 0) attend("attention_decode", work_.decodes, 1, work_.decode_keys);
    project(1, formats_.attention);
  }

  void attend(std::string_view name, std::int64_t batch, std::int64_t queries, std::int64_t keys) {
    AttentionShape shape;
    shape.batch = batch;
    shape.q_len = queries;
    shape.kv_len = keys;
    shape.heads = local_.num_heads;
    shape.kv_heads = local_.num_kv_heads;
    shape.head_dim = local_.head_dim;
    shape.window = local_.window_size > 0 && local_.window_size < keys ? local_.window_size : 0;
    shape.kv = cache_;
    kernels_.push_back({name, {shape}});
  }

  void latent_attention() {
    const auto add = [&](std::string_view name, bool decode, std::int64_t batch, std::int64_t queries,
                         std::int64_t keys) {
      MlaShape shape;
      shape.batch = batch;
      shape.q_len = queries;
      shape.kv_len = keys;
      shape.heads = local_.num_heads;
      shape.decode = decode;
      shape.gemm = formats_.attention;
      shape.kv = cache_;
      kernels_.push_back({name, {shape}});
    };
    if (work_.prompts > 0)
      add("latent_attention_prefill", false, work_.prompts, work_.prompt_tokens, work_.prompt_keys);
    if (work_.decodes > 0) add("latent_attention_decode", true, work_.decodes, 1, work_.decode_keys);
  }

  void mlp() {
    project(2, formats_.mlp);
    project(3, formats_.mlp);
  }

  void experts() {
    const ExpertsShape& e = layer_.experts;
    const bool gated = local_.activation == Activation::gated;
    gemm("router", e.count, local_.hidden_dim, Dtype::bf16);
    MoeShape shape;
    shape.tokens = rows_;
    shape.hidden = e.input;
    shape.inter = e.width;
    shape.topk = e.active;
    shape.experts = e.count;
    shape.tp = deployment_.tp / deployment_.ep;
    shape.ep = deployment_.ep;
    shape.routing = kServedRouting;
    shape.dtype = formats_.experts;
    shape.gated = gated;
    kernels_.push_back({"experts", {shape}});
    if (e.shared_width == 0) return;
    const std::int64_t shared = e.shared_width / deployment_.tp;
    gemm("shared_expert", (gated ? 2 : 1) * shared, local_.hidden_dim, formats_.shared);
    gemm("shared_expert", local_.hidden_dim, shared, formats_.shared);
  }

  const TransformerLayer& layer_;
  const Deployment& deployment_;
  const StepWork& work_;
  Layer local_;
  LayerFormats formats_;
  Dtype cache_;
  std::int64_t rows_;
  std::vector<LayerKernel> kernels_;
};

}  // namespace

Layer local_layer(const TransformerLayer& layer, const Deployment& deployment) {
  Layer local = layer.shape;
  local.num_heads = std::max<std::int64_t>(local.num_heads / deployment.tp, 1);
  local.num_kv_heads = std::max<std::int64_t>(local.num_kv_heads / deployment.tp, 1);
  local.ffn_dim = std::max<std::int64_t>(local.ffn_dim / deployment.tp, 1);
  return local;
}

std::int64_t tokens_of(const StepWork& work) { return work.decodes + work.prompts * work.prompt_tokens; }

std::vector<LayerKernel> layer_kernels(const Transformer& model, const TransformerLayer& layer,
                                       const Deployment& deployment, const StepWork& work) {
  return Builder(model, layer, deployment, work).kernels();
}

std::string unmeasured_format(const TransformerLayer& layer) {
  for (const WeightFormat* weights :
       {&layer.attention, &layer.mlp, &layer.experts_precision, &layer.shared_precision}) {
    if (!kernel_format(*weights)) return weights->name;
  }
  return "";
}

}  // namespace plumbline
