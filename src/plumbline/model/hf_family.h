// SPDX-License-Identifier: Apache-2.0
// What a Hugging Face model type implies that its config.json does not say.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "plumbline/model/layer.h"

namespace plumbline {

/// A normalisation's parameters per channel: none, a weight, or a weight and a bias.
enum class NormKind { none, weight, weight_bias };
/// Normalisation of queries and keys: none, over each head with shared weights, over each head with its own
/// weights or over the full width (equal counts).
enum class QkNorm { none, per_head, full };
/// Which layers slide when config.json has no layer_types: none; all (when sliding_window is set); every
/// n-th is global (sliding_window_pattern); those from max_window_layers on.
enum class Sliding { never, all, pattern, from_layer };

/// One model type. Sources: the modelling and configuration code of the transformers library.
struct HfFamily {
  std::string_view model_type;
  Activation activation = Activation::gated;
  NormKind norm = NormKind::weight;
  int norms_per_layer = 2;
  QkNorm qk_norm = QkNorm::none;
  bool qkv_bias = false;  ///< unless config.json says otherwise
  bool output_bias = false;
  bool mlp_bias = false;
  bool head_bias = false;  ///< the LM head has a bias
  bool tied = false;       ///< tie_word_embeddings when config.json does not say
  Sliding sliding = Sliding::never;
  int pattern = 0;            ///< sliding_window_pattern when config.json does not say
  std::int64_t head_dim = 0;  ///< head_dim when config.json does not say; 0: hidden_size / heads
  std::string_view bias_key = "attention_bias";  ///< the key that turns all four attention biases on or off
  bool learned_positions = false;
};

/// Every known model type.
std::span<const HfFamily> hf_families();

/// The family of a model type, or nullptr.
const HfFamily* find_hf_family(std::string_view model_type);

/// Model types whose layers are not dense attention plus MLP; what they are, or "".
std::string_view sparse_or_hybrid_kind(std::string_view model_type);

}  // namespace plumbline
