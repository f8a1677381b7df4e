// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/memory.h"

#include <algorithm>
#include <cmath>

namespace plumbline {
namespace {

/// bf16 elements that the widest layer holds for one token: the stream and its copy, the widest product's
/// input and output, and what the activation leaves.
double widest_row(const Transformer& model, double gpus) {
  double widest = 0;
  for (const TransformerLayer& layer : model.layers) {
    const Layer& s = layer.shape;
    const double up = s.activation == Activation::gated ? 3 : 2;  // gate, up, and what comes of them
    double mlp = layer.has_mlp ? up * static_cast<double>(s.ffn_dim) : 0;
    if (layer.experts.count > 0) {
      mlp = up * static_cast<double>(layer.experts.active * layer.experts.width + layer.experts.shared_width);
    }
    const double heads =
        static_cast<double>(s.num_heads + 2 * s.num_kv_heads) * static_cast<double>(s.head_dim);
    widest = std::max(widest, std::max(mlp, layer.has_attention ? heads : 0) / gpus);
  }
  return 2 * static_cast<double>(model.hidden_dim) + widest;
}

}  // namespace

double cache_bytes_per_gpu(const Transformer& model, std::int64_t tokens, std::int64_t gpus) {
  double elements = 0;
  double state = 0;
  for (const TransformerLayer& layer : model.layers) {
    const std::int64_t window = layer.shape.window_size;
    const auto kept = static_cast<double>(window > 0 ? std::min(window, tokens) : tokens);
    // a latent cache is one for all heads; KV heads are shared until each GPU has one
    const double held =
        layer.latent.kv_rank > 0
            ? 1
            : 1 / static_cast<double>(std::min(gpus, std::max<std::int64_t>(layer.shape.num_kv_heads, 1)));
    elements += static_cast<double>(layer.cached_elements) * kept * held;
    state += static_cast<double>(layer.state_bytes) / static_cast<double>(gpus);
  }
  return elements * model.kv_element_bytes + state;
}

MemoryUse memory_use(const Transformer& model, const MemoryQuestion& q) {
  MemoryUse use;
  const auto gpus = static_cast<double>(q.gpus);
  use.known = q.gpu_bytes > 0;
  use.gpu_bytes = q.gpu_bytes;
  use.usable_bytes = q.gpu_bytes * q.share;
  use.weight_bytes = weight_bytes(model) / gpus;
  const double words = model.head == HeadKind::language_model ? static_cast<double>(model.vocab_size) : 0;
  use.activation_bytes =
      2 * static_cast<double>(q.rows) * widest_row(model, gpus) +
      6 * static_cast<double>(q.logit_rows) * words / gpus;  // bf16, and float for sampling
  use.sequence_bytes = cache_bytes_per_gpu(model, q.sequence_tokens, q.gpus);
  use.cache_bytes = use.sequence_bytes * static_cast<double>(q.sequences);
  if (!use.known) return use;
  use.fits = use.needed_bytes() <= use.usable_bytes;
  const double left = use.usable_bytes - use.weight_bytes - use.activation_bytes;
  if (left <= 0 || use.sequence_bytes <= 0) return use;
  use.max_sequences = static_cast<std::int64_t>(std::min(left / use.sequence_bytes, 1e15));
  use.max_tokens = use.max_sequences * q.sequence_tokens;
  return use;
}

}  // namespace plumbline
