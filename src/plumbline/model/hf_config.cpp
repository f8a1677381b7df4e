// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/hf_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/model/hf_family.h"
#include "plumbline/model/hf_reader.h"

namespace plumbline {
namespace {

// With these limits parameters and cache bytes of a whole model stay below 2^62.
constexpr std::int64_t kMaxDim = 1LL << 22;
constexpr std::int64_t kMaxHeads = 1LL << 16;
constexpr std::int64_t kMaxHeadsWidth = 1LL << 20;  // heads · head_dim
constexpr std::int64_t kMaxWindow = 1LL << 27;
constexpr std::int64_t kMaxLayers = 4096;

constexpr HfReader::Names kHeads{"num_attention_heads", "n_head", "num_heads"};
constexpr HfReader::Names kLayers{"num_hidden_layers", "n_layer", "num_layers"};
constexpr HfReader::Names kHidden{"hidden_size", "n_embd", "d_model"};
constexpr HfReader::Names kKvHeads{"num_key_value_heads", "num_key_value_heads_per_layer"};

struct Marker {
  std::string_view key;
  std::string_view what;
};

// Keys that only such models set; a value of null, false, 0 or [] means that the feature is off.
constexpr auto kMarkers = std::to_array<Marker>({
    {"num_local_experts", "mixture-of-experts layers"},
    {"num_experts", "mixture-of-experts layers"},
    {"n_routed_experts", "mixture-of-experts layers"},
    {"moe_intermediate_size", "mixture-of-experts layers"},
    {"moe_num_experts", "mixture-of-experts layers"},
    {"enable_moe_block", "mixture-of-experts layers"},
    {"kv_lora_rank", "multi-head latent attention (MLA)"},
    {"q_lora_rank", "multi-head latent attention (MLA)"},
    {"attn_layer_period", "hybrid layers"},
    {"hybrid_override_pattern", "hybrid layers"},
    {"layers_block_type", "hybrid layers"},
    {"block_types", "hybrid layers"},
    {"mamba_d_state", "hybrid layers (Mamba)"},
    {"mamba_d_ssm", "hybrid layers (Mamba)"},
    {"ssm_state_size", "hybrid layers (state space)"},
    {"state_size", "state-space layers"},
    {"linear_num_value_heads", "hybrid layers (linear attention)"},
    {"linear_attn_config", "hybrid layers (linear attention)"},
    {"conv_L_cache", "hybrid layers (convolution)"},
    {"num_kv_shared_layers", "layers that share a KV cache"},
});

bool is_off(const Json& value) {
  return value.is_null() || value == false || value == 0 || (value.is_array() && value.empty());
}

/// Refuses what would be costed as dense and is not. Says so by name, at the key that tells.
bool refuse_not_dense(HfReader& in, std::string_view model_type) {
  std::string_view kind = sparse_or_hybrid_kind(model_type);
  std::string_view key = "model_type";
  for (const Marker& marker : kMarkers) {
    const auto it = in.config.find(marker.key);
    if (!kind.empty() || it == in.config.end() || is_off(*it)) continue;
    kind = marker.what;
    key = marker.key;
  }
  if (kind.empty()) return false;
  in.wrong("hf-not-dense",
           fmt::format("{} has {} ({}): costing them as dense layers would be wrong", model_type, kind, key),
           key);
  return true;
}

/// The family, adjusted by what config.json says of biases and norms.
HfFamily adjusted(HfReader& in, HfFamily f) {
  if (!f.bias_key.empty()) {
    f.qkv_bias = in.flag({f.bias_key}, f.qkv_bias);
    f.output_bias = in.flag({f.bias_key}, f.output_bias);
  }
  if (f.model_type == "falcon" || f.model_type == "starcoder2") f.mlp_bias = f.output_bias;
  f.mlp_bias = in.flag({"mlp_bias"}, f.mlp_bias);
  f.tied = in.flag({"tie_word_embeddings"}, f.tied);
  if (f.model_type == "stablelm") {
    f.qkv_bias = in.flag({"use_qkv_bias"}, false);
    if (in.flag({"use_parallel_residual"}, false)) f.norms_per_layer = 1;
    if (in.flag({"qk_layernorm"}, false)) f.qk_norm = QkNorm::full;
  }
  if (f.model_type == "cohere" && in.flag({"use_qk_norm"}, false)) f.qk_norm = QkNorm::full;
  if (f.model_type == "internlm2") f.qkv_bias = f.output_bias = in.flag({"bias"}, false);
  if (f.model_type == "falcon") {
    const bool grouped = in.flag({"new_decoder_architecture"}, false);
    f.norms_per_layer = in.flag({"parallel_attn"}, true) ? 1 : 2;
    if (grouped) f.norms_per_layer = static_cast<int>(in.count({"num_ln_in_parallel_attn"}, 2).value_or(2));
  }
  return f;
}

struct LayerLists {
  std::vector<std::int64_t> heads, kv_heads, head_dim, ffn, window;
};

/// KV heads by layer. Missing means multi-head attention, but for Falcon's two switches.
std::vector<std::int64_t> read_kv_heads(HfReader& in, const HfFamily& f, const LayerLists& lists,
                                        std::size_t layers) {
  if (f.model_type == "falcon") {
    if (in.flag({"new_decoder_architecture"}, false)) {
      auto kv = in.per_layer({"num_kv_heads"}, layers, kMaxHeads);
      return kv.empty() ? lists.heads : kv;
    }
    return in.flag({"multi_query"}, true) ? std::vector<std::int64_t>(layers, 1) : lists.heads;
  }
  if (in.get(kKvHeads) == nullptr) {
    // Gemma 3's small configurations leave both counts to the class: 8 heads, 4 of them for keys and values.
    const bool both_left_out = f.model_type.starts_with("gemma3") && in.get(kHeads) == nullptr;
    return both_left_out ? std::vector<std::int64_t>(layers, 4) : lists.heads;
  }
  return in.per_layer(kKvHeads, layers, kMaxHeads);
}

std::vector<std::int64_t> read_head_dim(HfReader& in, const HfFamily& f, const LayerLists& lists,
                                        std::int64_t hidden) {
  const std::size_t layers = lists.heads.size();
  if (in.get({"head_dim"}) != nullptr) return in.per_layer({"head_dim"}, layers, kMaxHeads);
  if (f.head_dim != 0) return std::vector<std::int64_t>(layers, f.head_dim);
  std::vector<std::int64_t> result;
  for (const std::int64_t heads : lists.heads) {
    if (hidden % heads != 0) {
      in.wrong("hf-field-invalid",
               fmt::format("head_dim is missing and hidden_size ({}) is not a multiple of "
                           "num_attention_heads ({})",
                           hidden, heads),
               "num_attention_heads");
      return {};
    }
    result.push_back(hidden / heads);
  }
  return result;
}

/// Which layers slide, from layer_types when given, else by the family's rule.
std::vector<bool> sliding_layers(HfReader& in, const HfFamily& f, std::size_t layers) {
  std::vector<bool> slides(layers, false);
  if (const Json* types = in.get({"layer_types"})) {
    if (!types->is_array() || types->size() != layers) {
      in.wrong("hf-field-invalid", fmt::format("layer_types must list the type of each of {} layers", layers),
               "layer_types");
      return slides;
    }
    for (std::size_t i = 0; i < layers; ++i) {
      const Json& type = (*types)[i];
      slides[i] = type == "sliding_attention";
      if (slides[i] || type == "full_attention") continue;
      in.wrong("hf-not-dense",
               fmt::format("layer {} is of type {}; full_attention and sliding_attention are understood", i,
                           printable(write_json_line(type))),
               "layer_types");
      return slides;
    }
    return slides;
  }
  const std::int64_t pattern = in.count({"sliding_window_pattern"}, kMaxLayers).value_or(f.pattern);
  const std::int64_t first = in.get({"max_window_layers"}) == nullptr || in.config["max_window_layers"] == 0
                                 ? 0
                                 : in.count({"max_window_layers"}, kMaxLayers).value_or(0);
  for (std::size_t i = 0; i < layers; ++i) {
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

std::vector<std::int64_t> read_windows(HfReader& in, const HfFamily& f, std::size_t layers) {
  std::vector<std::int64_t> windows(layers, 0);
  const bool wanted = in.flag({"use_sliding_window"}, f.sliding != Sliding::from_layer);
  const std::vector<bool> slides = sliding_layers(in, f, layers);
  const std::vector<std::int64_t> window = in.per_layer({"sliding_window"}, layers, kMaxWindow);
  if (!wanted || !in.found.empty()) return windows;
  for (std::size_t i = 0; i < layers; ++i) {
    if (!slides[i]) continue;
    if (window.empty() && (f.sliding == Sliding::pattern || in.get({"layer_types"}) != nullptr)) {
      in.found.push_back(diagnose("hf-field-missing",
                                  fmt::format("sliding_window is missing, and layer {} slides", i),
                                  {in.file, 1, 1}));
      return windows;
    }
    if (!window.empty()) windows[i] = window[i];
  }
  return windows;
}

std::int64_t norm_parameters(NormKind kind, std::int64_t width) {
  return kind == NormKind::none ? 0 : kind == NormKind::weight ? width : 2 * width;
}

std::int64_t layer_parameters(const HfFamily& f, const Layer& l) {
  const std::int64_t q = l.num_heads * l.head_dim;
  const std::int64_t kv = l.num_kv_heads * l.head_dim;
  const std::int64_t up = l.activation == Activation::gated ? 2 : 1;
  std::int64_t sum = l.hidden_dim * (2 * q + 2 * kv) + (up + 1) * l.hidden_dim * l.ffn_dim;
  if (f.qkv_bias) sum += q + 2 * kv;
  if (f.output_bias) sum += l.hidden_dim;
  if (f.mlp_bias) sum += up * l.ffn_dim + l.hidden_dim;
  if (f.qk_norm == QkNorm::per_head) sum += 2 * l.head_dim;
  if (f.qk_norm == QkNorm::full) sum += q + kv;
  return sum + f.norms_per_layer * norm_parameters(f.norm, l.hidden_dim);
}

/// Every list, or some empty ones with the reasons in `in.found`.
LayerLists read_lists(HfReader& in, const HfFamily& f, std::int64_t hidden, std::size_t layers) {
  LayerLists lists;
  if (in.get(kHeads) == nullptr && f.model_type.starts_with("gemma3")) {
    lists.heads.assign(layers, 8);
  } else {
    if (in.get(kHeads) == nullptr) (void)in.need_count(kHeads, kMaxHeads);
    lists.heads = in.per_layer(kHeads, layers, kMaxHeads);
  }
  if (lists.heads.empty()) return lists;
  lists.kv_heads = read_kv_heads(in, f, lists, layers);
  lists.head_dim = read_head_dim(in, f, lists, hidden);
  constexpr HfReader::Names kFfn{"intermediate_size", "ffn_hidden_size", "n_inner"};
  lists.ffn = in.per_layer(kFfn, layers, kMaxDim);
  const bool four_times = f.model_type == "falcon" || f.model_type == "gpt2";
  if (in.get(kFfn) == nullptr && four_times) lists.ffn.assign(layers, 4 * hidden);
  if (in.get(kFfn) == nullptr && !four_times) (void)in.need_count(kFfn, kMaxDim);
  lists.window = read_windows(in, f, layers);
  return lists;
}

void build_layers(HfReader& in, const HfFamily& f, const LayerLists& lists, Transformer& model) {
  for (std::size_t i = 0; i < lists.heads.size(); ++i) {
    Layer layer;
    layer.hidden_dim = model.hidden_dim;
    layer.num_heads = lists.heads[i];
    layer.num_kv_heads = lists.kv_heads[i];
    layer.head_dim = lists.head_dim[i];
    layer.ffn_dim = lists.ffn[i];
    layer.window_size = lists.window[i];
    layer.use_qk_norm = f.qk_norm != QkNorm::none;
    layer.activation = f.activation;
    if (layer.num_heads * layer.head_dim > kMaxHeadsWidth) {
      in.wrong("hf-field-invalid",
               fmt::format("num_attention_heads ({}) times head_dim ({}) is more than {}", layer.num_heads,
                           layer.head_dim, format_grouped(kMaxHeadsWidth)),
               kHeads.first);
      return;
    }
    if (const Diagnostics wrong = validate(layer, in.at(kHeads.first)); !wrong.empty()) {
      in.found.insert(in.found.end(), wrong.begin(), wrong.end());
      return;
    }
    model.layers.push_back({layer, layer_parameters(f, layer)});
  }
}

Parsed<Transformer> build(HfReader& in, const HfFamily& base) {
  Transformer model;
  model.model_type = base.model_type;
  const HfFamily f = adjusted(in, base);
  model.tied_embeddings = f.tied;
  const auto hidden = in.need_count(kHidden, kMaxDim);
  const auto layers = in.need_count(kLayers, kMaxLayers);
  auto vocab = f.model_type.starts_with("gemma3") && in.get({"vocab_size"}) == nullptr
                   ? std::optional<std::int64_t>(262208)
                   : in.need_count({"vocab_size"}, kMaxDim);
  if (hidden && layers) {
    model.hidden_dim = *hidden;
    const LayerLists lists = read_lists(in, f, *hidden, static_cast<std::size_t>(*layers));
    if (in.found.empty()) build_layers(in, f, lists, model);
  }
  if (f.learned_positions) {
    const auto positions = in.need_count({"n_positions", "max_position_embeddings"}, kMaxDim);
    model.embedding_parameters = positions.value_or(0) * model.hidden_dim;
  }
  if (!in.found.empty()) return {std::nullopt, std::move(in.found)};
  model.vocab_size = *vocab;
  model.embedding_parameters += *vocab * *hidden;
  model.final_norm_parameters = norm_parameters(f.norm, *hidden);
  if (!f.tied) model.lm_head_parameters = *vocab * *hidden + (f.head_bias ? *vocab : 0);
  return {std::move(model), {}};
}

}  // namespace

Parsed<Transformer> parse_hf_config(std::string_view text, const std::string& file) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  auto document = parse_json(text, file);
  if (!document.ok()) return {std::nullopt, std::move(document.diagnostics)};
  const Json& root = *document.value;
  if (!root.is_object()) {
    return failed<Transformer>(diagnose("hf-no-model", "the document is not an object", {file, 1, 1}));
  }
  const auto nested = root.find("text_config");
  const bool has_nested = nested != root.end() && nested->is_object() && !root.contains("hidden_size");
  HfReader in{has_nested ? *nested : root, text,
              has_nested ? std::max<std::size_t>(text.find("\"text_config\""), 0) : 0, file};
  const Json* type = in.get({"model_type"});
  if (type == nullptr && has_nested && root.contains("model_type")) type = &root["model_type"];
  if (type == nullptr || !type->is_string()) {
    return failed<Transformer>(
        diagnose("hf-no-model", "model_type is missing or no text", in.at("model_type")));
  }
  const std::string model_type = type->get<std::string>();
  if (refuse_not_dense(in, printable(model_type))) return {std::nullopt, std::move(in.found)};
  const HfFamily* family = find_hf_family(model_type);
  if (family == nullptr) {
    std::vector<std::string_view> known;
    for (const HfFamily& each : hf_families()) known.push_back(each.model_type);
    return failed<Transformer>(
        diagnose("hf-model-type-unknown",
                 fmt::format("model_type '{}' is not known; known: {}", printable(cut_middle(model_type, 40)),
                             fmt::join(known, ", ")),
                 in.at("model_type")));
  }
  Parsed<Transformer> model = build(in, *family);
  if (model.ok() && has_nested) {
    model.value->notes.push_back("text_config alone is counted; other parts of the model are left out");
  }
  return model;
}

}  // namespace plumbline
