// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/decoder_kernels.h"

#include <algorithm>

namespace plumbline {

std::int64_t token_rows(const Layer& layer) {
  return layer.batch_size * (layer.phase == Phase::decode ? 1 : layer.seq_len);
}

DecoderKernels decoder_kernels(const Layer& layer, bool writes_cache) {
  const auto rows = static_cast<double>(token_rows(layer));
  const auto heads = static_cast<double>(layer.num_heads), kv_heads = static_cast<double>(layer.num_kv_heads);
  const auto dim = static_cast<double>(layer.head_dim), ffn = static_cast<double>(layer.ffn_dim);
  const double stream = rows * static_cast<double>(layer.hidden_dim);
  const bool gated = layer.activation == Activation::gated;
  const bool after = layer.norms >= 4;  // attention and MLP have a norm behind them as well
  const auto projections = projection_names(layer);

  DecoderKernels list;
  const auto add = [&](std::string_view name, KernelRole role, double elements, bool mlp = false) {
    list.storage.at(list.count++) = {name, role, mlp, 0, elements};
  };
  const auto multiply = [&](std::size_t place) {
    list.storage.at(list.count++) = {projections[place], KernelRole::projection, place >= 2, place, 0};
  };
  add("pre_attn_rmsnorm", KernelRole::stream, 2 * stream);
  if (layer.parallel && layer.norms == 2) add("pre_mlp_rmsnorm", KernelRole::stream, 2 * stream);
  multiply(0);
  if (layer.rope || layer.use_qk_norm) {
    add(!layer.rope         ? "qk_norm"
        : layer.use_qk_norm ? "qk_norm_rope"
                            : "rope",
        KernelRole::rotation, rows * (heads + kv_heads) * dim);
  }
  if (writes_cache && layer.phase == Phase::decode)
    add("kv_cache_write", KernelRole::cache, 4 * rows * kv_heads * dim);
  add("attention", KernelRole::attention, 0);
  multiply(1);
  if (after) add("post_attn_rmsnorm", KernelRole::stream, 2 * stream);
  if (!layer.parallel) add("residual_rmsnorm", KernelRole::stream, 4 * stream);
  multiply(2);
  add(gated ? "gated_activation" : "activation", KernelRole::activation, (gated ? 1.0 : 2.0 / 3) * rows * ffn,
      true);
  multiply(3);
  if (after) add("post_mlp_rmsnorm", KernelRole::stream, 2 * stream);
  add("residual_add", KernelRole::stream, (layer.parallel ? 4 : 3) * stream);
  return list;
}

std::array<GemmShape, 4> layer_gemms(const Layer& layer, std::int64_t rows) {
  const std::int64_t width = layer.activation == Activation::gated ? 2 * layer.ffn_dim : layer.ffn_dim;
  return {{{rows, (layer.num_heads + 2 * layer.num_kv_heads) * layer.head_dim, layer.hidden_dim},
           {rows, layer.hidden_dim, layer.num_heads * layer.head_dim},
           {rows, width, layer.hidden_dim},
           {rows, layer.hidden_dim, layer.ffn_dim}}};
}

std::array<std::string_view, 4> projection_names(const Layer& layer) {
  return {"qkv_projection", "output_projection",
          layer.activation == Activation::gated ? "gate_up_projection" : "up_projection", "down_projection"};
}

std::optional<GemmShape> projection(const Layer& layer, std::string_view name) {
  const auto names = projection_names(layer);
  const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  if (at == names.size()) return std::nullopt;
  return layer_gemms(layer, token_rows(layer))[at];
}

AttentionShape attention_shape(const Layer& layer) {
  AttentionShape shape;
  shape.batch = layer.batch_size;
  shape.q_len = layer.phase == Phase::decode ? 1 : layer.seq_len;
  shape.kv_len = layer.seq_len;
  shape.heads = layer.num_heads;
  shape.kv_heads = layer.num_kv_heads;
  shape.head_dim = layer.head_dim;
  shape.window = layer.window_size > 0 && layer.window_size < layer.seq_len ? layer.window_size : 0;
  shape.backend = kMeasuredBackends[measured_place(layer.backend)];
  return shape;
}

}  // namespace plumbline
