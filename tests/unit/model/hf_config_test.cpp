// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/hf_config.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace plumbline {
namespace {

using testing::HasSubstr;

std::string config_text(const std::string& name) {
  std::ifstream file(std::string(PLUMBLINE_SOURCE_DIR "/tests/unit/model/configs/") + name + ".json");
  std::ostringstream all;
  all << file.rdbuf();
  EXPECT_FALSE(all.str().empty()) << name;
  return all.str();
}

Transformer model_of(const std::string& name) {
  auto parsed = parse_hf_config(config_text(name), name);
  EXPECT_TRUE(parsed.ok()) << name
                           << (parsed.diagnostics.empty() ? "" : ": " + parsed.diagnostics[0].message);
  return parsed.value.value_or(Transformer{});
}

/// The Llama configuration with some fields replaced (null removes a field).
Parsed<Transformer> with(const nlohmann::json& changes, const std::string& base = "llama-3.1-8b") {
  auto config = nlohmann::json::parse(config_text(base));
  for (const auto& [key, value] : changes.items()) {
    if (value.is_null()) {
      config.erase(key);
    } else {
      config[key] = value;
    }
  }
  return parse_hf_config(config.dump(1), "config.json");
}

// Published counts: model cards, or the sum over the published checkpoint's tensors.
TEST(HfConfig, PublicParameterCountsAreExact) {
  const std::map<std::string, std::int64_t> counts{
      {"llama-2-7b", 6'738'415'616},
      {"llama-3.1-8b", 8'030'261'248},
      {"qwen3-4b", 4'022'468'096},
      {"gemma-2-9b", 9'241'705'984},
      {"mistral-small-24b", 23'572'403'200},
      {"qwen1.5-72b", 72'287'920'128},
      {"gemma-3-1b", 999'885'952},
      {"falcon-7b", 6'921'720'704},
      {"phi-2", 2'779'683'840},
      {"phi-3-mini-4k", 3'821'079'552},
      {"olmo-7b", 6'888'095'744},
      {"olmo-2-7b", 7'298'617'344},
      {"gpt2", 124'439'808},
      {"pythia-6.9b", 6'857'302'016},
  };
  for (const auto& [name, count] : counts) EXPECT_EQ(parameter_count(model_of(name)), count) << name;
}

TEST(HfConfig, KeyValueCache) {
  EXPECT_EQ(kv_bytes_per_token(model_of("mistral-small-24b")), 163'840);
  // 62 layers, every 6th global, window 1024, 16 KV heads of 128, at 131,072 tokens: 10.40625 GiB.
  EXPECT_EQ(kv_bytes(model_of("gemma-3-27b"), 131'072), 11'173'625'856);
  EXPECT_EQ(static_cast<double>(kv_bytes(model_of("gemma-3-27b"), 131'072)) / (1 << 30), 10.40625);
}

TEST(HfConfig, CausalAttentionFlops) {
  Layer layer{"", 4096, 32, 8, 128, 14336, 8192, 1};
  EXPECT_EQ(attention_flops(layer), Count{549'822'922'752});
  layer.window_size = 1024;
  EXPECT_EQ(attention_flops(layer), Count{128'857'407'488});
  layer.window_size = 8192;
  EXPECT_EQ(attention_flops(layer), Count{549'822'922'752});
  layer.phase = Phase::decode;
  layer.window_size = 1024;
  EXPECT_EQ(attention_flops(layer), Count{4} * 1024 * 128 * 32);
}

TEST(HfConfig, HeadDimIsReadAndNotDerived) {
  EXPECT_EQ(model_of("qwen3-4b").layers[0].shape.head_dim, 128);  // 2560 / 32 would be 80
  EXPECT_EQ(with({{"head_dim", nullptr}}, "qwen3-4b").value->layers[0].shape.head_dim, 128);
  EXPECT_EQ(with({{"num_attention_heads", 64}}).value->layers[0].shape.head_dim, 64);
  EXPECT_EQ(with({{"num_attention_heads", 48}}).diagnostics.at(0).code, "hf-field-invalid");
}

TEST(HfConfig, MissingKeyValueHeadsMeanMultiHeadAttention) {
  EXPECT_EQ(with({{"num_key_value_heads", nullptr}}).value->layers[0].shape.num_kv_heads, 32);
}

TEST(HfConfig, TiedEmbeddingsAreCountedOnce) {
  const auto untied = with({{"tie_word_embeddings", false}});
  const auto tied = with({{"tie_word_embeddings", true}});
  EXPECT_EQ(parameter_count(*untied.value) - parameter_count(*tied.value), 128256LL * 4096);
  EXPECT_EQ(with({{"tie_word_embeddings", nullptr}}).value->tied_embeddings, false);
  EXPECT_EQ(model_of("gemma-2-9b").tied_embeddings, true);
}

std::string windows(const Transformer& model) {
  std::string out;
  for (const TransformerLayer& layer : model.layers) out += layer.shape.window_size > 0 ? 's' : 'G';
  return out;
}

TEST(HfConfig, SlidingWindows) {
  EXPECT_THAT(windows(model_of("gemma-2-9b")), testing::StartsWith("sGsGsG"));
  EXPECT_THAT(windows(model_of("gemma-3-27b")), testing::StartsWith("sssssGsssssG"));
  EXPECT_EQ(windows(model_of("phi-3-mini-4k")), std::string(32, 's'));
  EXPECT_EQ(windows(model_of("qwen1.5-72b")), std::string(80, 'G'));  // use_sliding_window: false
  const nlohmann::json sliding{
      {"use_sliding_window", true}, {"sliding_window", 4096}, {"max_window_layers", 70}};
  EXPECT_EQ(windows(*with(sliding, "qwen1.5-72b").value), std::string(70, 'G') + std::string(10, 's'));
  EXPECT_EQ(windows(*with({{"sliding_window", 4096}}, "mistral-small-24b").value), std::string(40, 's'));
  EXPECT_EQ(windows(*with({{"sliding_window_pattern", 3}, {"sliding_window", 64}}, "gemma-3-1b").value),
            "ssGssGssGssGssGssGssGssGss");
  const nlohmann::json listed{{"num_hidden_layers", 3},
                              {"sliding_window", 512},
                              {"layer_types", {"full_attention", "sliding_attention", "full_attention"}}};
  EXPECT_EQ(windows(*with(listed).value), "GsG");
}

TEST(HfConfig, PerLayerLists) {
  const auto parsed = with({{"num_hidden_layers", 3},
                            {"num_key_value_heads", {8, 4, 1}},
                            {"head_dim", {128, 128, 64}},
                            {"intermediate_size", {1000, 2000, 3000}}});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value->layers[1].shape.num_kv_heads, 4);
  EXPECT_EQ(parsed.value->layers[2].shape.head_dim, 64);
  EXPECT_EQ(parsed.value->layers[2].shape.ffn_dim, 3000);
  EXPECT_EQ(kv_bytes_per_token(*parsed.value), 4 * (8 * 128 + 4 * 128 + 64));
  const auto wrong = with({{"num_key_value_heads", {8, 4}}});
  ASSERT_EQ(wrong.diagnostics.size(), 1u);
  EXPECT_THAT(wrong.diagnostics[0].message, HasSubstr("lists 2 values, and there are 32 layers"));
}

TEST(HfConfig, GatedAndPlainMlpsAreToldByModelType) {
  for (const char* name : {"phi-2", "falcon-7b", "gpt2", "pythia-6.9b"}) {
    EXPECT_EQ(model_of(name).layers[0].shape.activation, Activation::plain) << name;
  }
  for (const char* name : {"llama-2-7b", "phi-3-mini-4k", "gemma-2-9b", "olmo-7b"}) {
    EXPECT_EQ(model_of(name).layers[0].shape.activation, Activation::gated) << name;
  }
}

TEST(HfConfig, QuantisationIsReadLayerByLayerWithItsExceptions) {
  const nlohmann::json fp8{
      {"quant_method", "fp8"},
      {"weight_block_size", {128, 128}},
      {"modules_to_not_convert", {"lm_head", "model.layers.3.self_attn", "model.layers.5.mlp"}}};
  const auto parsed = with({{"quantization_config", fp8}});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value->layers[0].attention.name, "fp8_block");
  EXPECT_EQ(parsed.value->layers[3].attention.name, "bf16");
  EXPECT_EQ(parsed.value->layers[3].mlp.name, "fp8_block");
  EXPECT_EQ(parsed.value->layers[5].mlp.name, "bf16");
  EXPECT_EQ(parsed.value->layers[31].mlp.name, "fp8_block");
  EXPECT_LT(weight_bytes(*parsed.value), weight_bytes(model_of("llama-3.1-8b")) * 0.6);
  EXPECT_THAT(untimed_reason(*parsed.value).value_or(""), HasSubstr("fp8_block"));
  const auto regex =
      with({{"quantization_config",
             {{"quant_method", "compressed-tensors"},
              {"config_groups",
               {{"group_0", {{"weights", {{"num_bits", 4}, {"type", "int"}, {"group_size", 128}}}}}}},
              {"ignore", {"re:.*self_attn.*"}}}}});
  ASSERT_TRUE(regex.ok());
  EXPECT_EQ(regex.value->layers[0].attention.name, "bf16");
  EXPECT_EQ(regex.value->layers[0].mlp.name, "int4_wo");
  EXPECT_EQ(with({{"quantization_config", {{"quant_method", "magic"}}}}).diagnostics.at(0).code,
            "hf-quantization-unknown");
}

TEST(HfConfig, ArchitecturesDecideTheHead) {
  const std::int64_t whole = parameter_count(model_of("llama-3.1-8b"));
  const std::int64_t head = 128256LL * 4096;
  const auto embedding = with({{"architectures", {"LlamaBidirectionalModel"}}});
  EXPECT_EQ(parameter_count(*embedding.value), whole - head);
  EXPECT_FALSE(embedding.value->layers[0].causal);
  EXPECT_TRUE(untimed_reason(*embedding.value).has_value());
  const auto reward = with({{"architectures", {"LlamaForSequenceClassification"}}, {"num_labels", 1}});
  EXPECT_EQ(parameter_count(*reward.value), whole - head + 4096);
}

TEST(HfConfig, InfinitiesAndWindowsOfNothingAreNoValue) {
  std::string text = config_text("llama-3.1-8b");
  text.insert(text.find('{') + 1, "\"time_step_limit\": [0.0, Infinity], \"low\": -Infinity, \"bad\": NaN, ");
  EXPECT_TRUE(parse_hf_config(text, "config.json").ok());
  for (const int none : {0, -1}) {
    EXPECT_EQ(windows(*with({{"sliding_window", none}}, "mistral-small-24b").value), std::string(40, 'G'))
        << none;
  }
}

TEST(HfConfig, WhatIsNotDenseIsRefusedByName) {
  const std::vector<std::pair<nlohmann::json, const char*>> cases{
      {{{"num_local_experts", 8}}, "mixture-of-experts"},
      {{{"n_routed_experts", 64}}, "mixture-of-experts"},
      {{{"kv_lora_rank", 512}}, "MLA"},
      {{{"model_type", "jamba"}}, "hybrid"},
      {{{"mamba_d_state", 16}}, "Mamba"},
      {{{"layer_types", std::vector<std::string>(32, "linear_attention")}}, "linear_attention"},
  };
  for (const auto& [changes, word] : cases) {
    const auto parsed = with(changes);
    ASSERT_FALSE(parsed.ok()) << changes;
    ASSERT_EQ(parsed.diagnostics.size(), 1u) << changes;
    EXPECT_EQ(parsed.diagnostics[0].code, "hf-not-dense") << changes;
    EXPECT_THAT(parsed.diagnostics[0].message, HasSubstr(word));
    EXPECT_GT(parsed.diagnostics[0].line, 1) << changes;
  }
  EXPECT_TRUE(with({{"num_local_experts", 0}}).ok());
  EXPECT_EQ(with({{"model_type", "warp"}}).diagnostics.at(0).code, "hf-model-type-unknown");
  EXPECT_EQ(with({{"model_type", nullptr}}).diagnostics.at(0).code, "hf-no-model");
}

TEST(HfConfig, EveryFieldWithEveryBadValueGivesOneDiagnosticThatNamesIt) {
  for (const char* key : {"hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers",
                          "num_key_value_heads", "vocab_size", "head_dim"}) {
    for (const nlohmann::json& bad : std::vector<nlohmann::json>{0, -1, 1e30, 99999999999999999ULL, 2.5,
                                                                 "4096", true, nlohmann::json::object()}) {
      const auto parsed = with({{key, bad}});
      ASSERT_FALSE(parsed.ok()) << key << " " << bad;
      ASSERT_EQ(parsed.diagnostics.size(), 1u) << key << " " << bad;
      EXPECT_EQ(parsed.diagnostics[0].code, "hf-field-invalid");
      EXPECT_THAT(parsed.diagnostics[0].message, HasSubstr(key));
      EXPECT_GT(parsed.diagnostics[0].line, 1);
    }
  }
  for (const char* key :
       {"hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers", "vocab_size"}) {
    const auto parsed = with({{key, nullptr}});
    ASSERT_EQ(parsed.diagnostics.size(), 1u) << key;
    EXPECT_EQ(parsed.diagnostics[0].code, "hf-field-missing");
    EXPECT_THAT(parsed.diagnostics[0].message, HasSubstr(key));
  }
  for (const char* key : {"tie_word_embeddings", "attention_bias", "mlp_bias"}) {
    EXPECT_EQ(with({{key, "yes"}}).diagnostics.at(0).code, "hf-field-invalid") << key;
  }
  EXPECT_EQ(with({{"num_key_value_heads", 5}}).diagnostics.at(0).code, "layer-heads-not-divisible");
}

TEST(HfConfig, FieldsThatContradictEachOtherAreOneDiagnostic) {
  const nlohmann::json experts{{"model_type", "mixtral"},
                               {"num_local_experts", 8},
                               {"num_experts_per_tok", 2},
                               {"intermediate_size", 14336}};
  auto both = experts;
  both["num_experts"] = 8;
  EXPECT_TRUE(with(both).ok()) << "two spellings of one number";
  both["num_experts"] = 16;
  const auto parsed = with(both);
  ASSERT_EQ(parsed.diagnostics.size(), 1u);
  EXPECT_EQ(parsed.diagnostics[0].code, "hf-field-invalid");
  EXPECT_THAT(parsed.diagnostics[0].message, HasSubstr("num_local_experts is 8 and num_experts is 16"));
  EXPECT_GT(parsed.diagnostics[0].line, 1);
  for (const nlohmann::json& bad : std::vector<nlohmann::json>{"LlamaForCausalLM", 5, {5}}) {
    const auto named = with({{"architectures", bad}});
    ASSERT_EQ(named.diagnostics.size(), 1u) << bad;
    EXPECT_THAT(named.diagnostics[0].message, HasSubstr("architectures"));
  }
}

TEST(HfConfig, ATruncatedFileIsASyntaxErrorWhereverItEnds) {
  const std::string whole = config_text("gemma-3-27b");
  const std::size_t end = whole.find_last_of('}');
  for (std::size_t size = 0; size < end; ++size) {
    const auto parsed = parse_hf_config(whole.substr(0, size), "config.json");
    ASSERT_FALSE(parsed.ok()) << size;
    ASSERT_EQ(parsed.diagnostics.size(), 1u);
    EXPECT_EQ(parsed.diagnostics[0].code, "json-syntax");
  }
  EXPECT_EQ(parse_hf_config("[]", "x").diagnostics.at(0).code, "hf-no-model");
}

}  // namespace
}  // namespace plumbline
