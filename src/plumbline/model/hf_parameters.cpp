// SPDX-License-Identifier: Apache-2.0
// What a layer counts: parameters, those that one token uses, matrix weights, cache and state.
#include <fmt/format.h>

#include "plumbline/model/hf_parts.h"

namespace plumbline::detail {
namespace {

/// Sums of one layer. `products` are the weights of matrix products that every token takes part in.
struct Sums {
  std::int64_t products = 0;
  std::int64_t other = 0;   ///< biases, norms, scalars
  std::int64_t cached = 0;  ///< elements a token
  std::int64_t state = 0;   ///< bytes a sequence
};

Sums latent_sums(HfReader& in, const HfFamily& f, std::int64_t hidden, const LayerFacts& l) {
  const LatentShape& a = l.latent;
  const std::int64_t q = l.heads * (a.nope_dim + a.rope_dim);
  Sums s;
  if (a.q_rank > 0) {
    s.products += hidden * a.q_rank + a.q_rank * q;
    s.other += a.q_rank;
  } else {
    s.products += hidden * q;
  }
  s.products += hidden * (a.kv_rank + a.rope_dim) + a.kv_rank * l.heads * (a.nope_dim + a.value_dim) +
                l.heads * a.value_dim * hidden;
  s.other += a.kv_rank;
  if (f.qkv_bias) s.other += (a.q_rank > 0 ? a.q_rank : 0) + a.kv_rank + a.rope_dim;
  if (f.output_bias) s.other += hidden;
  s.cached = a.kv_rank + a.rope_dim;
  if (const auto heads = in.count({"index_n_heads"}, kMaxHfHeads)) {  // the indexer of sparse attention
    const std::int64_t dim = in.count({"index_head_dim"}, kMaxHfHeads).value_or(128);
    s.products += a.q_rank * *heads * dim + hidden * dim + hidden * *heads;
    s.other += 2 * dim;  // its keys' LayerNorm
  }
  return s;
}

Sums attention_sums(const HfFamily& f, std::int64_t hidden, const LayerFacts& l, bool gated) {
  const std::int64_t q = l.heads * l.head_dim;
  const std::int64_t k = l.kv_heads * l.head_dim;
  const std::int64_t v = l.keys_are_values ? 0 : l.kv_heads * l.value_dim;
  const bool own_kv = !l.shares_kv || f.extra == HfExtra::gemma3n;  // Gemma 3n keeps unused projections
  Sums s;
  s.products = hidden * (q * (gated ? 2 : 1) + (own_kv ? k + v : 0)) + l.heads * l.value_dim * hidden;
  if (f.qkv_bias) s.other += q + (own_kv ? k + v : 0);
  if (f.output_bias) s.other += hidden;
  if (f.qk_norm == QkNorm::per_head || l.cross) s.other += l.head_dim * (own_kv ? 2 : 1);
  if (f.qk_norm == QkNorm::full) s.other += q + (own_kv ? k : 0);
  if (l.sinks) s.other += l.heads;
  if (l.cross) s.other += 2;  // the gates of attention and MLP
  if (!l.shares_kv && !l.cross) s.cached = k + l.kv_heads * l.value_dim;
  return s;
}

/// A gated delta layer of Qwen3-Next and Qwen3.5: one fused projection (or four), a short convolution, the
/// recurrence's scalars, a gated norm, the output.
Sums gated_delta_sums(HfReader& in, std::int64_t hidden) {
  const auto of = [&](std::string_view key, std::int64_t otherwise) {
    return in.count({key}, kMaxHfHeads).value_or(otherwise);
  };
  const std::int64_t key_dim = of("linear_num_key_heads", 16) * of("linear_key_head_dim", 128);
  const std::int64_t value_heads = of("linear_num_value_heads", 32);
  const std::int64_t value_dim = value_heads * of("linear_value_head_dim", 128);
  const std::int64_t kernel = of("linear_conv_kernel_dim", 4);
  Sums s;
  s.products = hidden * (2 * key_dim + 2 * value_dim + 2 * value_heads) + value_dim * hidden;
  s.other = (2 * key_dim + value_dim) * kernel + 2 * value_heads + of("linear_value_head_dim", 128);
  // a float32 matrix a value head, and the convolution's last inputs in bf16
  s.state = 4 * value_dim * of("linear_key_head_dim", 128) + 2 * (2 * key_dim + value_dim) * (kernel - 1);
  return s;
}

/// A Mamba-2 layer of Nemotron-H.
Sums mamba2_sums(HfReader& in, std::int64_t hidden) {
  const auto of = [&](std::string_view key, std::int64_t otherwise) {
    return in.count({key}, kMaxHfHeads).value_or(otherwise);
  };
  const std::int64_t heads = of("mamba_num_heads", 128);
  const std::int64_t inner = heads * of("mamba_head_dim", 64);
  const std::int64_t groups = of("n_groups", 8) * of("ssm_state_size", 128);
  const std::int64_t kernel = of("conv_kernel", 4);
  const std::int64_t channels = inner + 2 * groups;
  const bool bias = in.flag({"use_bias", "mamba_proj_bias"}, false);
  Sums s;
  s.products = hidden * (inner + channels + heads) + inner * hidden;
  s.other = channels * kernel + (in.flag({"use_conv_bias"}, true) ? channels : 0) + 3 * heads + inner;
  if (bias) s.other += inner + channels + heads + hidden;
  s.state = 4 * inner * of("ssm_state_size", 128) + 2 * channels * (kernel - 1);
  return s;
}

/// What Gemma 3n and 4 add to a layer.
Sums gemma_sums(HfReader& in, const HfFamily& f, std::int64_t hidden, const LayerFacts& l) {
  Sums s;
  const std::int64_t wide =
      in.count({"hidden_size_per_layer_input"}, kMaxHfDim, 0).value_or(f.extra == HfExtra::gemma3n ? 256 : 0);
  if (wide > 0) {
    s.products += 2 * hidden * wide;
    s.other += hidden;
  }
  if (f.extra == HfExtra::gemma4) {
    s.other += 1;                                                               // the layer's scalar
    if (l.experts.count > 0) s.other += 3 * hidden + hidden + l.experts.count;  // norms, the router's scales
    return s;
  }
  const std::int64_t inputs = in.count({"altup_num_inputs"}, 64).value_or(4);
  const std::int64_t rank = in.count({"laurel_rank"}, kMaxHfDim).value_or(64);
  s.products += 2 * hidden * rank + hidden * inputs + inputs * inputs + inputs * inputs * inputs;
  s.other += hidden + hidden + hidden;  // norms of LAuReL and the router, AltUp's output scale
  return s;
}

std::int64_t norms_of(const HfFamily& f, const LayerFacts& l) {
  const bool mixes = l.mixer != Mixer::none;
  if (f.extra == HfExtra::mamba2) return 1;  // a block is one mixer or one MLP
  if (mixes && l.mlp) return f.norms_per_layer;
  return (mixes || l.mlp) ? f.norms_per_layer / 2 : 0;
}

}  // namespace

std::int64_t norm_parameters(NormKind kind, std::int64_t width) {
  return kind == NormKind::none ? 0 : kind == NormKind::weight ? width : 2 * width;
}

TransformerLayer count_layer(HfReader& in, const HfFamily& f, std::int64_t hidden, const LayerFacts& l) {
  TransformerLayer layer;
  const std::int64_t up = f.activation == Activation::gated ? 2 : 1;
  const bool output_gate = f.extra == HfExtra::gated_delta && in.flag({"attn_output_gate"}, true);
  Sums s;
  switch (l.mixer) {
    case Mixer::attention:
      s = l.latent.kv_rank > 0 ? latent_sums(in, f, hidden, l) : attention_sums(f, hidden, l, output_gate);
      break;
    case Mixer::gated_delta:
      s = gated_delta_sums(in, hidden);
      break;
    case Mixer::mamba2:
      s = mamba2_sums(in, hidden);
      break;
    case Mixer::none:
      break;
  }
  s.other += norms_of(f, l) * norm_parameters(f.norm, hidden);
  if (f.extra == HfExtra::gemma3n || f.extra == HfExtra::gemma4) {
    const Sums more = gemma_sums(in, f, hidden, l);
    s.products += more.products;
    s.other += more.other;
  }
  std::int64_t unused = 0;
  const ExpertsShape& e = l.experts;
  if (l.mlp && e.count > 0) {
    std::int64_t expert = (up + 1) * e.input * e.width;
    const std::int64_t biases = f.expert_bias ? up * e.width + hidden : 0;
    s.products += hidden * e.count + e.active * expert + (up + 1) * hidden * e.shared_width;
    s.other += e.active * biases;
    unused = (e.count - e.active) * (expert + biases);
    if (e.input != hidden) s.products += 2 * hidden * e.input;  // into the experts' width and back
    if (f.router_bias) s.other += e.count;
    if (f.score_bias) s.other += e.count;
    if (f.shared_gate && e.shared_width > 0) s.products += hidden;
  }
  if (l.mlp && l.ffn > 0 && (e.count == 0 || f.extra == HfExtra::gemma4)) {
    s.products += (up + 1) * hidden * l.ffn;
    if (f.mlp_bias) s.other += up * l.ffn + hidden;
  }
  layer.active_parameters = s.products + s.other;
  layer.parameters = layer.active_parameters + unused;
  layer.weights_per_token = s.products;
  layer.cached_elements = s.cached;
  layer.state_bytes = s.state;
  layer.value_dim = l.value_dim;
  layer.experts = e;
  layer.latent = l.latent;
  layer.has_attention = l.mixer == Mixer::attention;
  layer.has_mlp = l.mlp;
  layer.causal = f.causal;
  layer.shape.norms = static_cast<std::int8_t>(norms_of(f, l));
  layer.shape.rope = f.positions == Positions::rotary;
  layer.shape.parallel = f.parallel;
  layer.shape.biases = f.qkv_bias || f.output_bias || f.mlp_bias;
  layer.shape.softcap = f.softcap;
  layer.shape.sinks = l.sinks;
  layer.shape.hidden_dim = hidden;
  layer.shape.num_heads = l.heads;
  layer.shape.num_kv_heads = l.kv_heads;
  layer.shape.head_dim = l.head_dim;
  layer.shape.ffn_dim = l.ffn > 0 ? l.ffn : e.count > 0 ? e.active * e.width + e.shared_width : hidden;
  layer.shape.window_size = l.window;
  layer.shape.use_qk_norm = f.qk_norm != QkNorm::none || l.cross;
  layer.shape.activation = f.activation;
  return layer;
}

}  // namespace plumbline::detail
