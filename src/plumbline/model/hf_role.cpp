// SPDX-License-Identifier: Apache-2.0
// What a config.json says of its model as a whole: what it is for, what its family's switches are, and why
// its layers cannot be timed.
#include <fmt/format.h>

#include <algorithm>

#include "plumbline/base/text.h"
#include "plumbline/model/hf_parts.h"

namespace plumbline::detail {

Role read_role(HfReader& in, Transformer& model) {
  Role role;
  const Json* list = in.get({"architectures"});
  if (const auto top = in.root.find("architectures"); top != in.root.end() && !top->is_null()) list = &*top;
  if (list != nullptr && list->is_array() && !list->empty() && list->front().is_string()) {
    model.architecture = printable(cut_middle(list->front().get<std::string>(), 80));
  }
  const bool names =
      list == nullptr || (list->is_array() && std::all_of(list->begin(), list->end(),
                                                          [](const Json& each) { return each.is_string(); }));
  if (!names) in.wrong("hf-field-invalid", "architectures must be a list of class names", "architectures");
  const std::string_view a = model.architecture;
  const auto has = [&](std::string_view word) { return a.find(word) != a.npos; };
  if (has("ForSequenceClassification") || has("ForTokenClassification") || has("RewardModel") ||
      has("ForScore")) {
    role.head = HeadKind::classifier;
    role.deep_head = has("RewardModel") && a.starts_with("Qwen2");
    role.head_bias = has("ForTokenClassification");
  } else if (has("Eagle")) {
    role.eagle = has("Eagle3") ? 3 : 1;
  } else if (a.ends_with("Model") || has("Embedding")) {
    role.head = HeadKind::none;
  }
  const Json* both = in.get({"use_bidirectional_attention"});
  const bool bidirectional = both != nullptr && (*both == true || *both == "all");
  const Json* causal = in.get({"is_causal"});
  role.bidirectional = bidirectional || (causal != nullptr && *causal == false) || has("Bidirectional") ||
                       has("NVEmbed") ||
                       (in.get({"bidirectional"}) != nullptr && *in.get({"bidirectional"}) == true);
  return role;
}

HfFamily adjusted(HfReader& in, HfFamily f) {
  if (!f.bias_key.empty()) {
    f.qkv_bias = in.flag({f.bias_key}, f.qkv_bias);
    f.output_bias = in.flag({f.bias_key}, f.output_bias);
  }
  if (is(f, "chatglm")) f.qkv_bias = true;
  if (!f.qkv_bias_key.empty()) f.qkv_bias = in.flag({f.qkv_bias_key}, f.qkv_bias);
  if (!f.output_bias_key.empty()) f.output_bias = in.flag({f.output_bias_key}, f.output_bias);
  f.mlp_bias = in.flag({f.mlp_bias_key}, f.mlp_bias);
  f.head_bias = in.flag({"lm_head_bias"}, f.head_bias);
  const auto top = in.root.find("tie_word_embeddings");
  f.tied = in.get({"tie_word_embeddings"}) == nullptr && top != in.root.end() && top->is_boolean()
               ? top->get<bool>()
               : in.flag({"tie_word_embeddings"}, f.tied);
  if (!f.qk_norm_key.empty() && in.flag({f.qk_norm_key}, false)) f.qk_norm = QkNorm::per_head;
  if (is(f, "stablelm")) {
    if (in.flag({"use_parallel_residual"}, false)) f.norms_per_layer = 1;
    if (in.flag({"qk_layernorm"}, false)) f.qk_norm = QkNorm::full;
  }
  if (is(f, "cohere") && in.flag({"use_qk_norm"}, false)) f.qk_norm = QkNorm::full;
  if (f.model_types.find("internlm2") != f.model_types.npos &&
      in.word("model_type").starts_with("internlm")) {
    f.qkv_bias = f.output_bias = in.flag({"bias"}, false);
  }
  if (is(f, "minimax_m2")) {
    if (in.word("qk_norm_type") == "per_head") f.qk_norm = QkNorm::per_head;
    if (!in.flag({"use_qk_norm"}, true)) f.qk_norm = QkNorm::none;
    f.score_bias = in.flag({"use_routing_bias"}, true);
  }
  if (is(f, "deepseek_v2") && in.word("topk_method") == "noaux_tc") f.score_bias = true;
  if (is(f, "falcon")) {
    const bool grouped = in.flag({"new_decoder_architecture"}, false);
    f.parallel = in.flag({"parallel_attn"}, true);
    f.norms_per_layer = f.parallel ? 1 : 2;
    if (grouped) f.norms_per_layer = static_cast<int>(in.count({"num_ln_in_parallel_attn"}, 2).value_or(2));
  }
  return f;
}

std::string unlisted_reason(const HfFamily& f, const LayerFacts& l, const TransformerLayer& layer) {
  if (l.mixer == Mixer::gated_delta)
    return "gated delta (linear attention) layers: no kernel of them was measured";
  if (l.mixer == Mixer::mamba2) return "Mamba-2 layers: no kernel of them was measured";
  if (!layer.causal) return "bidirectional attention: only causal attention was measured";
  if (l.cross) return "cross-attention: no kernel of it was measured";
  if (l.sparse) return "attention to keys that an indexer chooses: no kernel of it was measured";
  if (layer.latent.kv_rank == 0 && layer.value_dim != layer.shape.head_dim)
    return "values narrower than keys: no attention kernel of that kind was measured";
  if (l.shares_kv || l.keys_are_values) return "layers that share a KV cache";
  if (f.extra == HfExtra::gemma3n) return "AltUp and LAuReL: no kernel of them was measured";
  if (f.extra == HfExtra::gemma4 && layer.experts.count > 0)
    return "experts beside a dense MLP: no kernel of them was measured";
  if (layer.experts.count > 0 && layer.experts.input != layer.shape.hidden_dim)
    return "experts of a latent width: no kernel of them was measured";
  return {};
}

std::string untimed_reason(const TransformerLayer& layer) {
  const auto low = [&](const WeightFormat& p) { return p.name != "bf16"; };
  if (!layer.unlisted.empty()) return layer.unlisted;
  if (layer.latent.kv_rank > 0) return "latent attention (MLA): no kernel of it is in this model";
  if (layer.experts.count > 0) return "mixture-of-experts layers: no kernel of them is in this model";
  if (low(layer.attention) || low(layer.mlp)) {
    const WeightFormat& p = low(layer.attention) ? layer.attention : layer.mlp;
    return fmt::format("weights in {}: no kernel of that precision is in this model", p.name);
  }
  if (!layer.has_attention || !layer.has_mlp) return "layers without attention or without an MLP";
  return {};
}

}  // namespace plumbline::detail
