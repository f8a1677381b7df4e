// SPDX-License-Identifier: Apache-2.0
// The MLP of each layer of a config.json: its width, or its experts.
#include <fmt/format.h>

#include <algorithm>

#include "plumbline/model/hf_parts.h"

namespace plumbline::detail {
namespace {

constexpr HfReader::Names kExperts{"num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts",
                                   "ffn_config.moe_num_experts"};
constexpr HfReader::Names kActive{
    "num_experts_per_tok",   "experts_per_token",   "moe_k", "moe_topk", "top_k_experts",
    "num_experts_per_token", "ffn_config.moe_top_k"};
constexpr HfReader::Names kExpertWidth{"moe_intermediate_size", "ffn_config.ffn_hidden_size",
                                       "intermediate_size"};

constexpr HfReader::Names kLlama4Ffn{"intermediate_size_mlp", "intermediate_size"};

std::int64_t first_of(const std::vector<std::int64_t>& list) { return list.empty() ? 0 : list.front(); }

/// The width of the MLP that every token uses beside the routed experts.
std::int64_t shared_width(HfReader& in, const HfFamily& f, std::int64_t width, std::size_t layers) {
  if (is(f, "llama4")) return width;  // always one, as wide as an expert
  if (is(f, "gemma4")) return 0;      // its dense MLP is the layer's own
  if (const auto given = in.count({"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                                   "shared_intermediate_size"},
                                  kMaxHfDim, 0);
      given && (!is(f, "nemotron_h") || *given > 0)) {
    return *given * (is(f, "nemotron_h") ? in.count({"n_shared_experts"}, 64, 0).value_or(1) : 1);
  }
  const auto shared =
      in.per_layer({"n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert"},
                   layers, 4096, 0);
  return first_of(shared) * width;
}

/// Which layers have experts, by whichever of the rules config.json follows.
std::vector<bool> sparse_layers(HfReader& in, const HfFamily& f, std::size_t layers) {
  std::vector<bool> sparse(layers, true);
  const auto n = static_cast<std::int64_t>(layers);
  const auto set = [&](auto&& rule) {
    for (std::int64_t i = 0; i < n; ++i) sparse[static_cast<std::size_t>(i)] = rule(i);
  };
  if (const Json* types = in.get({"mlp_layer_types"});
      types != nullptr && types->is_array() && types->size() == layers) {
    set([&](std::int64_t i) { return (*types)[static_cast<std::size_t>(i)] == "sparse"; });
  } else if (is(f, "llama4")) {
    const Json* listed = in.get({"moe_layers"});
    const std::int64_t step = in.count({"interleave_moe_layer_step"}, kMaxHfLayers).value_or(1);
    set([&](std::int64_t i) {
      if (listed == nullptr || !listed->is_array()) return (i + 1) % step == 0;
      return std::find(listed->begin(), listed->end(), Json(i)) != listed->end();
    });
  } else if (const Json* freq = in.get({"moe_layer_freq"}); freq != nullptr && freq->is_array()) {
    const auto list = in.per_layer({"moe_layer_freq"}, layers, 1, 0);
    if (list.size() == layers) set([&](std::int64_t i) { return list[static_cast<std::size_t>(i)] != 0; });
  } else if (in.get({"moe_layer_start_index"}) != nullptr) {
    const auto low = in.count({"moe_layer_start_index"}, kMaxHfLayers, 0).value_or(0);
    const auto high = in.count({"moe_layer_end_index"}, kMaxHfLayers, -1).value_or(-1);
    const auto step = in.count({"moe_layer_interval"}, kMaxHfLayers).value_or(1);
    set([&](std::int64_t i) { return (i + 1) % step == 0 && i >= low && i <= (high < 0 ? n - 1 : high); });
  } else {
    const auto dense =
        in.count({"first_k_dense_replace", "first_num_dense_layers", "first_k_dense"}, kMaxHfLayers, 0)
            .value_or(0);
    const auto step = in.count({"decoder_sparse_step", "moe_layer_freq"}, kMaxHfLayers).value_or(1);
    const bool counts_from_one = in.get({"decoder_sparse_step"}) != nullptr;
    set([&](std::int64_t i) { return i >= dense && (i + (counts_from_one ? 1 : 0)) % step == 0; });
  }
  if (const Json* only = in.get({"mlp_only_layers"}); only != nullptr && only->is_array()) {
    for (const Json& each : *only) {
      if (each.is_number_unsigned() && each.get<std::size_t>() < layers)
        sparse[each.get<std::size_t>()] = false;
    }
  }
  return sparse;
}

void read_experts(HfReader& in, const HfFamily& f, std::int64_t hidden, std::vector<LayerFacts>& layers) {
  if (f.extra == HfExtra::gemma4 && !in.flag({"enable_moe_block"}, false)) return;
  if (in.get(kExperts) == nullptr) {
    // a hybrid or Gemma model without experts is one of the dense members of its family
    if (f.extra == HfExtra::none && !f.latent) (void)in.need_count(kExperts, kMaxHfExperts);
    return;
  }
  in.agree(kExperts);
  in.agree(kActive);
  const auto counts = in.per_layer(kExperts, layers.size(), kMaxHfExperts, 0);
  if (counts.empty() || first_of(counts) == 0) return;
  const auto active = in.get(kActive) == nullptr ? std::vector<std::int64_t>{}
                                                 : in.per_layer(kActive, layers.size(), kMaxHfExperts);
  if (in.get(kActive) == nullptr) (void)in.need_count(kActive, kMaxHfExperts);
  const auto width = in.per_layer(kExpertWidth, layers.size(), kMaxHfDim);
  const std::vector<bool> sparse = sparse_layers(in, f, layers.size());
  if (width.empty()) {
    if (in.get(kExpertWidth) == nullptr) (void)in.need_count(kExpertWidth, kMaxHfDim);
    return;
  }
  if (!in.found.empty() || active.empty()) return;
  const std::int64_t shared = shared_width(in, f, width.front(), layers.size());
  const std::int64_t input = in.count({"moe_latent_size"}, kMaxHfDim).value_or(hidden);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!sparse[i] || !layers[i].mlp) continue;
    if (active[i] > counts[i]) {
      in.wrong("hf-field-invalid",
               fmt::format("{} ({}) is more than the {} experts", *kActive.begin(), active[i], counts[i]),
               *kActive.begin());
      return;
    }
    layers[i].experts = {counts[i], active[i], width[i], input, shared};
  }
}

/// Nemotron-NAS: the width as a multiple of the hidden size, rounded up to 256.
void read_blocks(HfReader& in, std::int64_t hidden, std::vector<LayerFacts>& layers) {
  const Json& blocks = *in.get({"block_configs"});
  for (std::size_t i = 0; i < layers.size() && i < blocks.size(); ++i) {
    const auto ffn = blocks[i].is_object() ? blocks[i].find("ffn") : blocks[i].end();
    if (!blocks[i].is_object() || ffn == blocks[i].end() || !ffn->is_object()) {
      in.wrong("hf-field-invalid", fmt::format("block_configs[{}] has no ffn", i), "block_configs");
      return;
    }
    if (ffn->value("no_op", false) == true) {
      layers[i].mlp = false;
      continue;
    }
    const auto times = ffn->find("ffn_mult");
    if (times == ffn->end() || !times->is_number() ||
        !(times->get<double>() > 0 && times->get<double>() < 1000)) {
      in.wrong("hf-field-invalid", fmt::format("block_configs[{}].ffn.ffn_mult must be a positive number", i),
               "block_configs");
      return;
    }
    const auto width = static_cast<std::int64_t>(2 * times->get<double>() * static_cast<double>(hidden) / 3);
    layers[i].ffn = (width + 255) / 256 * 256;
  }
}

}  // namespace

void read_mlp(HfReader& in, const HfFamily& f, std::int64_t hidden, std::vector<LayerFacts>& layers) {
  if (f.experts) read_experts(in, f, hidden, layers);
  if (!in.found.empty()) return;
  if (in.get({"block_configs"}) != nullptr) return read_blocks(in, hidden, layers);
  const bool all_sparse = std::all_of(layers.begin(), layers.end(), [](const LayerFacts& layer) {
    return !layer.mlp || layer.experts.count > 0;
  });
  if (all_sparse && f.extra != HfExtra::gemma4) return;
  const HfReader::Names names = is(f, "llama4") ? kLlama4Ffn : kHfFfn;
  std::vector<std::int64_t> width = in.per_layer(names, layers.size(), kMaxHfDim);
  if (in.get(names) == nullptr) {
    const auto times = in.count({"expansion_ratio"}, 64).value_or(f.ffn_times);
    const std::int64_t otherwise = times > 0 ? times * hidden : f.defaults.ffn;
    if (otherwise > 0) width.assign(layers.size(), otherwise);
    if (otherwise == 0) (void)in.need_count(names, kMaxHfDim);
  }
  if (width.empty()) return;
  const bool wide = f.extra == HfExtra::gemma4 && in.flag({"use_double_wide_mlp"}, false);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].ffn = width[i] * (wide && layers[i].shares_kv ? 2 : 1);
  }
}

}  // namespace plumbline::detail
