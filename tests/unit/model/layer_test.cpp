// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/layer.h"

#include <gmock/gmock.h>

namespace plumbline {
namespace {

using testing::HasSubstr;

Layer llama() { return {"llama", 4096, 32, 8, 128, 14336, 2048, 1}; }

TEST(Layer, AValidLayerHasNoDiagnostics) { EXPECT_TRUE(validate(llama()).empty()); }

TEST(Layer, EveryFieldIsHeldToItsRangeAndNamed) {
  for (const LayerField& field : layer_fields()) {
    Layer layer = llama();
    layer.*field.member = field.max + 1;
    Diagnostics found = validate(layer, {"f.csv", 3, 4});
    ASSERT_EQ(found.size(), 1u) << field.name;
    EXPECT_EQ(found[0].code, "layer-field-out-of-range");
    EXPECT_THAT(found[0].message, HasSubstr(std::string(field.name)));
    EXPECT_EQ(found[0].line, 3);
    for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{INT64_MIN}}) {
      layer.*field.member = bad;
      found = validate(layer);
      if (field.name == "window_size") {
        EXPECT_TRUE(found.empty());
        continue;
      }
      ASSERT_EQ(found.size(), 1u) << field.name;
      EXPECT_EQ(found[0].code, "layer-field-not-positive");
      EXPECT_THAT(found[0].message, HasSubstr(std::string(field.name)));
    }
  }
}

TEST(Layer, HeadsMustBeSharedEvenly) {
  Layer layer = llama();
  layer.num_kv_heads = 5;
  const Diagnostics found = validate(layer);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "layer-heads-not-divisible");
}

TEST(Layer, FieldsAreFoundByName) {
  EXPECT_EQ(find_layer_field("ffn_dim")->member, &Layer::ffn_dim);
  EXPECT_EQ(find_layer_field("ffn"), nullptr);
}

Layer experts() {
  Layer layer = llama();
  layer.experts = 64;
  layer.topk = 6;
  layer.moe_ffn_dim = 1408;
  layer.shared_experts = 2;
  settle(layer);
  return layer;
}

TEST(Layer, WhatFollowsIsSetAndHeldToTheRest) {
  Layer layer = experts();
  EXPECT_EQ(layer.shared_ffn_dim, 1408);
  EXPECT_EQ(layer.ffn_dim, (6 + 2) * 1408);
  EXPECT_TRUE(validate(layer).empty());
  EXPECT_TRUE(follows(layer, *find_layer_field("ffn_dim")));
  EXPECT_FALSE(follows(llama(), *find_layer_field("ffn_dim")));
  layer.ffn_dim = 1408;
  EXPECT_EQ(validate(layer).at(0).code, "layer-parts-inconsistent");
  Layer latent = llama();
  latent.kv_lora_rank = 512;
  EXPECT_EQ(validate(latent).at(0).code, "layer-parts-inconsistent");
  settle(latent);
  EXPECT_EQ(latent.num_kv_heads, 32);
  EXPECT_TRUE(validate(latent).empty());
  EXPECT_TRUE(follows(latent, *find_layer_field("head_dim")));
}

TEST(Layer, PartsThatContradictEachOtherAreNamed) {
  struct Case {
    std::string_view field;
    std::int64_t value;
    bool with_experts;
    std::string_view code, part;
  };
  constexpr std::string_view kInconsistent = "layer-parts-inconsistent", kSplit = "layer-cannot-split";
  for (const Case& each :
       {Case{"topk", 2, false, kInconsistent, "topk belongs"},
        Case{"moe_ffn_dim", 64, false, kInconsistent, "moe_ffn_dim belongs"},
        Case{"shared_experts", 1, false, kInconsistent, "shared_experts belongs"},
        Case{"shared_ffn_dim", 1, false, kInconsistent, "shared_ffn_dim belongs"},
        Case{"ep", 2, false, kInconsistent, "ep belongs"},
        Case{"q_lora_rank", 64, false, kInconsistent, "q_lora_rank belongs"},
        Case{"topk", 65, true, kInconsistent, "at most the 64 experts"},
        Case{"topk", 0, true, kInconsistent, "need topk"},
        Case{"moe_ffn_dim", 0, true, kInconsistent, "need moe_ffn_dim"},
        Case{"shared_experts", 0, true, kInconsistent, "shared_ffn_dim belongs"},
        Case{"moe_ffn_dim", 1 << 24, true, kInconsistent, "at most 16,777,216"},
        Case{"tp", 3, true, kSplit, "32 heads"}, Case{"ep", 2, true, kSplit, "ep (2) does not divide tp (1)"},
        Case{"tp", 32, false, "", ""},  // KV heads are repeated
        Case{"tp", 1025, true, "layer-field-out-of-range", "tp"},
        Case{"experts", -1, false, "layer-field-not-positive", "at least 0"}}) {
    Layer layer = each.with_experts ? experts() : llama();
    layer.*find_layer_field(each.field)->member = each.value;
    settle(layer);
    const Diagnostics found = validate(layer);
    ASSERT_EQ(found.size(), each.code.empty() ? 0u : 1u) << each.field << " " << each.value;
    if (found.empty()) continue;
    EXPECT_EQ(found[0].code, each.code) << found[0].message;
    EXPECT_THAT(found[0].message, HasSubstr(std::string(each.part)));
  }
  Layer layer = experts();
  layer.tp = 4;
  layer.ep = 4;
  EXPECT_TRUE(validate(layer).empty());
  layer.moe_ffn_dim = 1402;
  layer.ep = 1;
  settle(layer);
  EXPECT_THAT(validate(layer).at(0).message, HasSubstr("an expert of width 1402"));
  layer = llama();
  layer.tp = 4;
  layer.ffn_dim = 14335;
  EXPECT_THAT(validate(layer).at(0).message, HasSubstr("MLP of width 14335"));
}

TEST(Layer, PartsAreToldAsTheyAreRead) {
  EXPECT_TRUE(part_values(llama()).empty());
  Layer layer = experts();
  layer.dtype = layer.mlp_dtype = layer.shared_dtype = Dtype::fp8;
  layer.tp = 2;
  std::string all;
  for (const PartValue& part : part_values(layer))
    all += std::string(part.name) + "=" +
           (part.format.empty() ? std::to_string(part.number) : std::string(part.format)) + " ";
  EXPECT_EQ(all, "experts=64 topk=6 moe_ffn_dim=1408 shared_experts=2 shared_ffn_dim=1408 tp=2 dtype=fp8 ");
  layer.mlp_dtype = layer.shared_dtype = Dtype::bf16;
  EXPECT_EQ(part_values(layer).back().name, "mlp_dtype") << "it would be fp8 where it is not given";
}

}  // namespace
}  // namespace plumbline
