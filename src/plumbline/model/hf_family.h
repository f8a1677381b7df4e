// SPDX-License-Identifier: Apache-2.0
// What a Hugging Face model type implies that its config.json does not say: one row of data a family.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "plumbline/model/layer.h"

namespace plumbline {

/// A normalisation's parameters per channel: none, a weight, or a weight and a bias.
enum class NormKind { none, weight, weight_bias };
/// Normalisation of queries and keys: none; over each head with shared weights; over each head, or the full
/// width, with a weight a channel (equal counts); over the latent width alone.
enum class QkNorm { none, per_head, full };
/// Which layers slide when config.json has no layer_types: none; all (when sliding_window is set); every
/// n-th is global (sliding_window_pattern); those from max_window_layers on.
enum class Sliding { never, all, pattern, from_layer };
/// How positions enter: rotary, a learned table beside the embedding, a slope on the scores, or not at all.
enum class Positions { rotary, learned, alibi, none };
/// Parts that one family alone has, counted by their own formula.
enum class HfExtra { none, gemma3n, gemma4, gated_delta, mamba2 };

/// What a class assumes where config.json leaves a field out; 0: the field must be there.
struct HfDefaults {
  std::int64_t hidden = 0, layers = 0, heads = 0, kv_heads = 0, ffn = 0, vocab = 0;
};

/// One family. Sources: the published modelling and configuration code of each.
struct HfFamily {
  std::string_view model_types;  ///< separated by blanks
  Activation activation = Activation::gated;
  NormKind norm = NormKind::weight;
  int norms_per_layer = 2;
  QkNorm qk_norm = QkNorm::none;
  bool qkv_bias = false;  ///< unless config.json says otherwise
  bool output_bias = false;
  bool mlp_bias = false;
  bool head_bias = false;    ///< the LM head has a bias
  bool tied = false;         ///< tie_word_embeddings when config.json does not say
  bool parallel = false;     ///< attention and MLP read the same normalised input
  bool sinks = false;        ///< a learned attention sink a head
  bool softcap = false;      ///< attention scores are soft-capped
  bool latent = false;       ///< multi-head latent attention where kv_lora_rank is set
  bool experts = false;      ///< layers of experts where config.json counts some
  bool router_bias = false;  ///< the router is a projection with a bias
  bool score_bias = false;   ///< a correction a expert is added to the router's scores
  bool expert_bias = false;  ///< the experts' projections have biases
  bool shared_gate = false;  ///< the shared expert has a gate of hidden_size
  bool causal = true;        ///< false: bidirectional
  Sliding sliding = Sliding::never;
  int pattern = 0;            ///< sliding_window_pattern when config.json does not say
  std::int64_t head_dim = 0;  ///< head_dim when config.json does not say; 0: hidden_size / heads
  int ffn_times = 0;          ///< the MLP's width over hidden_size where no key gives it
  std::string_view bias_key = "attention_bias";  ///< turns all four attention biases on or off
  std::string_view qkv_bias_key{};               ///< turns the biases of queries, keys and values on or off
  std::string_view output_bias_key{};
  std::string_view mlp_bias_key = "mlp_bias";
  std::string_view qk_norm_key{};  ///< turns the normalisation of queries and keys on
  Positions positions = Positions::rotary;
  int position_offset = 0;                   ///< rows of the learned table before position 0
  NormKind embedding_norm = NormKind::none;  ///< of the embedding's output
  HfExtra extra = HfExtra::none;
  HfDefaults defaults{};
};

/// Every known model type.
std::vector<std::string_view> hf_model_types();

/// The family of a model type, or nullptr.
const HfFamily* find_hf_family(std::string_view model_type);

/// Model types whose layers hold what is counted nowhere here (recurrent or hybrid layers); what they hold,
/// or "".
std::string_view uncounted_kind(std::string_view model_type);

}  // namespace plumbline
