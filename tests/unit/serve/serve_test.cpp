// SPDX-License-Identifier: Apache-2.0
// Steps and requests of whole models: the same kernels as a layer's prediction, split over GPUs, refused
// where nothing was measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "plumbline/hardware/hardware_file.h"
#include "plumbline/model/hf_config.h"
#include "plumbline/model/operation.h"
#include "plumbline/search/model_cost.h"
#include "plumbline/serve/check_deployment.h"
#include "plumbline/serve/request.h"

namespace plumbline {
namespace {

using ::testing::HasSubstr;

Predictor predictor_of(const std::string& name, const std::string& source = "vllm") {
  const std::array<std::string, 1> folder{PLUMBLINE_SOURCE_DIR "/hardware"};
  return *choose_predictor(*load_hardware(name, folder, source).value, LatencyModel::measured, source).value;
}

/// Read once: the forests are large.
const Predictor& h100() {
  static const Predictor predictor = predictor_of("h100");
  return predictor;
}

Transformer model_of(const std::string& text) {
  auto model = parse_hf_config(text, "config.json");
  EXPECT_TRUE(model.ok()) << (model.diagnostics.empty() ? "" : model.diagnostics[0].message);
  return *model.value;
}

Transformer llama(int layers = 32) {
  return model_of(R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": )" +
                  std::to_string(layers) +
                  R"(, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
                     "vocab_size": 128256})");
}

Transformer mixtral() {
  return model_of(R"({"model_type": "mixtral", "hidden_size": 4096, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 32000,
    "num_local_experts": 8, "num_experts_per_tok": 2})");
}

Transformer deepseek(int hidden = 7168) {
  return model_of(R"({"model_type": "deepseek_v3", "hidden_size": )" + std::to_string(hidden) +
                  R"(, "num_hidden_layers": 6, "num_attention_heads": 128, "intermediate_size": 18432,
    "moe_intermediate_size": 2048, "n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1,
    "first_k_dense_replace": 3, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 129280,
    "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}})");
}

double part(const StepCost& step, std::string_view name) {
  for (const StepPart& each : step.parts) {
    if (each.name == name) return each.ms;
  }
  return 0;
}

std::string refusal(const Transformer& model, const Deployment& deployment, std::string_view code,
                    const Predictor& predictor = h100()) {
  const Diagnostics found = check_deployment(predictor, model, deployment);
  if (found.size() != 1) return "not refused";
  EXPECT_EQ(found[0].code, code);
  return found[0].message;
}

TEST(ServeStep, OneGpuInBf16IsThePredictionOfTheModel) {
  const Transformer model = llama();
  for (const Phase phase : {Phase::decode, Phase::prefill}) {
    const bool decode = phase == Phase::decode;
    const auto cost = cost_model(h100(), model, {phase, 1500, decode ? 16 : 1, {}, false});
    const StepWork work = decode ? StepWork{16, 1500, 0, 0, 0} : StepWork{0, 1, 1, 1500, 1500};
    // but for the copies around attention, which a server's kernels do not make
    EXPECT_NEAR(cost_step(h100(), model, {}, work).ms / cost.value->total_ms, 1, 2e-3);
  }
}

TEST(ServeStep, PartsAddUpAndLayersCountAlike) {
  const StepWork work{8, 1000, 1, 512, 512};
  const StepCost one = cost_step(h100(), llama(1), {}, work), four = cost_step(h100(), llama(4), {}, work);
  const double sum = std::accumulate(one.parts.begin(), one.parts.end(), 0.0,
                                     [](double all, const StepPart& each) { return all + each.ms; });
  EXPECT_NEAR(one.ms, sum, 1e-12);
  EXPECT_NEAR(part(four, "attention_decode"), 4 * part(one, "attention_decode"), 1e-9);
  EXPECT_NEAR(part(four, "gate_up_projection"), 4 * part(one, "gate_up_projection"), 1e-9);
  EXPECT_EQ(part(four, "lm_head"), part(one, "lm_head"));
  EXPECT_GT(part(one, "attention_prefill"), 0);
}

TEST(ServeStep, SeveralGpusShareAndReduce) {
  const StepWork work{16, 2000, 0, 0, 0};
  const StepCost one = cost_step(h100(), llama(), {}, work);
  const StepCost four = cost_step(h100(), llama(), {4, 1, {}, {}}, work);
  EXPECT_EQ(part(one, "all_reduce"), 0);
  EXPECT_GT(part(four, "all_reduce"), 0);
  EXPECT_GT(part(four, "logits_all_gather"), 0);
  EXPECT_LT(part(four, "gate_up_projection"), 0.5 * part(one, "gate_up_projection"));
  EXPECT_LT(four.ms, one.ms);
  // two all-reduces a layer of 16 rows of 4096: a model of twice the layers has twice of them
  EXPECT_NEAR(part(cost_step(h100(), llama(64), {4, 1, {}, {}}, work), "all_reduce"),
              2 * part(four, "all_reduce"), 1e-9);
}

TEST(ServeStep, FormatsAndExpertsRunTheirOwnKernels) {
  const StepWork work{16, 1000, 0, 0, 0};
  const StepCost bf16 = cost_step(h100(), llama(), {}, work);
  const StepCost fp8 = cost_step(h100(), llama(), {1, 1, Dtype::fp8, {}}, work);
  EXPECT_LT(part(fp8, "gate_up_projection"), 0.8 * part(bf16, "gate_up_projection"));
  const StepCost experts = cost_step(h100(), mixtral(), {2, 2, {}, {}}, work);
  EXPECT_GT(part(experts, "experts"), part(experts, "qkv_projection"));
  EXPECT_EQ(part(experts, "gate_up_projection"), 0);
  const StepCost latent = cost_step(h100(), deepseek(), {8, 1, {}, {}}, work);
  EXPECT_GT(part(latent, "latent_attention_decode"), 0);
  EXPECT_GT(part(latent, "shared_expert"), 0);
  EXPECT_GT(part(latent, "gate_up_projection"), 0) << "three dense layers come first";
  EXPECT_EQ(part(latent, "rope"), 0) << "it is inside the measured call";
}

TEST(ServeStep, ServedKernelsAreNotThoseTimedAlone) {
  const StepWork work{64, 4096, 0, 0, 0};
  const StepCost fp8 = cost_step(h100(), llama(), {1, 1, Dtype::fp8, Dtype::fp8}, work);
  EXPECT_EQ(part(fp8, "residual_rmsnorm"), 0)
      << "its table holds the kernel that quantises: the norm is in it";
  const StepCost wide = cost_step(h100(), llama(), {1, 1, Dtype::fp8, Dtype::bf16}, work);
  EXPECT_EQ(part(fp8, "attention_decode"), part(wide, "attention_decode")) << "FA3 over an fp8 cache";
  const auto alone =
      predict_kernel(*h100().source, "mla",
                     {MlaShape{16, 1, 1000, 16, true, true, Dtype::bf16, Dtype::fp8_block, Dtype::bf16}});
  const StepCost latent = cost_step(h100(), deepseek(), {8, 1, {}, {}}, {16, 1000, 0, 0, 0});
  EXPECT_NEAR(part(latent, "latent_attention_decode"), 6 * (alone.ms - 0.05), 1e-9);
  const auto reduce = predict_kernel(*h100().source, "all_reduce",
                                     {CollectiveShape{CollectiveOp::all_reduce, 8, 16 * 7168, 2}});
  EXPECT_NEAR(part(latent, "all_reduce"), 12 * (reduce.ms + 2 * 0.003), 1e-9) << "two doublings beyond two";
  const Predictor b200 = predictor_of("b200");
  const auto product = [&](std::int64_t n, std::int64_t k) {
    return predict_kernel(*b200.source, "gemm", {GemmShape{16, n, k, Dtype::nvfp4}}).ms + 0.005;
  };
  const StepCost fp4 = cost_step(b200, llama(1), {1, 1, Dtype::nvfp4, {}}, {16, 1000, 0, 0, 0});
  EXPECT_NEAR(part(fp4, "down_projection") / product(4096, 14336), 1, 0.1) << "its input is quantised first";
}

TEST(ServeStep, PiecesOfAPromptLieOutsideTheRows) {
  for (const Dtype kv : {Dtype::bf16, Dtype::fp8}) {
    AttentionShape shape;
    shape.q_len = shape.kv_len = 2048;
    shape.heads = 32;
    shape.kv_heads = 8;
    shape.head_dim = 128;
    shape.kv = kv;
    const auto provenance = [&] { return predict_kernel(*h100().source, "attention", {shape}).provenance; };
    EXPECT_LT(provenance(), Provenance::extrapolated) << "a whole prompt was measured";
    shape.q_len = 1024;
    EXPECT_EQ(provenance(), Provenance::extrapolated) << "keys before it were not";
    shape.q_len = 2048;
    shape.causal = false;
    EXPECT_EQ(provenance(), Provenance::extrapolated);
  }
}

TEST(ServeDeployment, RefusesWhatCannotBeSplit) {
  EXPECT_THAT(refusal(llama(), {3, 1, {}, {}}, "serve-cannot-split"), HasSubstr("32 heads"));
  EXPECT_THAT(refusal(mixtral(), {4, 3, {}, {}}, "serve-cannot-split"), HasSubstr("--ep 3"));
  EXPECT_THAT(refusal(llama(), {4, 2, {}, {}}, "serve-cannot-split"), HasSubstr("experts"));
}

TEST(ServeDeployment, RefusesWhatWasNotMeasured) {
  EXPECT_THAT(refusal(llama(), {16, 1, {}, {}}, "serve-not-measured"), HasSubstr("16 GPUs"));
  EXPECT_THAT(refusal(llama(), {1, 1, Dtype::nvfp4, {}}, "serve-not-measured"), HasSubstr("gemm_nvfp4"));
  EXPECT_THAT(refusal(deepseek(5120), {8, 1, {}, {}}, "serve-not-measured"), HasSubstr("DeepSeek-V3"));
  Transformer model = llama();
  for (TransformerLayer& layer : model.layers) layer.mlp = {"int8", 8};
  EXPECT_THAT(refusal(model, {}, "serve-not-measured"), HasSubstr("int8"));
  model = llama();
  model.head = HeadKind::none;
  EXPECT_THAT(refusal(model, {}, "serve-not-measured"), HasSubstr("LM head"));
  model = llama();
  model.layers[7].unlisted = "Mamba-2 layers";
  model.layers[7].parameters += 1;
  EXPECT_THAT(refusal(model, {}, "serve-not-measured"), HasSubstr("Mamba-2"));
  const auto other = serve(predictor_of("h200", "pytorch"), llama(), {}, {});
  ASSERT_EQ(other.diagnostics.size(), 1U);
  EXPECT_EQ(other.diagnostics[0].code, "serve-not-measured");
}

TEST(ServeDeployment, TheCheckpointsFormatsAreKept) {
  const Transformer blocks = deepseek();
  const auto formats = formats_of(blocks.layers[5], {8, 1, Dtype::fp8, {}});
  EXPECT_EQ(formats->experts, Dtype::fp8_block) << "fp8 is what the checkpoint is";
  EXPECT_EQ(cache_format(blocks, {}), Dtype::bf16);
  EXPECT_EQ(cache_format(llama(), {}), Dtype::bf16);
  EXPECT_EQ(cache_format(llama(), {1, 1, Dtype::fp8, {}}), Dtype::fp8);
  EXPECT_EQ(cache_format(llama(), {1, 1, Dtype::fp8, Dtype::bf16}), Dtype::bf16);
  EXPECT_NEAR(weight_bytes(as_deployed(llama(), {1, 1, Dtype::fp8, {}})),
              8030261248.0 + 128256 * 4096 * 2 + 65 * 4096, 1e6);
}

TEST(ServeRequest, PromptsAreCutWhereAStepIsFull) {
  const auto pieces = prompt_pieces(10'000, 8192, 192);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0].tokens, 8000);
  EXPECT_EQ(pieces[1].tokens, 2000);
  EXPECT_EQ(pieces[1].keys, 10'000);
  EXPECT_EQ(prompt_pieces(100, 8192, 0).size(), 1U);
}

TEST(ServeRequest, TimesAreTheSumsOfWhatTheyWaitFor) {
  const Load load{1024, 256, 32};
  const auto cost = serve(h100(), llama(), {}, load);
  ASSERT_TRUE(cost.ok());
  const ServeCost& c = *cost.value;
  EXPECT_NEAR(c.tpot.ms, c.decode.ms + 32 * c.prefill.ms / 256 + c.host_ms, 1e-9);
  EXPECT_NEAR(c.ttft.ms, c.own_prompt_ms + c.step_wait_ms + c.queue_ms + c.request_host_ms, 1e-9);
  EXPECT_NEAR(c.output_tokens_per_second, 32 * 256 / (c.ttft.ms + 255 * c.tpot.ms) * 1e3, 1e-6);
  EXPECT_LT(c.tpot.low_ms, c.tpot.ms);
  EXPECT_GT(c.tpot.high_ms, c.tpot.ms);
  EXPECT_LT(c.roofline_tpot_ms, c.tpot.ms);
  EXPECT_EQ(c.running, 32);
  // the decode step is the average over the growing cache
  const double first = cost_step(h100(), llama(), {}, {32, 1025, 0, 0, 0}).ms;
  const double last = cost_step(h100(), llama(), {}, {32, 1280, 0, 0, 0}).ms;
  EXPECT_GT(c.decode.ms, first);
  EXPECT_LT(c.decode.ms, last);
}

TEST(ServeRequest, MemoryLimitsWhatRuns) {
  const auto crowded = serve(h100(), llama(), {}, {8192, 1024, 256});
  ASSERT_TRUE(crowded.ok());
  EXPECT_LT(crowded.value->running, 256);
  EXPECT_GT(crowded.value->memory_wait_ms, 0);
  EXPECT_LE(crowded.value->memory.needed_bytes(), crowded.value->memory.usable_bytes);
  const auto alone = serve(h100(), llama(), {}, {8192, 1024, crowded.value->running});
  EXPECT_EQ(alone.value->memory_wait_ms, 0);
  EXPECT_EQ(alone.value->tpot.ms, crowded.value->tpot.ms);
  const auto large = serve(h100(), llama(400), {}, {1024, 1024, 1});
  ASSERT_EQ(large.diagnostics.size(), 1U);
  EXPECT_EQ(large.diagnostics[0].code, "serve-does-not-fit");
  const auto long_request = serve(h100(), llama(), {}, {1 << 20, 16, 1});
  EXPECT_EQ(long_request.diagnostics[0].code, "serve-does-not-fit");
}

TEST(ServeRequest, OneTokenOfAnAnswerWaitsForNothingElse) {
  const auto cost = serve(h100(), llama(), {}, {1024, 1, 8});
  EXPECT_EQ(cost.value->prompts_ms, 0);
  EXPECT_NEAR(cost.value->output_tokens_per_second, 8 / cost.value->ttft.ms * 1e3, 1e-6);
}

}  // namespace
}  // namespace plumbline
