// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/transformer.h"

#include <algorithm>

namespace plumbline {
namespace {

std::int64_t kv_bytes_of(const Layer& layer) { return 2 * layer.num_kv_heads * layer.head_dim * 2; }

std::int64_t kept_keys(const Layer& layer, std::int64_t tokens) {
  return layer.window_size > 0 ? std::min(layer.window_size, tokens) : tokens;
}

}  // namespace

std::int64_t parameter_count(const Transformer& model) {
  std::int64_t sum = model.embedding_parameters + model.final_norm_parameters + model.lm_head_parameters;
  for (const TransformerLayer& layer : model.layers) sum += layer.parameters;
  return sum;
}

std::int64_t kv_bytes_per_token(const Transformer& model) {
  std::int64_t sum = 0;
  for (const TransformerLayer& layer : model.layers) sum += kv_bytes_of(layer.shape);
  return sum;
}

std::int64_t kv_bytes(const Transformer& model, std::int64_t tokens) {
  std::int64_t sum = 0;
  for (const TransformerLayer& layer : model.layers) {
    sum += kv_bytes_of(layer.shape) * kept_keys(layer.shape, tokens);
  }
  return sum;
}

Count attention_pairs(const Layer& layer) {
  const Count s = layer.seq_len;
  const Count w = kept_keys(layer, layer.seq_len);
  return layer.phase == Phase::decode ? w : w * (w + 1) / 2 + (s - w) * w;
}

Count attention_flops(const Layer& layer) {
  return 4 * attention_pairs(layer) * layer.head_dim * layer.num_heads * layer.batch_size;
}

Count projection_flops(const Layer& layer) {
  const Count rows =
      layer.phase == Phase::decode ? Count{layer.batch_size} : Count{layer.batch_size} * layer.seq_len;
  const std::int64_t mlp = layer.activation == Activation::gated ? 3 : 2;
  const Count weights =
      Count{layer.hidden_dim} *
      ((2 * layer.num_heads + 2 * layer.num_kv_heads) * layer.head_dim + mlp * layer.ffn_dim);
  return 2 * rows * weights;
}

}  // namespace plumbline
