// SPDX-License-Identifier: Apache-2.0
// Layers with experts, latent attention, low precision and several GPUs: which kernels they are, and that a
// plain layer is the same with and without that way.
#include "plumbline/model/layer_parts.h"

#include <gmock/gmock.h>

#include <array>
#include <numeric>
#include <random>

#include "plumbline/hardware/hardware_file.h"
#include "plumbline/model/hf_config.h"
#include "plumbline/model/kernel_memory.h"

namespace plumbline {
namespace {

using ::testing::HasSubstr;

const KernelSource& source_of(const std::string& gpu, const std::string& name) {
  static std::map<std::string, std::shared_ptr<const KernelSource>> read;  // the forests are large
  auto& source = read[gpu + "/" + name];
  if (source == nullptr) {
    const std::array<std::string, 1> folder{PLUMBLINE_SOURCE_DIR "/hardware"};
    source = find_source(*load_hardware(gpu, folder, name).value, name);
  }
  return *source;
}

const KernelSource& h200() { return source_of("h200", "vllm"); }

Layer dense() { return {"", 4096, 32, 8, 128, 14336, 2048, 1}; }

Layer mixtral(std::int64_t tp = 1) {
  Layer layer = dense();
  layer.experts = 8;
  layer.topk = 2;
  layer.moe_ffn_dim = 14336;
  layer.tp = tp;
  settle(layer);
  return layer;
}

Layer deepseek(std::int64_t gpus, Phase phase) {
  Layer layer{"", 7168, 128, 128, 192, 0, 2048, 32};
  layer.phase = phase;
  layer.kv_lora_rank = 512;
  layer.q_lora_rank = 1536;
  layer.experts = 256;
  layer.topk = 8;
  layer.moe_ffn_dim = 2048;
  layer.shared_experts = 1;
  layer.tp = layer.ep = gpus;
  layer.dtype = layer.mlp_dtype = layer.shared_dtype = Dtype::fp8_block;
  settle(layer);
  return layer;
}

double kernel_ms(const Prediction& p, std::string_view name) {
  for (const KernelTime& kernel : p.kernels()) {
    if (kernel.name == name) return kernel.ms;
  }
  return 0;
}

std::vector<std::string_view> names_of(const Prediction& p) {
  std::vector<std::string_view> names;
  for (const KernelTime& kernel : p.kernels()) names.push_back(kernel.name);
  return names;
}

void expect_same(const Prediction& a, const Prediction& b) {
  ASSERT_EQ(names_of(a), names_of(b));
  for (std::size_t i = 0; i < a.kernel_count; ++i) {
    EXPECT_EQ(a.kernel_storage[i].ms, b.kernel_storage[i].ms) << a.kernel_storage[i].name;
    EXPECT_EQ(a.kernel_storage[i].high_ms, b.kernel_storage[i].high_ms) << a.kernel_storage[i].name;
    EXPECT_EQ(a.kernel_storage[i].provenance, b.kernel_storage[i].provenance) << a.kernel_storage[i].name;
  }
  EXPECT_EQ(a.total_ms, b.total_ms);
  EXPECT_EQ(a.low_ms, b.low_ms);
  EXPECT_EQ(a.high_ms, b.high_ms);
}

TEST(LayerParts, APlainLayerIsTheSameByEitherWay) {
  for (const KernelSource* source : {&h200(), &source_of("h200", "pytorch")}) {
    for (const Phase phase : {Phase::prefill, Phase::decode}) {
      for (int kind = 0; kind < 5; ++kind) {
        Layer layer = dense();
        layer.phase = phase;
        if (kind == 1) layer.window_size = 512;
        if (kind == 2) layer.norms = 4, layer.use_qk_norm = true;
        if (kind == 3) layer.parallel = true, layer.activation = Activation::plain;
        if (kind == 4) layer.rope = false, layer.backend = AttentionBackend::flash;
        ASSERT_FALSE(has_parts(layer));
        expect_same(predict_measured(*source, layer), predict_parts(*source, layer));
      }
    }
  }
}

TEST(LayerParts, OneGpuRunsItsShareOfEveryKernel) {
  const auto kernels = layer_kernels(mixtral(2), work_of(mixtral(2)));
  std::vector<std::string_view> names;
  for (const LayerKernel& kernel : kernels) names.push_back(kernel.name);
  ASSERT_EQ(names, (std::vector<std::string_view>{"qkv_projection", "attention_prefill", "output_projection",
                                                  "all_reduce", "router", "experts", "all_reduce"}));
  const auto& qkv = std::get<GemmShape>(kernels[0].request.shape);
  EXPECT_EQ(std::tuple(qkv.m, qkv.n, qkv.k), std::tuple(2048, (16 + 2 * 4) * 128, 4096));
  const auto& attention = std::get<AttentionShape>(kernels[1].request.shape);
  EXPECT_EQ(std::tuple(attention.heads, attention.kv_heads, attention.q_len), std::tuple(16, 4, 2048));
  const auto& reduce = std::get<CollectiveShape>(kernels[3].request.shape);
  EXPECT_EQ(std::tuple(reduce.gpus, reduce.elements), std::tuple(2, 2048 * 4096));
  const auto& router = std::get<GemmShape>(kernels[4].request.shape);
  EXPECT_EQ(std::tuple(router.n, router.dtype), std::tuple(8, Dtype::bf16));
  const auto& experts = std::get<MoeShape>(kernels[5].request.shape);
  EXPECT_EQ(std::tuple(experts.tokens, experts.inter, experts.topk, experts.experts, experts.tp, experts.ep),
            std::tuple(2048, 14336, 2, 8, 2, 1));
}

TEST(LayerParts, LatentAttentionAndSharedExpertsAreOneCallAndTwoProducts) {
  const Layer layer = deepseek(8, Phase::decode);
  const auto kernels = layer_kernels(layer, work_of(layer));
  const auto& latent = std::get<MlaShape>(kernels[0].request.shape);
  EXPECT_EQ(std::tuple(latent.heads, latent.batch, latent.kv_len, latent.decode, latent.gemm),
            std::tuple(16, 32, 2048, true, Dtype::fp8_block));
  const auto& experts = std::get<MoeShape>(kernels[3].request.shape);
  EXPECT_EQ(std::tuple(experts.tp, experts.ep, experts.dtype), std::tuple(1, 8, Dtype::fp8_block));
  const auto& up = std::get<GemmShape>(kernels[4].request.shape);
  EXPECT_EQ(std::tuple(up.m, up.n, up.k), std::tuple(32, 2 * 2048 / 8, 7168));
  const Prediction p = predict_measured(h200(), layer);
  EXPECT_EQ(kernel_ms(p, "rope") + kernel_ms(p, "kv_cache_write"), 0) << "inside the measured module";
  EXPECT_GT(kernel_ms(p, "gated_activation"), 0) << "of the shared expert";
  EXPECT_EQ(kernel_ms(predict_measured(h200(), mixtral()), "gated_activation"), 0)
      << "inside the experts' call";
}

TEST(LayerParts, TheSumIsItsKernelsAndTheBandHoldsIt) {
  Layer most = deepseek(8, Phase::decode);  // the most kernels that a layer can have
  most.kv_lora_rank = most.q_lora_rank = 0;
  most.norms = 4;
  most.use_qk_norm = true;
  ASSERT_TRUE(validate(most).empty());
  Layer low = dense();
  low.dtype = low.mlp_dtype = low.kv_dtype = Dtype::fp8;
  Layer half = dense();
  half.has_mlp = false;
  Layer mlp = dense();
  mlp.has_attention = false;
  mlp.tp = 2;
  for (const Layer& layer : {most, low, half, mlp, mixtral(4), deepseek(8, Phase::prefill)}) {
    for (const bool specified : {false, true}) {
      static const auto sheet =
          specification_source({"GPU", "sheet", 132, 4800, 989, 50'000'000, 141'000'000'000, 1979, 0, 450});
      const Prediction p = predict_measured(specified ? *sheet : h200(), layer);
      double sum = 0;
      for (const KernelTime& kernel : p.kernels()) {
        EXPECT_GT(kernel.ms, 0) << kernel.name;
        EXPECT_LE(kernel.low_ms, kernel.ms) << kernel.name;
        EXPECT_GE(kernel.high_ms, kernel.ms) << kernel.name;
        sum += kernel.ms;
      }
      EXPECT_DOUBLE_EQ(sum, p.total_ms);
      EXPECT_LT(p.low_ms, p.total_ms);
      EXPECT_GT(p.high_ms, p.total_ms);
      EXPECT_EQ(weakest_provenance(p), Provenance::specification) << "element-wise kernels at least";
      if (specified) EXPECT_EQ(band_scope(p), "specification");
      auto names = names_of(p);
      std::sort(names.begin(), names.end());
      EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end()) << "a name stands for one time";
    }
  }
  EXPECT_EQ(predict_measured(h200(), mlp).kernel_count, 7U);
}

TEST(LayerParts, MoreGpusAndFewerBitsTakeLessOfEveryProduct) {
  Layer layer = dense();
  const Prediction one = predict_measured(h200(), layer);
  double before = one.total_ms, projection = kernel_ms(one, "gate_up_projection");
  EXPECT_EQ(kernel_ms(one, "all_reduce"), 0);
  for (const std::int64_t tp : {2, 4, 8}) {
    layer.tp = tp;
    const Prediction p = predict_measured(h200(), layer);
    EXPECT_LT(p.total_ms, before) << tp;
    EXPECT_LT(kernel_ms(p, "gate_up_projection"), 0.75 * projection) << tp;
    EXPECT_GT(kernel_ms(p, "all_reduce"), 0);
    before = p.total_ms;
    projection = kernel_ms(p, "gate_up_projection");
  }
  layer = dense();
  layer.dtype = layer.mlp_dtype = Dtype::fp8;
  EXPECT_LT(predict_measured(h200(), layer).total_ms, 0.8 * one.total_ms);
  EXPECT_EQ(kernel_ms(predict_measured(h200(), layer), "residual_rmsnorm"), 0)
      << "its window held the quantising";
  EXPECT_GT(kernel_ms(predict_measured(source_of("h200", "pytorch"), layer), "residual_rmsnorm"), 0);
  layer = mixtral();
  const double balanced = kernel_ms(predict_measured(h200(), layer), "experts");
  layer.topk = 4;
  settle(layer);
  EXPECT_GT(kernel_ms(predict_measured(h200(), layer), "experts"), 1.3 * balanced);
}

TEST(LayerParts, RememberedKernelsAreTheSame) {
  std::mt19937 draw(7);
  const auto one_of = [&](std::initializer_list<std::int64_t> values) {
    return values.begin()[draw() % values.size()];
  };
  KernelMemory memory;
  for (int i = 0; i < 300; ++i) {
    Layer layer = i % 3 == 0   ? mixtral(one_of({1, 2, 4, 8}))
                  : i % 3 == 1 ? dense()
                               : deepseek(one_of({1, 8}), Phase::prefill);
    layer.phase = i % 2 == 0 ? Phase::prefill : Phase::decode;
    layer.seq_len = one_of({1024, 2048});
    layer.batch_size = one_of({1, 16});
    if (i % 3 < 2) {
      layer.hidden_dim = one_of({2048, 4096});
      layer.mlp_dtype = one_of({0, 1}) == 0 ? Dtype::bf16 : Dtype::fp8;
      layer.kv_dtype = one_of({0, 1}) == 0 ? Dtype::bf16 : Dtype::fp8;
    }
    const KernelSource& source = i % 5 == 0 ? source_of("h100", "vllm") : h200();
    expect_same(predict_measured(source, layer, &memory), predict_measured(source, layer));
  }
}

TEST(LayerParts, WhatASourceHasNotMeasuredIsSaid) {
  struct Case {
    Layer layer;
    std::string part;
  };
  std::vector<Case> cases{{dense(), "gemm_nvfp4, which qkv_projection"},
                          {mixtral(), "moe_w4a8_mxfp4_mxfp8, which experts"},
                          {dense(), "16 GPUs (8 at most)"},
                          {dense(), "cache of nvfp4"},
                          {dense(), "leave out backend=flash"},
                          {deepseek(8, Phase::decode), "DeepSeek-V3"}};
  cases[0].layer.dtype = Dtype::nvfp4;
  cases[1].layer.mlp_dtype = Dtype::w4a8_mxfp4_mxfp8;
  cases[2].layer.tp = 16;
  cases[3].layer.kv_dtype = Dtype::nvfp4;
  cases[4].layer.kv_dtype = Dtype::fp8;
  cases[4].layer.backend = AttentionBackend::flash;
  cases[5].layer.kv_lora_rank = 256;
  for (const Case& each : cases) EXPECT_THAT(not_measured(h200(), each.layer), HasSubstr(each.part));
  EXPECT_THAT(not_measured(source_of("h200", "pytorch"), mixtral()),
              HasSubstr("source 'pytorch' has no measured moe_bf16"));
  for (const Layer& layer : {mixtral(8), deepseek(8, Phase::decode), deepseek(1, Phase::prefill), dense()})
    EXPECT_EQ(not_measured(h200(), layer), "");
  Predictor proxy;
  EXPECT_EQ(unsupported(proxy, mixtral())->code, "layer-not-measured");
  Predictor sheet{"gpu", LatencyModel::measured, {}, "", specification_source({}), 0};
  EXPECT_FALSE(unsupported(sheet, mixtral())) << "data sheets answer anything, and say so";
}

TEST(LayerParts, AConfigurationsLayerIsTheLayerThatItsFieldsSay) {
  const auto model =
      parse_hf_config(R"({"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 6,
    "num_attention_heads": 128, "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 256,
    "num_experts_per_tok": 8, "n_shared_experts": 1, "first_k_dense_replace": 3, "q_lora_rank": 1536,
    "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 129280,
    "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}})",
                      "config.json");
  ASSERT_TRUE(model.ok());
  const Deployment deployment{8, 8, {}, {}};
  Layer layer = layer_of(*model.value, model.value->layers[5], deployment);
  layer.batch_size = 32;
  EXPECT_TRUE(validate(layer).empty());
  expect_same(predict_measured(h200(), layer), predict_measured(h200(), deepseek(8, Phase::prefill)));
  const Layer first = layer_of(*model.value, model.value->layers[0], deployment);
  EXPECT_EQ(std::tuple(first.experts, first.ep, first.tp, first.ffn_dim), std::tuple(0, 1, 8, 18432));
  EXPECT_TRUE(validate(first).empty());
}

}  // namespace
}  // namespace plumbline
