// SPDX-License-Identifier: Apache-2.0
// The attention of each layer of a config.json: heads, widths, windows, latent ranks, and layers without it.
#include <fmt/format.h>

#include <algorithm>

#include "plumbline/base/text.h"
#include "plumbline/model/hf_parts.h"

namespace plumbline::detail {
namespace {

constexpr std::int64_t kMaxWindow = 1LL << 27;
constexpr HfReader::Names kKvHeads{"num_key_value_heads", "num_key_value_heads_per_layer",
                                   "attn_config.kv_n_heads", "multi_query_group_num"};

/// KV heads by layer. Missing means multi-head attention, but for families with a switch.
std::vector<std::int64_t> read_kv_heads(HfReader& in, const HfFamily& f,
                                        const std::vector<std::int64_t>& heads) {
  const std::size_t layers = heads.size();
  const std::vector<std::int64_t> one(layers, 1);
  if (is(f, "falcon")) {
    if (in.flag({"new_decoder_architecture"}, false)) {
      auto kv = in.per_layer({"num_kv_heads", "n_head_kv"}, layers, kMaxHfHeads);
      return kv.empty() ? heads : kv;
    }
    return in.flag({"multi_query"}, true) ? one : heads;
  }
  if (is(f, "gpt_bigcode")) return in.flag({"multi_query"}, true) ? one : heads;
  if (is(f, "chatglm") && !in.flag({"multi_query_attention"}, false)) return heads;
  if (is(f, "mpt") && in.get({"attn_config.kv_n_heads"}) == nullptr) {
    const Json* type = in.get({"attn_config.attn_type"});
    return type != nullptr && *type == "multiquery_attention" ? one : heads;
  }
  if (in.get(kKvHeads) != nullptr) return in.per_layer(kKvHeads, layers, kMaxHfHeads);
  // a class's own count stands beside its own count of heads
  const bool both_left_out = in.get(kHfHeads) == nullptr && f.defaults.kv_heads > 0;
  return both_left_out ? std::vector<std::int64_t>(layers, f.defaults.kv_heads) : heads;
}

std::vector<std::int64_t> read_head_dim(HfReader& in, const HfFamily& f,
                                        const std::vector<std::int64_t>& heads, std::int64_t hidden) {
  const std::size_t layers = heads.size();
  static constexpr HfReader::Names kNames{"head_dim", "kv_channels", "attention_head_dim"};
  if (in.get(kNames) != nullptr) return in.per_layer(kNames, layers, kMaxHfHeads);
  if (f.head_dim != 0) return std::vector<std::int64_t>(layers, f.head_dim);
  std::vector<std::int64_t> result;
  for (const std::int64_t each : heads) {
    if (hidden % each != 0) {
      in.wrong("hf-field-invalid",
               fmt::format("head_dim is missing and hidden_size ({}) is not a multiple of "
                           "num_attention_heads ({})",
                           hidden, each),
               "num_attention_heads");
      return {};
    }
    result.push_back(hidden / each);
  }
  return result;
}

/// One word a layer: layer_types, or a pattern of letters.
bool read_layer_types(HfReader& in, const Json& types, std::vector<LayerFacts>& layers,
                      std::vector<bool>& slides) {
  if (!types.is_array() || types.size() != layers.size()) {
    in.wrong("hf-field-invalid",
             fmt::format("layer_types must list the type of each of {} layers", layers.size()),
             "layer_types");
    return false;
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Json& type = types[i];
    slides[i] = type == "sliding_attention" || type == "chunked_attention";
    if (slides[i] || type == "full_attention" || type == "attention" || type == "global") continue;
    if (type == "linear_attention" && layers[i].mixer == Mixer::gated_delta) continue;
    in.wrong("hf-not-dense",
             fmt::format("layer {} is of type {}; full_attention and sliding_attention are understood", i,
                         printable(cut_middle(write_json_line(type), 40))),
             "layer_types");
    return false;
  }
  return true;
}

/// Which layers slide, from layer_types when given, else by the family's rule.
std::vector<bool> sliding_layers(HfReader& in, const HfFamily& f, std::vector<LayerFacts>& layers) {
  std::vector<bool> slides(layers.size(), false);
  if (const Json* types = in.get({"layer_types"})) {
    (void)read_layer_types(in, *types, layers, slides);
    return slides;
  }
  if (const Json* pattern = in.get({"hybrid_layer_pattern"})) {  // 1: sliding
    for (std::size_t i = 0; i < layers.size() && pattern->is_array() && i < pattern->size(); ++i) {
      slides[i] = (*pattern)[i] == 1;
    }
    return slides;
  }
  if (const Json* letters = in.get({"sliding_window_pattern"}); letters != nullptr && letters->is_string()) {
    const auto word = letters->get<std::string>();  // "LLLG": L slides; the last layer is global
    for (std::size_t i = 0; i < layers.size() && !word.empty(); ++i) {
      slides[i] = word[i % word.size()] == 'L' && i + 1 < layers.size();
    }
    return slides;
  }
  const std::int64_t pattern =
      in.count({"sliding_window_pattern", "_sliding_window_pattern"}, kMaxHfLayers, 0).value_or(f.pattern);
  const std::int64_t first = in.count({"max_window_layers"}, kMaxHfLayers, 0).value_or(0);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    if (pattern > 0) {
      slides[i] = (index + 1) % pattern != 0;
    } else if (f.sliding == Sliding::from_layer) {
      slides[i] = index >= first;
    } else {
      slides[i] = f.sliding == Sliding::all;
    }
  }
  return slides;
}

/// The window of each layer; null, 0 and negative values in sliding_window mean none.
void read_windows(HfReader& in, const HfFamily& f, std::vector<LayerFacts>& layers) {
  const bool wanted = in.flag({"use_sliding_window"}, f.sliding != Sliding::from_layer);
  const std::vector<bool> slides = sliding_layers(in, f, layers);
  static constexpr HfReader::Names kWindow{"sliding_window", "attention_chunk_size", "window_size"};
  std::vector<std::int64_t> window =
      in.per_layer(is(f, "llama4") ? HfReader::Names{"attention_chunk_size"} : kWindow, layers.size(),
                   kMaxWindow, -kMaxWindow);
  if (!wanted || !in.found.empty()) return;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!slides[i]) continue;
    if (window.empty() && (f.sliding == Sliding::pattern || in.get({"layer_types"}) != nullptr) &&
        f.pattern > 0) {
      in.found.push_back(diagnose("hf-field-missing",
                                  fmt::format("sliding_window is missing, and layer {} slides", i),
                                  {in.file, 1, 1}));
      return;
    }
    if (!window.empty()) layers[i].window = std::max<std::int64_t>(window[i], 0);
  }
}

void read_latent(HfReader& in, std::vector<LayerFacts>& layers) {
  LatentShape latent;
  latent.kv_rank = in.count({"kv_lora_rank"}, kMaxHfDim).value_or(0);
  latent.q_rank = in.count({"q_lora_rank"}, kMaxHfDim, 0).value_or(0);
  latent.nope_dim = in.need_count({"qk_nope_head_dim"}, kMaxHfHeads).value_or(0);
  latent.rope_dim = in.need_count({"qk_rope_head_dim"}, kMaxHfHeads).value_or(0);
  latent.value_dim = in.count({"v_head_dim"}, kMaxHfHeads).value_or(latent.nope_dim);
  for (LayerFacts& layer : layers) {
    layer.latent = latent;
    layer.sparse = in.get({"index_n_heads"}) != nullptr;
    layer.kv_heads = layer.heads;
    layer.head_dim = latent.nope_dim + latent.rope_dim;
    layer.value_dim = latent.value_dim;
  }
}

/// Gemma 4: global layers have their own width and KV heads, and may use the keys as values; the last layers
/// read an earlier layer's cache.
void read_gemma(HfReader& in, const HfFamily& f, std::vector<LayerFacts>& layers) {
  const std::int64_t shared = in.count({"num_kv_shared_layers"}, kMaxHfLayers, 0).value_or(0);
  const std::int64_t first = static_cast<std::int64_t>(layers.size()) - shared;
  const std::int64_t dim = in.count({"global_head_dim"}, kMaxHfHeads).value_or(0);
  const std::int64_t kv = in.count({"num_global_key_value_heads"}, kMaxHfHeads).value_or(0);
  const bool keys = in.flag({"attention_k_eq_v"}, false);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    LayerFacts& layer = layers[i];
    layer.shares_kv = shared > 0 && first > 0 && static_cast<std::int64_t>(i) >= first;
    if (f.extra != HfExtra::gemma4 || layer.window > 0) continue;
    if (dim > 0) layer.head_dim = layer.value_dim = dim;
    layer.keys_are_values = keys;
    if (keys && kv > 0) layer.kv_heads = kv;
  }
}

/// MiMo V2: sliding layers have their own heads, and values are narrower than keys.
void read_sliding_heads(HfReader& in, std::vector<LayerFacts>& layers) {
  const auto value = in.count({"v_head_dim"}, kMaxHfHeads);
  const auto swa_value = in.count({"swa_v_head_dim"}, kMaxHfHeads);
  const auto heads = in.count({"swa_num_attention_heads"}, kMaxHfHeads);
  const auto kv = in.count({"swa_num_key_value_heads"}, kMaxHfHeads);
  const auto dim = in.count({"swa_head_dim"}, kMaxHfHeads);
  const bool sinks = in.flag({"add_swa_attention_sink_bias"}, false);
  const bool full_sinks = in.flag({"add_full_attention_sink_bias"}, false);
  for (LayerFacts& layer : layers) {
    if (layer.window == 0) {
      layer.value_dim = value.value_or(layer.head_dim);
      layer.sinks = full_sinks;
      continue;
    }
    layer.heads = heads.value_or(layer.heads);
    layer.kv_heads = kv.value_or(layer.kv_heads);
    layer.head_dim = dim.value_or(layer.head_dim);
    layer.value_dim = swa_value.value_or(layer.head_dim);
    layer.sinks = sinks;
  }
}

/// Llama 4's chunked layers are those with rotary positions; every fourth layer has none and sees everything.
void read_chunks(HfReader& in, std::vector<LayerFacts>& layers) {
  const auto step = in.count({"no_rope_layer_interval"}, kMaxHfLayers, 0).value_or(4);
  const auto ropes = in.per_layer({"no_rope_layers"}, layers.size(), 1, 0);
  const bool listed = in.get({"no_rope_layers"}) != nullptr && !ropes.empty();
  const std::int64_t chunk = in.count({"attention_chunk_size"}, kMaxWindow).value_or(0);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool rope = listed ? ropes[i] != 0 : step == 0 || (static_cast<std::int64_t>(i) + 1) % step != 0;
    layers[i].window = rope ? chunk : 0;
  }
}

/// Which layers mix tokens otherwise than by attention, before anything else is read.
void read_mixers(HfReader& in, const HfFamily& f, std::vector<LayerFacts>& layers) {
  if (f.extra == HfExtra::gated_delta) {
    const std::int64_t interval = in.count({"full_attention_interval"}, kMaxHfLayers).value_or(4);
    const Json* types = in.get({"layer_types"});
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const bool listed = types != nullptr && types->is_array() && types->size() == layers.size();
      const bool linear =
          listed ? (*types)[i] == "linear_attention" : (static_cast<std::int64_t>(i) + 1) % interval != 0;
      if (linear) layers[i].mixer = Mixer::gated_delta;
    }
  }
  if (f.extra != HfExtra::mamba2) return;
  std::string pattern = in.word("hybrid_override_pattern");
  if (const Json* blocks = in.get({"layers_block_type"});
      pattern.empty() && blocks != nullptr && blocks->is_array()) {
    for (const Json& block : *blocks) {
      pattern += block == "mamba"       ? 'M'
                 : block == "moe"       ? 'E'
                 : block == "attention" ? '*'
                 : block == "mlp"       ? '-'
                                        : '?';
    }
  }
  if (pattern.size() != layers.size() || pattern.find_first_not_of("ME*-") != pattern.npos) {
    in.wrong("hf-field-invalid",
             fmt::format("hybrid_override_pattern must have a letter (M, E, * or -) for each of {} layers",
                         layers.size()),
             "hybrid_override_pattern");
    return;
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].mixer = pattern[i] == 'M' ? Mixer::mamba2 : pattern[i] == '*' ? Mixer::attention : Mixer::none;
    layers[i].mlp = pattern[i] == 'E' || pattern[i] == '-';
  }
}

/// Nemotron-NAS: a block may leave out its attention, share KV heads differently, or be one projection.
void read_blocks(HfReader& in, std::vector<LayerFacts>& layers) {
  const Json* blocks = in.get({"block_configs"});
  if (blocks == nullptr) return;
  if (!blocks->is_array() || blocks->size() != layers.size()) {
    in.wrong("hf-field-invalid", fmt::format("block_configs must describe each of {} layers", layers.size()),
             "block_configs");
    return;
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Json& block = (*blocks)[i];
    const auto attention = block.is_object() ? block.find("attention") : block.end();
    if (!block.is_object() || attention == block.end() || !attention->is_object()) {
      in.wrong("hf-field-invalid", fmt::format("block_configs[{}] has no attention", i), "block_configs");
      return;
    }
    if (attention->value("no_op", false) == true) layers[i].mixer = Mixer::none;
    if (attention->value("replace_with_linear", false) == true) {
      in.wrong("hf-not-dense", fmt::format("layer {}'s attention is replaced by one projection", i),
               "block_configs");
      return;
    }
    const auto group = attention->find("n_heads_in_group");
    if (layers[i].mixer != Mixer::attention) continue;
    if (group == attention->end() || !group->is_number_integer() || group->get<std::int64_t>() < 1 ||
        layers[i].heads % group->get<std::int64_t>() != 0) {
      in.wrong("hf-field-invalid",
               fmt::format("block_configs[{}].attention.n_heads_in_group must divide the {} heads", i,
                           layers[i].heads),
               "block_configs");
      return;
    }
    layers[i].kv_heads = layers[i].heads / group->get<std::int64_t>();
  }
}

}  // namespace

void read_attention(HfReader& in, const HfFamily& f, std::int64_t hidden, std::vector<LayerFacts>& layers) {
  read_mixers(in, f, layers);
  if (!in.found.empty()) return;
  std::vector<std::int64_t> heads;
  if (in.get(kHfHeads) == nullptr && f.defaults.heads > 0) {
    heads.assign(layers.size(), f.defaults.heads);
  } else {
    if (in.get(kHfHeads) == nullptr) (void)in.need_count(kHfHeads, kMaxHfHeads);
    heads = in.per_layer(kHfHeads, layers.size(), kMaxHfHeads);
  }
  if (heads.empty()) return;
  const bool latent = f.latent && in.get({"kv_lora_rank"}) != nullptr;
  const bool blocks = in.get({"block_configs"}) != nullptr;
  const auto kv = blocks ? heads : read_kv_heads(in, f, heads);
  const auto dim = latent ? heads : read_head_dim(in, f, heads, hidden);
  if (!in.found.empty() || kv.size() != heads.size() || dim.size() != heads.size()) return;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].heads = heads[i];
    layers[i].kv_heads = kv[i];
    layers[i].head_dim = layers[i].value_dim = dim[i];
    layers[i].sinks = f.sinks;
  }
  if (latent) {
    read_latent(in, layers);
    return;
  }
  read_windows(in, f, layers);
  if (blocks) read_blocks(in, layers);
  if (is(f, "llama4")) read_chunks(in, layers);
  if (f.extra == HfExtra::gemma4 || f.extra == HfExtra::gemma3n) read_gemma(in, f, layers);
  if (is(f, "mimo_v2_flash")) read_sliding_heads(in, layers);
  if (const Json* cross = in.get({"cross_attention_layers"}); cross != nullptr && cross->is_array()) {
    for (const Json& each : *cross) {
      if (each.is_number_unsigned() && each.get<std::size_t>() < layers.size()) {
        layers[each.get<std::size_t>()].cross = true;
      }
    }
  }
}

}  // namespace plumbline::detail
