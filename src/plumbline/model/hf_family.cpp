// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/hf_family.h"

#include <array>
#include <vector>

namespace plumbline {
namespace {

constexpr Activation kPlain = Activation::plain;

std::vector<HfFamily> make_families() {
  std::vector<HfFamily> all;
  for (const std::string_view type : {"llama", "granite", "internlm2", "deci"})
    all.push_back({.model_type = type});
  all.push_back({.model_type = "smollm3", .tied = true});
  all.push_back({.model_type = "arcee", .activation = kPlain});
  for (const std::string_view type : {"mistral", "ministral"}) {
    all.push_back({.model_type = type, .sliding = Sliding::all});
  }
  for (const std::string_view type :
       {"qwen2", "qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text"}) {
    all.push_back({.model_type = type, .qkv_bias = true, .sliding = Sliding::from_layer, .bias_key = ""});
  }
  for (const std::string_view type : {"qwen3", "qwen3_vl_text"}) {
    all.push_back(
        {.model_type = type, .qk_norm = QkNorm::per_head, .sliding = Sliding::from_layer, .head_dim = 128});
  }
  all.push_back({.model_type = "gemma", .tied = true, .head_dim = 256});
  all.push_back({.model_type = "gemma2",
                 .norms_per_layer = 4,
                 .tied = true,
                 .sliding = Sliding::pattern,
                 .pattern = 2,
                 .head_dim = 256});
  for (const std::string_view type : {"gemma3_text", "gemma3"}) {
    all.push_back({.model_type = type,
                   .norms_per_layer = 4,
                   .qk_norm = QkNorm::per_head,
                   .tied = true,
                   .sliding = Sliding::pattern,
                   .pattern = 6,
                   .head_dim = 256});
  }
  all.push_back({.model_type = "phi",
                 .activation = kPlain,
                 .norm = NormKind::weight_bias,
                 .norms_per_layer = 1,
                 .qkv_bias = true,
                 .output_bias = true,
                 .mlp_bias = true,
                 .head_bias = true,
                 .bias_key = ""});
  all.push_back({.model_type = "phi3", .sliding = Sliding::all});
  all.push_back({.model_type = "olmo", .norm = NormKind::none});
  all.push_back({.model_type = "olmo2", .qk_norm = QkNorm::full});
  all.push_back({.model_type = "olmo3", .qk_norm = QkNorm::full, .sliding = Sliding::pattern, .pattern = 4});
  all.push_back({.model_type = "falcon",
                 .activation = kPlain,
                 .norm = NormKind::weight_bias,
                 .tied = true,
                 .bias_key = "bias"});
  all.push_back({.model_type = "gpt_neox",
                 .activation = kPlain,
                 .norm = NormKind::weight_bias,
                 .qkv_bias = true,
                 .output_bias = true,
                 .mlp_bias = true});
  all.push_back({.model_type = "gpt2",
                 .activation = kPlain,
                 .norm = NormKind::weight_bias,
                 .qkv_bias = true,
                 .output_bias = true,
                 .mlp_bias = true,
                 .tied = true,
                 .bias_key = "",
                 .learned_positions = true});
  all.push_back({.model_type = "starcoder2",
                 .activation = kPlain,
                 .norm = NormKind::weight_bias,
                 .qkv_bias = true,
                 .output_bias = true,
                 .mlp_bias = true,
                 .tied = true,
                 .sliding = Sliding::all,
                 .bias_key = "use_bias"});
  all.push_back({.model_type = "stablelm", .norm = NormKind::weight_bias, .bias_key = ""});
  all.push_back({.model_type = "nemotron", .activation = kPlain, .norm = NormKind::weight_bias});
  all.push_back({.model_type = "cohere", .norms_per_layer = 1, .tied = true});
  all.push_back({.model_type = "cohere2",
                 .norms_per_layer = 1,
                 .tied = true,
                 .sliding = Sliding::pattern,
                 .pattern = 4});
  return all;
}

struct Kind {
  std::string_view model_type;
  std::string_view what;
};

constexpr std::string_view kMoe = "mixture-of-experts layers";
constexpr std::string_view kMla = "multi-head latent attention (MLA)";
constexpr std::string_view kHybrid = "recurrent or hybrid layers";

constexpr auto kKinds = std::to_array<Kind>({
    {"mixtral", kMoe},
    {"dbrx", kMoe},
    {"gpt_oss", kMoe},
    {"olmoe", kMoe},
    {"llama4", kMoe},
    {"llama4_text", kMoe},
    {"grok-1", kMoe},
    {"jetmoe", kMoe},
    {"arctic", kMoe},
    {"deepseek", kMoe},
    {"deepseek_v2", kMla},
    {"deepseek_v3", kMla},
    {"kimi_k2", kMla},
    {"minicpm3", kMla},
    {"jamba", kHybrid},
    {"mamba", kHybrid},
    {"mamba2", kHybrid},
    {"falcon_mamba", kHybrid},
    {"falcon_h1", kHybrid},
    {"bamba", kHybrid},
    {"zamba", kHybrid},
    {"zamba2", kHybrid},
    {"recurrent_gemma", kHybrid},
    {"nemotron_h", kHybrid},
    {"granitemoehybrid", kHybrid},
    {"qwen3_next", kHybrid},
    {"lfm2", kHybrid},
    {"rwkv", kHybrid},
    {"minimax", kHybrid},
    {"kimi_linear", kHybrid},
});

}  // namespace

std::span<const HfFamily> hf_families() {
  static const std::vector<HfFamily> families = make_families();
  return families;
}

const HfFamily* find_hf_family(std::string_view model_type) {
  for (const HfFamily& family : hf_families()) {
    if (family.model_type == model_type) return &family;
  }
  return nullptr;
}

std::string_view sparse_or_hybrid_kind(std::string_view model_type) {
  for (const Kind& kind : kKinds) {
    if (kind.model_type == model_type) return kind.what;
  }
  return model_type.find("moe") != model_type.npos ? kMoe : std::string_view{};
}

}  // namespace plumbline
