// SPDX-License-Identifier: Apache-2.0
// Transformer: a whole dense decoder-only model, and what can be counted of it exactly.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plumbline/model/layer.h"

namespace plumbline {

/// A count that outgrows 64 bits (FLOPs of huge batches).
__extension__ using Count = __int128;

/// One decoder layer of a model. seq_len and batch_size of the shape are set when it is costed.
struct TransformerLayer {
  Layer shape;
  std::int64_t parameters = 0;  ///< weights, biases and norms
};

/// A dense decoder-only model. Parameters are counts of scalars.
struct Transformer {
  std::string model_type;  ///< "llama"
  std::int64_t hidden_dim = 0;
  std::int64_t vocab_size = 0;
  bool tied_embeddings = false;  ///< the LM head is the embedding; counted once
  std::vector<TransformerLayer> layers;
  std::int64_t embedding_parameters = 0;  ///< tokens and, where learned, positions
  std::int64_t final_norm_parameters = 0;
  std::int64_t lm_head_parameters = 0;  ///< 0 when tied
  std::vector<std::string> notes;       ///< what was left out (a vision tower, say)
};

/// All parameters.
std::int64_t parameter_count(const Transformer& model);

/// Bytes of KV cache that one token adds over all layers, bf16.
std::int64_t kv_bytes_per_token(const Transformer& model);

/// Bytes of KV cache of one sequence of `tokens`: a sliding layer keeps its window alone.
std::int64_t kv_bytes(const Transformer& model, std::int64_t tokens);

/// Query-key pairs that a layer's attention computes for one sequence and one head. Prefill is causal:
/// S(S+1)/2, or w(w+1)/2 + (S−w)·w with a window w < S. Decode: min(S, w).
Count attention_pairs(const Layer& layer);

/// 4·head_dim·num_heads·pairs·batch_size: the two products of attention, causal.
Count attention_flops(const Layer& layer);

/// Multiply-adds of the four (plain MLP) or five (gated) projections, counted as two FLOPs each.
Count projection_flops(const Layer& layer);

}  // namespace plumbline
