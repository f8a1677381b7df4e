// SPDX-License-Identifier: Apache-2.0
// Transformer: a whole decoder-only model, and what can be counted of it exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plumbline/model/layer.h"

namespace plumbline {

/// A count that outgrows 64 bits (FLOPs of huge batches).
__extension__ using Count = __int128;

/// What a layer's weights are kept in. `bits` counts the scales: 8.002 for fp8 in blocks of 128 × 128.
struct WeightFormat {
  std::string name = "bf16";  ///< bf16, fp8, fp8_block, nvfp4, mxfp4, int4_wo, int8_wo, int8
  double bits = 16;           ///< a weight
};

/// The experts of a layer; count 0: the layer's MLP is dense.
struct ExpertsShape {
  std::int64_t count = 0;
  std::int64_t active = 0;        ///< that one token uses
  std::int64_t width = 0;         ///< of one expert's MLP
  std::int64_t input = 0;         ///< width of an expert's input: hidden_dim, or a latent one
  std::int64_t shared_width = 0;  ///< of the MLP that every token uses beside them; 0: none
};

/// Multi-head latent attention; kv_rank 0: the layer has none.
struct LatentShape {
  std::int64_t q_rank = 0;  ///< 0: queries are projected at once
  std::int64_t kv_rank = 0;
  std::int64_t nope_dim = 0;   ///< of a query's or key's head, without positions
  std::int64_t rope_dim = 0;   ///< the same, with positions
  std::int64_t value_dim = 0;  ///< of a value's head
};

/// One decoder layer of a model. seq_len and batch_size of the shape are set when it is costed.
struct TransformerLayer {
  Layer shape;
  std::int64_t parameters = 0;         ///< weights, biases and norms
  std::int64_t active_parameters = 0;  ///< without the experts that a token does not use
  std::int64_t weights_per_token = 0;  ///< of matrix products that one token takes part in
  std::int64_t value_dim = 0;          ///< of a value's head; shape.head_dim in most families
  ExpertsShape experts{};
  LatentShape latent{};
  std::int64_t cached_elements = 0;  ///< that one token adds to the KV (or latent) cache
  std::int64_t state_bytes = 0;      ///< of a recurrent layer, a sequence
  bool causal = true;
  bool has_attention = true;  ///< false: recurrent, or left out
  bool has_mlp = true;
  WeightFormat attention{}, mlp{}, experts_precision{}, shared_precision{};
  double weight_bytes = 0;
  std::string untimed{};   ///< why the model of a bf16 layer does not describe it, or empty
  std::string unlisted{};  ///< why no list of kernels describes it, whatever was measured; or empty
};

/// Do two layers run the same kernels?
bool same_kernels(const TransformerLayer& a, const TransformerLayer& b);

/// Sets weight_bytes from the formats of the layer's parts.
void set_weight_bytes(TransformerLayer& layer);

/// What stands where a language model has its LM head.
enum class HeadKind { language_model, classifier, none };

/// A decoder-only model. Parameters are counts of scalars.
struct Transformer {
  std::string model_type;    ///< "llama"
  std::string architecture;  ///< the first of `architectures`, or empty
  std::int64_t hidden_dim = 0;
  std::int64_t vocab_size = 0;
  bool tied_embeddings = false;  ///< the LM head is the embedding; counted once
  HeadKind head = HeadKind::language_model;
  std::vector<TransformerLayer> layers;
  std::int64_t embedding_parameters = 0;  ///< tokens and, where learned, positions
  std::int64_t final_norm_parameters = 0;
  std::int64_t lm_head_parameters = 0;  ///< 0 when tied; a classifier's head
  std::int64_t other_parameters = 0;    ///< beside the layers: per-layer embeddings and the like
  std::int64_t mtp_parameters = 0;      ///< of multi-token prediction modules; not in parameter_count()
  std::string quantization;             ///< quant_method, or empty
  WeightFormat head_precision{};
  double kv_element_bytes = 2;     ///< of the KV cache
  std::vector<std::string> notes;  ///< what was left out (a vision tower, say)
};

/// All parameters of the model itself, without multi-token prediction modules.
std::int64_t parameter_count(const Transformer& model);

/// The same without the experts that one token does not use.
std::int64_t active_parameter_count(const Transformer& model);

/// Bytes of the weights as they are kept, embedding and head included.
double weight_bytes(const Transformer& model);

/// Bytes of KV or latent cache that one token adds over all layers.
std::int64_t kv_bytes_per_token(const Transformer& model);

/// Bytes of KV cache of one sequence of `tokens`: a sliding layer keeps its window alone.
std::int64_t kv_bytes(const Transformer& model, std::int64_t tokens);

/// Bytes of recurrent state of one sequence.
std::int64_t state_bytes(const Transformer& model);

/// The first reason why a layer cannot be timed, or none.
std::optional<std::string> untimed_reason(const Transformer& model);

/// Query-key pairs that a layer's attention computes for one sequence and one head. Prefill is causal:
/// S(S+1)/2, or w(w+1)/2 + (S−w)·w with a window w < S. Decode: min(S, w).
Count attention_pairs(const Layer& layer);

/// 4·head_dim·num_heads·pairs·batch_size: the two products of attention, causal.
Count attention_flops(const Layer& layer);

/// The same for a layer of a model, whose values may be narrower than its keys, at the size of `work`:
/// 2·(head_dim + value_dim)·num_heads·pairs·batch_size; bidirectional prefill has S² pairs.
Count attention_flops(const TransformerLayer& layer, const Layer& work);

/// Multiply-adds of the four (plain MLP) or five (gated) projections, counted as two FLOPs each.
Count projection_flops(const Layer& layer);

/// The same for a layer of a model: 2·rows·weights_per_token.
Count projection_flops(const TransformerLayer& layer, const Layer& work);

}  // namespace plumbline
