// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/layer_file.h"

#include <gmock/gmock.h>

#include "plumbline/search/builtin.h"

namespace plumbline {
namespace {

using testing::HasSubstr;

const std::string kHeader = "name,hidden_dim,num_heads,num_kv_heads,head_dim,ffn_dim,seq_len,batch_size\n";

TEST(LayerCsv, RowsAreReadInOrder) {
  const LayerFile file =
      read_layers(kHeader + "a,4096,32,8,128,14336,2048,1\r\n\n\"b, \"\"q\"\"\",64,1,1,64,64,,\n", "x.csv");
  EXPECT_EQ(file.errors, 0);
  ASSERT_EQ(file.rows.size(), 2u);
  EXPECT_EQ(file.rows[0].layer.ffn_dim, 14336);
  EXPECT_EQ(file.rows[1].layer.name, "b, \"q\"");
  EXPECT_EQ(file.rows[1].layer.seq_len, 2048);  // an empty optional cell is the default
  EXPECT_EQ(file.rows[1].row, 2);
  EXPECT_EQ(file.rows[1].line, 4);
}

TEST(LayerCsv, MeasuredTablesReadAsTheyAre) {
  const LayerFile file = read_layers(
      "name,backend,hidden_dim,num_heads,num_kv_heads,head_dim,ffn_dim,seq_len,batch_size,use_qk_norm,"
      "window_size,ms,ms_min,ms_max,calls\n"
      "x,varlen,2048,16,2,128,8192,4096,1,1,512,0.87,0.87,0.9,8\n",
      "x.csv", {Phase::decode, AttentionBackend::best});
  ASSERT_EQ(file.rows.size(), 1u);
  EXPECT_EQ(file.rows[0].layer.backend, AttentionBackend::varlen);
  EXPECT_EQ(file.rows[0].layer.phase, Phase::decode);
  EXPECT_TRUE(file.rows[0].layer.use_qk_norm);
  EXPECT_EQ(file.rows[0].layer.window_size, 512);
}

TEST(LayerCsv, ABadRowIsNamedAndCostsNoOther) {
  std::string text = kHeader;
  for (int i = 1; i <= 100; ++i) {
    text += i == 57 ? "bad,4096,32,8,one,14336,2048,1\n" : "ok,4096,32,8,128,14336,2048,1\n";
  }
  const LayerFile file = read_layers(text, "x.csv");
  EXPECT_EQ(file.rows.size(), 99u);
  EXPECT_EQ(file.rows_read, 100);
  EXPECT_EQ(file.rows_refused, 1);
  ASSERT_EQ(file.diagnostics.size(), 1u);
  EXPECT_EQ(file.diagnostics[0].line, 58);
  EXPECT_EQ(file.diagnostics[0].column, 15);
  EXPECT_THAT(file.diagnostics[0].message, HasSubstr("row 57: head_dim"));
}

TEST(LayerCsv, EveryColumnWithEveryBadValue) {
  const std::vector<std::string> good{"n", "4096", "32", "8", "128", "14336", "2048", "1"};
  const std::vector<std::string> names{"name",     "hidden_dim", "num_heads", "num_kv_heads",
                                       "head_dim", "ffn_dim",    "seq_len",   "batch_size"};
  for (std::size_t column = 1; column < good.size(); ++column) {
    for (const std::string bad :
         {"0", "-1", "-3.0", "1e30", "99999999999999999999999", "2.5", "abc", "0x10", "1 2", "inf", "true"}) {
      std::string text = kHeader;
      for (std::size_t i = 0; i < good.size(); ++i) text += (i ? "," : "") + (i == column ? bad : good[i]);
      const LayerFile file = read_layers(text, "x.csv");
      ASSERT_EQ(file.errors, 1) << names[column] << " = " << bad;
      EXPECT_THAT(file.diagnostics[0].message, HasSubstr(names[column])) << bad;
      EXPECT_EQ(file.diagnostics[0].line, 2);
      EXPECT_TRUE(file.rows.empty());
    }
  }
}

TEST(LayerCsv, WholeNumbersMayBeWrittenAsDecimals) {
  const LayerFile file = read_layers(kHeader + "a,4096.0,32,8,128,14336,2048,1\n", "x.csv");
  ASSERT_EQ(file.rows.size(), 1u);
  EXPECT_EQ(file.rows[0].layer.hidden_dim, 4096);
}

TEST(LayerCsv, HeadersAreChecked) {
  EXPECT_THAT(read_layers("hidden_dim,num_heads\n1,1\n", "x.csv").diagnostics.at(0).message,
              HasSubstr("'num_kv_heads' is missing"));
  EXPECT_THAT(
      read_layers("hiden_dim,num_heads,num_kv_heads,head_dim,ffn_dim\n", "x.csv").diagnostics.at(0).message,
      HasSubstr("did you mean 'hidden_dim'"));
  EXPECT_THAT(read_layers("hidden_dim,hidden_dim\n", "x.csv").diagnostics.at(0).message, HasSubstr("twice"));
  EXPECT_EQ(read_layers("", "x.csv").diagnostics.at(0).code, "layers-empty");
  EXPECT_EQ(read_layers(kHeader, "x.csv").diagnostics.at(0).code, "layers-empty");
}

TEST(LayerCsv, BrokenRowsDoNotSwallowOthers) {
  const LayerFile file = read_layers(kHeader +
                                         "\"a,1,1,1,1,1,1,1\nb,1,1,1,1,1,1,1\nc,1,1\n\"d\"x,1,1,1,1,1,1,1\n"
                                         "e,1,1,1,1,1,1,1\n",
                                     "x.csv");
  EXPECT_EQ(file.rows.size(), 2u);
  EXPECT_EQ(file.rows_refused, 3);
  EXPECT_EQ(file.diagnostics.at(0).code, "layers-row");
}

TEST(LayerCsv, DiagnosticsAreBoundedAndCounted) {
  std::string text = kHeader;
  for (int i = 0; i < 1000; ++i) text += "a,0,1,1,1,1,1,1\n";
  const LayerFile file = read_layers(text, "x.csv");
  EXPECT_EQ(file.errors, 1000);
  EXPECT_EQ(file.diagnostics.size(), kMaxLayerDiagnostics);
}

const std::string kObject =
    R"({"name":"a","hidden_dim":4096,"num_heads":32,"num_kv_heads":8,"head_dim":128,"ffn_dim":14336,)"
    R"("window_size":null,"use_qk_norm":true})";

TEST(LayerJson, ArraysContainersAndSingleObjects) {
  for (const std::string& text :
       {"[" + kObject + "," + kObject + "]",
        R"({"about":{"x":[1]},"layers":[)" + kObject + "," + kObject + R"(],"n":[1]})"}) {
    const LayerFile file = read_layers(text, "x.json");
    EXPECT_EQ(file.errors, 0) << text << file.diagnostics[0].message;
    ASSERT_EQ(file.rows.size(), 2u);
    EXPECT_TRUE(file.rows[1].layer.use_qk_norm);
    EXPECT_EQ(file.rows[1].row, 2);
  }
  EXPECT_EQ(read_layers(kObject, "x.json").rows.size(), 1u);
  EXPECT_EQ(read_layers(R"([{"name":"n","config":)" + kObject + "}]", "x.json").rows.size(), 1u);
}

TEST(LayerJson, LinesFailAlone) {
  const LayerFile file = read_layers(kObject + "\n{\"name\":\n\n" + kObject + "\n[1]\n" + kObject, "x.jsonl");
  EXPECT_EQ(file.rows.size(), 3u);
  EXPECT_EQ(file.rows_refused, 2);
  EXPECT_EQ(file.diagnostics.at(0).code, "json-syntax");
  EXPECT_EQ(file.diagnostics.at(0).line, 2);
  EXPECT_EQ(file.diagnostics.at(1).code, "json-layer");
  EXPECT_EQ(file.diagnostics.at(1).line, 5);
}

TEST(LayerJson, WrongValuesHaveTheirPlace) {
  std::string text = "[\n  " + kObject + ",\n  " + kObject + "]";
  const std::size_t at = text.rfind("14336");
  text.replace(at, 5, "143.5");
  const LayerFile file = read_layers(text, "x.json");
  EXPECT_EQ(file.rows.size(), 1u);
  ASSERT_EQ(file.diagnostics.size(), 1u);
  EXPECT_EQ(file.diagnostics[0].line, 3);
  EXPECT_THAT(file.diagnostics[0].message, HasSubstr("row 2: ffn_dim is 143.5"));
  for (const char* bad : {R"("14k")", "true", "[1]", R"({"a":1})", "-4", "0", "1e99", "null"}) {
    std::string one = kObject;
    one.replace(one.find("14336"), 5, bad);
    const LayerFile refused = read_layers(one, "x.json");
    EXPECT_EQ(refused.errors, 1) << bad;
    EXPECT_THAT(refused.diagnostics.at(0).message, HasSubstr("ffn_dim")) << bad;
  }
  EXPECT_THAT(read_layers(R"({"hidden_dim":1,"num_heads":1,"num_kv_heads":1,"head_dim":1,"ffn":1})", "x.json")
                  .diagnostics.at(0)
                  .message,
              HasSubstr("'ffn' is not a field"));
}

TEST(LayerJson, ATruncatedDocumentGivesNothing) {
  const std::string text = "[" + kObject + "," + kObject + "]";
  for (std::size_t size = 1; size < text.size(); ++size) {
    const LayerFile file = read_layers(text.substr(0, size), "x.json");
    EXPECT_TRUE(file.rows.empty()) << size;
    EXPECT_EQ(file.errors, 1) << size;
    EXPECT_EQ(file.diagnostics[0].code, "json-syntax");
  }
  EXPECT_EQ(read_layers(std::string(1 << 20, '['), "x.json").errors > 0, true);
}

TEST(LayerText, FieldsAndBuiltins) {
  const auto layer = parse_layer("llama3_8b,seq_len=4096,name=long");
  ASSERT_TRUE(layer.ok());
  EXPECT_EQ(layer.value->seq_len, 4096);
  EXPECT_EQ(layer.value->name, "long");
  EXPECT_EQ(layer.value->hidden_dim, 4096);
  EXPECT_EQ(parse_layer("llama").diagnostics.at(0).code, "layer-name-unknown");
  EXPECT_EQ(parse_layer("").diagnostics.at(0).code, "layer-field-missing");
  EXPECT_EQ(parse_layer("hidden_dim=1,num_heads=1,num_kv_heads=1,head_dim=1").diagnostics.at(0).code,
            "layer-field-missing");
  EXPECT_EQ(parse_layer("llama3_8b,ffn=1").diagnostics.at(0).code, "layer-field-unknown");
  EXPECT_EQ(parse_layer("llama3_8b,num_kv_heads=5").diagnostics.at(0).code, "layer-heads-not-divisible");
}

TEST(LayerCsv, DenseLayersAndExpertsStandInOneTable) {
  const LayerFile file = read_layers(
      "hidden_dim,num_heads,num_kv_heads,head_dim,ffn_dim,experts,topk,moe_ffn_dim,dtype,tp\n"
      "4096,32,8,128,14336,,,,,\n"
      "4096,32,8,128,,8,2,14336,fp8,2\n"
      "4096,32,8,128,,,,,,\n"
      "4096,32,8,128,14336,8,2,14336,,\n"
      "4096,32,8,128,,8,2,14336,fp9,2\n"
      "4096,32,8,128,14336,,,,,5\n",
      "x.csv");
  ASSERT_EQ(file.rows.size(), 2u);
  EXPECT_FALSE(has_parts(file.rows[0].layer));
  const Layer& moe = file.rows[1].layer;
  EXPECT_EQ(moe.ffn_dim, 2 * 14336);
  EXPECT_EQ(moe.dtype, Dtype::fp8);
  EXPECT_EQ(moe.mlp_dtype, Dtype::fp8);
  EXPECT_EQ(moe.kv_dtype, Dtype::bf16);
  ASSERT_EQ(file.diagnostics.size(), 4u);
  EXPECT_THAT(file.diagnostics[0].message, HasSubstr("row 3: ffn_dim has no value"));
  EXPECT_EQ(file.diagnostics[0].column, 15);
  EXPECT_EQ(file.diagnostics[1].code, "layer-parts-inconsistent");
  EXPECT_THAT(file.diagnostics[2].message, HasSubstr("dtype is 'fp9', and must be one of bf16, fp8,"));
  EXPECT_EQ(file.diagnostics[3].code, "layer-cannot-split");
  for (const Diagnostic& each : file.diagnostics) EXPECT_GT(each.line, 0);
}

TEST(LayerCsv, WhatFollowsNeedsNoColumn) {
  const LayerFile file = read_layers(
      "hidden_dim,num_heads,kv_lora_rank,experts,topk,moe_ffn_dim,shared_experts\n7168,128,512,256,8,2048,"
      "1\n",
      "x.csv");
  ASSERT_EQ(file.rows.size(), 1u) << file.diagnostics.at(0).message;
  const Layer& layer = file.rows[0].layer;
  EXPECT_EQ(std::tuple(layer.num_kv_heads, layer.head_dim, layer.q_lora_rank, layer.ffn_dim),
            std::tuple(128, 192, 1536, 9 * 2048));
  EXPECT_EQ(read_layers("hidden_dim,num_heads,experts,topk,moe_ffn_dim\n", "x.csv").diagnostics.at(0).code,
            "layers-header");
}

TEST(LayerText, ABuiltinTakesPartsAndTheLastWordCounts) {
  const auto layer =
      parse_layer("llama3_8b,experts=8,topk=2,moe_ffn_dim=1024,dtype=fp8,mlp_dtype=bf16,kv_dtype=FP8");
  ASSERT_TRUE(layer.ok()) << layer.diagnostics.at(0).message;
  EXPECT_EQ(layer.value->ffn_dim, 2048);
  EXPECT_EQ(layer.value->dtype, Dtype::fp8);
  EXPECT_EQ(layer.value->mlp_dtype, Dtype::bf16);
  EXPECT_EQ(layer.value->kv_dtype, Dtype::fp8);
  EXPECT_EQ(parse_layer("llama3_8b,expert=8").diagnostics.at(0).code, "layer-field-unknown");
  EXPECT_THAT(parse_layer("llama3_8b,expert=8").diagnostics.at(0).message,
              HasSubstr("did you mean 'experts'"));
  EXPECT_THAT(parse_layer("llama3_8b,hidden_dim=").diagnostics.at(0).message,
              HasSubstr("hidden_dim has no value"));
}

TEST(Builtin, NineLayersInTheirOrder) {
  ASSERT_EQ(builtin_layers().size(), 9u);
  EXPECT_EQ(builtin_layers()[0].name, "gemma4_e2b");
  for (const Layer& layer : builtin_layers()) EXPECT_TRUE(validate(layer).empty());
}

}  // namespace
}  // namespace plumbline
