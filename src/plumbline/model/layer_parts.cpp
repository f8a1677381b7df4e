// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/layer_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace plumbline {
namespace {

/// How tokens of real prompts choose experts: unevenly. Of the three that were measured, the middle one.
constexpr Routing kServedRouting = Routing::power_law_1_2;

class Builder {
 public:
  Builder(const Layer& layer, const StepWork& work)
      : layer_(layer), work_(work), local_(local_layer(layer)), rows_(tokens_of(work)) {}

  std::vector<LayerKernel> kernels() {
    kernels_.reserve(8);
    if (layer_.has_attention) layer_.kv_lora_rank > 0 ? latent_attention() : attention();
    // where attention and MLP read the same input, their outputs are summed before they are reduced
    if (layer_.has_attention && !local_.parallel) all_reduce();
    if (layer_.has_mlp) layer_.experts > 0 ? experts() : mlp();
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
    if (layer_.tp == 1) return;
    kernels_.push_back(
        {"all_reduce", {CollectiveShape{CollectiveOp::all_reduce, layer_.tp, rows_ * local_.hidden_dim, 2}}});
  }

  void attention() {
    project(0, layer_.dtype);
    if (work_.prompts > 0) attend("attention_prefill", work_.prompts, work_.prompt_tokens, work_.prompt_keys);
    if (work_.decodes > 0) attend("attention_decode", work_.decodes, 1, work_.decode_keys);
    project(1, layer_.dtype);
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
    shape.kv = layer_.kv_dtype;
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
      shape.gemm = layer_.dtype;
      shape.kv = layer_.kv_dtype;
      kernels_.push_back({name, {shape}});
    };
    if (work_.prompts > 0)
      add("latent_attention_prefill", false, work_.prompts, work_.prompt_tokens, work_.prompt_keys);
    if (work_.decodes > 0) add("latent_attention_decode", true, work_.decodes, 1, work_.decode_keys);
  }

  void mlp() {
    project(2, layer_.mlp_dtype);
    project(3, layer_.mlp_dtype);
  }

  void experts() {
    const bool gated = local_.activation == Activation::gated;
    gemm("router", layer_.experts, local_.hidden_dim, Dtype::bf16);
    MoeShape shape;
    shape.tokens = rows_;
    shape.hidden = layer_.hidden_dim;
    shape.inter = layer_.moe_ffn_dim;
    shape.topk = layer_.topk;
    shape.experts = layer_.experts;
    shape.tp = layer_.tp / layer_.ep;
    shape.ep = layer_.ep;
    shape.routing = kServedRouting;
    shape.dtype = layer_.mlp_dtype;
    shape.gated = gated;
    kernels_.push_back({"experts", {shape}});
    if (layer_.shared_experts == 0) return;
    gemm("shared_expert", (gated ? 2 : 1) * local_.ffn_dim, local_.hidden_dim, layer_.shared_dtype);
    gemm("shared_expert", local_.hidden_dim, local_.ffn_dim, layer_.shared_dtype);
  }

  const Layer& layer_;
  const StepWork& work_;
  Layer local_;
  std::int64_t rows_;
  std::vector<LayerKernel> kernels_;
};

/// Was the kernel that quantises the activations inside the source's window of that product? Its formula then
/// moves more than a byte an element there.
bool quantises_inside(const KernelSource& source, Dtype dtype) {
  const Operation* operation = find_operation(source, {OperationKind::gemm, dtype});
  return operation != nullptr && operation->constants.back() >= 1;
}

/// Most GPUs that the source's collectives were measured over.
std::int64_t most_gpus(const KernelSource& source) {
  const Operation* operation = find_operation(source, {OperationKind::collective, {}});
  return operation == nullptr ? 1 : static_cast<std::int64_t>(operation->high[1]);
}

}  // namespace

std::int64_t tokens_of(const StepWork& work) { return work.decodes + work.prompts * work.prompt_tokens; }

StepWork work_of(const Layer& layer) {
  if (layer.phase == Phase::decode) return {layer.batch_size, layer.seq_len, 0, 0, 0};
  return {0, 1, layer.batch_size, layer.seq_len, layer.seq_len};
}

Layer local_layer(const Layer& layer) {
  const auto share = [&](std::int64_t whole) { return std::max<std::int64_t>(whole / layer.tp, 1); };
  Layer local = layer;
  local.num_heads = share(layer.num_heads);
  local.num_kv_heads = share(layer.num_kv_heads);
  local.ffn_dim = share(layer.experts > 0 ? layer.shared_experts * layer.shared_ffn_dim : layer.ffn_dim);
  return local;
}

std::vector<LayerKernel> layer_kernels(const Layer& layer, const StepWork& work) {
  return Builder(layer, work).kernels();
}

LmHead lm_head_of(const Transformer& model, const Deployment& deployment, std::int64_t rows) {
  const std::int64_t words = (model.vocab_size + deployment.tp - 1) / deployment.tp;
  const Dtype format = kernel_format(model.head_precision).value_or(Dtype::bf16);
  LmHead head{{rows, words, model.hidden_dim, format}, {}};
  if (deployment.tp > 1)
    head.gather = CollectiveShape{CollectiveOp::all_gather, deployment.tp, rows * words * deployment.tp, 2};
  return head;
}

bool runs_pointwise(const KernelSource& source, const Layer& layer, KernelRole role) {
  const Dtype dense = layer.experts > 0 ? Dtype::bf16 : layer.mlp_dtype;
  const bool inside = dense == Dtype::fp8 && quantises_inside(source, Dtype::fp8);
  switch (role) {
    case KernelRole::activation:
      return layer.has_mlp && !(layer.experts > 0 && layer.shared_experts == 0) && !inside;
    case KernelRole::stream:
      return !inside && !(layer.tp > 1 && layer.mlp_dtype == Dtype::nvfp4);
    default:
      return layer.has_attention && layer.kv_lora_rank == 0;
  }
}

std::string not_measured(const KernelSource& source, const Layer& layer) {
  if (layer.kv_lora_rank > 0 && (layer.hidden_dim != 7168 || layer.head_dim != 192 ||
                                 layer.kv_lora_rank != 512 || layer.q_lora_rank != 1536))
    return std::string(kLatentNotMeasured);
  if (const auto most = layer.tp > 1 ? most_gpus(source) : 1; layer.tp > most)
    return fmt::format("source '{}' has no collectives measured over {} GPUs ({} at most)", source.name,
                       layer.tp, most);
  if (layer.kv_dtype != Dtype::bf16 && layer.kv_dtype != Dtype::fp8)
    return fmt::format("no attention over a KV cache of {} was measured", to_string(layer.kv_dtype));
  const bool other_kernel = layer.kv_dtype != Dtype::bf16 || layer.kv_lora_rank > 0;
  if (other_kernel && layer.backend != AttentionBackend::best)
    return fmt::format(
        "attention of that kind was measured by the framework's own kernel: leave out backend={}",
        to_string(layer.backend));
  for (const LayerKernel& kernel : layer_kernels(layer, work_of(layer))) {
    for (Diagnostic& found : check_request(source, kernel.request)) {
      if (found.code != "operation-not-measured") return std::move(found.message);
      return fmt::format("source '{}' has no measured {}, which {} needs", source.name,
                         name_of(key_of(kernel.request.shape)), kernel.name);
    }
  }
  return {};
}

}  // namespace plumbline
