// SPDX-License-Identifier: Apache-2.0
// Private to the hf_*.cpp files: the stages from a config.json's fields to a model's layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/model/hf_config.h"
#include "plumbline/model/hf_family.h"
#include "plumbline/model/hf_reader.h"
#include "plumbline/model/transformer.h"

namespace plumbline::detail {

// With these limits parameters and cache bytes of a whole model stay below 2^62.
inline constexpr std::int64_t kMaxHfDim = 1LL << 22;
inline constexpr std::int64_t kMaxHfHeads = 1LL << 16;
inline constexpr std::int64_t kMaxHfLayers = 4096;
inline constexpr std::int64_t kMaxHfExperts = 1LL << 14;

/// The spellings of the fields that more than one stage reads.
inline constexpr HfReader::Names kHfHeads{"num_attention_heads", "n_head", "num_heads", "n_heads"};
inline constexpr HfReader::Names kHfHidden{"hidden_size", "n_embd", "d_model", "n_embed"};
inline constexpr HfReader::Names kHfLayers{"num_hidden_layers", "n_layer", "num_layers", "n_layers"};
inline constexpr HfReader::Names kHfFfn{"intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim",
                                        "ffn_config.ffn_hidden_size"};

/// The kind of a layer's token mixer.
enum class Mixer { attention, gated_delta, mamba2, none };

/// What stands in one layer, before anything is counted.
struct LayerFacts {
  Mixer mixer = Mixer::attention;
  bool mlp = true;
  bool cross = false;      ///< cross-attention to another tower's states
  bool shares_kv = false;  ///< reads an earlier layer's keys and values
  bool keys_are_values = false;
  bool sinks = false;
  bool sparse = false;  ///< an indexer chooses the keys
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0, value_dim = 0, ffn = 0, window = 0;
  ExpertsShape experts{};
  LatentShape latent{};
};

/// What `architectures` says that the model type does not.
struct Role {
  HeadKind head = HeadKind::language_model;
  bool bidirectional = false;
  bool deep_head = false;  ///< a classifier with a hidden layer
  bool head_bias = false;
  int eagle = 0;  ///< 1 or 3: a draft of that kind
};

/// The role that `architectures` and its like give; also sets the model's architecture.
Role read_role(HfReader& in, Transformer& model);

/// Is the family the one whose first model type begins so?
inline bool is(const HfFamily& f, std::string_view type) { return f.model_types.starts_with(type); }

/// The family, adjusted by what config.json says of biases and norms.
HfFamily adjusted(HfReader& in, HfFamily family);

/// Heads, widths, windows and latent ranks of each layer. Wrong fields go to `in.found`.
void read_attention(HfReader& in, const HfFamily& f, std::int64_t hidden, std::vector<LayerFacts>& layers);
/// Widths and experts of each layer's MLP.
void read_mlp(HfReader& in, const HfFamily& f, std::int64_t hidden, std::vector<LayerFacts>& layers);

/// The layer with its counts, all in bf16 and timed as if it were only kernels that are known.
TransformerLayer count_layer(HfReader& in, const HfFamily& f, std::int64_t hidden, const LayerFacts& facts);

/// Parameters of a norm over `width` channels.
std::int64_t norm_parameters(NormKind kind, std::int64_t width);

/// Why no list of kernels describes the layer, or "".
std::string unlisted_reason(const HfFamily& f, const LayerFacts& facts, const TransformerLayer& layer);
/// Why the model of a bf16 layer does not describe it, or "".
std::string untimed_reason(const TransformerLayer& layer);

/// Embedding, positions, head and what else stands beside the layers.
void count_ends(HfReader& in, const HfFamily& f, const Role& role, Transformer& model);
/// A draft shares its target's head (EAGLE) or has one over fewer words, and reads the target's states.
void count_draft(HfReader& in, const Role& role, Transformer& model);
/// Multi-token prediction: each module is a layer, a projection of two states and three norms.
void count_mtp(HfReader& in, Transformer& model);

/// Reads quantization_config (in the decoder's object or at the top), or the file beside config.json, and
/// sets every layer's precisions and weight bytes.
void read_quantization(HfReader& in, const HfQuantFile* beside, Transformer& model);

}  // namespace plumbline::detail
