// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/transformer.h"

#include <algorithm>
#include <tuple>

namespace plumbline {
namespace {

std::int64_t kept_keys(const Layer& layer, std::int64_t tokens) {
  return layer.window_size > 0 ? std::min(layer.window_size, tokens) : tokens;
}

}  // namespace

bool same_kernels(const TransformerLayer& a, const TransformerLayer& b) {
  const auto key = [](const TransformerLayer& t) {
    const Layer& l = t.shape;
    return std::tie(l.num_heads, l.num_kv_heads, l.head_dim, l.ffn_dim, l.window_size, l.use_qk_norm,
                    t.parameters, t.experts.count, t.has_attention, t.has_mlp, t.state_bytes,
                    t.attention.name, t.mlp.name, t.experts_precision.name, t.shared_precision.name, l.norms,
                    l.rope, l.parallel, l.biases, l.softcap, l.sinks);
  };
  return key(a) == key(b);
}

void set_weight_bytes(TransformerLayer& layer) {
  const std::int64_t up = layer.shape.activation == Activation::gated ? 3 : 2;
  const std::int64_t h = layer.shape.hidden_dim;
  const ExpertsShape& e = layer.experts;
  const std::int64_t experts = up * e.input * e.width * e.count;
  const std::int64_t shared = up * h * e.shared_width;
  std::int64_t mlp = layer.has_mlp && e.count == 0 ? up * h * layer.shape.ffn_dim : 0;
  const std::int64_t router = h * e.count;
  const std::int64_t active_experts = up * e.input * e.width * e.active;
  std::int64_t attention = layer.weights_per_token - active_experts - shared - mlp - router;
  attention = std::max<std::int64_t>(attention, 0);
  const std::int64_t rest = layer.parameters - experts - shared - mlp - attention;
  layer.weight_bytes =
      (static_cast<double>(attention) * layer.attention.bits + static_cast<double>(mlp) * layer.mlp.bits +
       static_cast<double>(experts) * layer.experts_precision.bits +
       static_cast<double>(shared) * layer.shared_precision.bits + 16.0 * static_cast<double>(rest)) /
      8;
}

std::int64_t parameter_count(const Transformer& model) {
  std::int64_t sum = model.embedding_parameters + model.final_norm_parameters + model.lm_head_parameters +
                     model.other_parameters;
  for (const TransformerLayer& layer : model.layers) sum += layer.parameters;
  return sum;
}

std::int64_t active_parameter_count(const Transformer& model) {
  std::int64_t sum = parameter_count(model);
  for (const TransformerLayer& layer : model.layers) sum -= layer.parameters - layer.active_parameters;
  return sum;
}

double weight_bytes(const Transformer& model) {
  double sum = 2 * static_cast<double>(model.embedding_parameters + model.final_norm_parameters +
                                       model.other_parameters) +
               static_cast<double>(model.lm_head_parameters) * model.head_precision.bits / 8;
  for (const TransformerLayer& layer : model.layers) sum += layer.weight_bytes;
  return sum;
}

std::int64_t kv_bytes_per_token(const Transformer& model) {
  std::int64_t sum = 0;
  for (const TransformerLayer& layer : model.layers) sum += layer.cached_elements;
  return static_cast<std::int64_t>(static_cast<double>(sum) * model.kv_element_bytes);
}

std::int64_t kv_bytes(const Transformer& model, std::int64_t tokens) {
  std::int64_t sum = 0;
  for (const TransformerLayer& layer : model.layers) {
    sum += layer.cached_elements * kept_keys(layer.shape, tokens);
  }
  return static_cast<std::int64_t>(static_cast<double>(sum) * model.kv_element_bytes);
}

std::int64_t state_bytes(const Transformer& model) {
  std::int64_t sum = 0;
  for (const TransformerLayer& layer : model.layers) sum += layer.state_bytes;
  return sum;
}

std::optional<std::string> untimed_reason(const Transformer& model) {
  for (const TransformerLayer& layer : model.layers) {
    if (!layer.untimed.empty()) return layer.untimed;
  }
  return std::nullopt;
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

Count attention_flops(const TransformerLayer& layer, const Layer& work) {
  if (!layer.has_attention) return 0;
  Count pairs = attention_pairs(work);
  if (!layer.causal && work.phase == Phase::prefill) {
    const Count s = work.seq_len;
    pairs = s * std::min<Count>(s, work.window_size > 0 ? 2 * Count{work.window_size} + 1 : s);
  }
  return 2 * pairs * (work.head_dim + layer.value_dim) * work.num_heads * work.batch_size;
}

Count projection_flops(const TransformerLayer& layer, const Layer& work) {
  const Count rows =
      work.phase == Phase::decode ? Count{work.batch_size} : Count{work.batch_size} * work.seq_len;
  return 2 * rows * layer.weights_per_token;
}

}  // namespace plumbline
