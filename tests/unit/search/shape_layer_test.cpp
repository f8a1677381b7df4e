// SPDX-License-Identifier: Apache-2.0
// Experts, ranks and precision in a space; several processes on one search.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <thread>

#include <fmt/format.h>

#include "plumbline/model/measured.h"
#include "plumbline/model/operation.h"
#include "plumbline/search/answer.h"
#include "plumbline/search/checkpoint.h"
#include "plumbline/search/ranks.h"

#include <nlohmann/json.hpp>

namespace plumbline {
namespace {

SearchHardware test_gpu() {
  DataSheet sheet{"GPU", "sheet", 132, 4800, 989, 50'000'000, 141'000'000'000, 1979, 0, 450};
  Predictor predictor;
  predictor.hardware = "gpu";
  predictor.model = LatencyModel::measured;
  predictor.source = specification_source(sheet);
  return {std::move(predictor), 141e9};
}

std::string moe_space(const std::string& dimensions, const std::string& more) {
  return "[dimensions]\n" + dimensions + R"(
[derived]
num_heads = 32
num_kv_heads = 4
head_dim = 128
num_layers = 48
num_experts = 128
experts_per_token = 8
expert_dim = 768
ffn_dim = 6144
use_qk_norm = 1
vocab_size = 151936
)" + more +
         R"(
[[point]]
name = "p"
phase = "prefill"
seq_len = 512
[objective]
minimise = "p_ms"
)";
}

Parsed<Problem> build(const std::string& text) {
  auto space = parse_space(text, "s.toml");
  if (!space.ok()) return {std::nullopt, space.diagnostics};
  return build_problem(std::move(*space.value), {test_gpu()});
}

double at(const Problem& problem, std::vector<std::int32_t> places, const std::string& name) {
  return quantity_of(problem, places, name, -1);
}

TEST(ShapeLayer, CountsAMixtureOfExperts) {
  const auto problem = build(moe_space("hidden_dim = [2048]", ""));
  ASSERT_TRUE(problem.ok());
  // Qwen3-30B-A3B: 30.5 billion, 3.3 of them active.
  EXPECT_EQ(at(*problem.value, {0}, "parameters"), 30532122624.0);
  EXPECT_EQ(at(*problem.value, {0}, "active_parameters"), 3353032704.0);
}

TEST(ShapeLayer, IsTheSumOfItsKernels) {
  const auto problem =
      build(moe_space("hidden_dim = [2048]\ntensor_parallel = [1, 2, 4]\nweight_bits = [8, 16]", ""));
  ASSERT_TRUE(problem.ok());
  const KernelSource& source = *problem.value->hardware[0].predictor.source;
  for (std::int32_t ranks = 0; ranks < 3; ++ranks) {
    for (std::int32_t bits = 0; bits < 2; ++bits) {
      const std::int64_t tp = std::int64_t{1} << ranks;
      const Dtype dtype = bits == 0 ? Dtype::fp8 : Dtype::bf16;
      Layer layer{"", 2048, 32, 4, 128, 0, 512, 1, true};
      layer.tp = tp;
      layer.dtype = layer.mlp_dtype = dtype;
      layer.experts = 128;
      layer.topk = 8;
      layer.moe_ffn_dim = 768;
      settle(layer);
      double ps = 0;
      const Prediction prediction = predict_measured(source, layer);
      for (const KernelTime& kernel : prediction.kernels()) ps += std::round(kernel.ms * 1e9);
      EXPECT_EQ(at(*problem.value, {0, ranks, bits}, "p_h200_layer_ps"), ps) << tp << " " << bits;
    }
  }
  EXPECT_LT(at(*problem.value, {0, 1, 1}, "memory_bytes"), at(*problem.value, {0, 0, 1}, "memory_bytes"));
  EXPECT_LT(at(*problem.value, {0, 0, 0}, "weight_bytes"),
            0.53 * at(*problem.value, {0, 0, 1}, "weight_bytes"));
}

TEST(ShapeLayer, TheProxyRefusesRanks) {
  auto space = parse_space(moe_space("hidden_dim = [2048]", "tensor_parallel = 2"), "s.toml");
  ASSERT_TRUE(space.ok());
  SearchHardware proxy = test_gpu();
  proxy.predictor.source = nullptr;
  proxy.predictor.model = LatencyModel::proxy;
  proxy.predictor.proxy = {3000, 2000, 900, 1500, 800, 2000, 500, 100, 400, 2800};
  const auto problem = build_problem(std::move(*space.value), {proxy});
  ASSERT_FALSE(problem.ok());
  EXPECT_EQ(problem.diagnostics.back().code, "search-no-time");
}

/// Processes as threads: each has a state of its own, and they meet after every round.
std::string searched_by(const Engine& engine, const Problem& problem, int size) {
  std::vector<std::string> told(static_cast<std::size_t>(size));
  std::vector<std::string> states(static_cast<std::size_t>(size));
  std::barrier meet(size);
  const auto process = [&](int rank) {
    SearchRanks ranks{rank, size, {}};
    ranks.exchange = [&, rank](const std::string& mine) {
      told[static_cast<std::size_t>(rank)] = mine;
      meet.arrive_and_wait();
      auto all = told;
      meet.arrive_and_wait();
      return all;
    };
    SearchState state = engine.start();
    EXPECT_EQ(run_search(engine, state, 1, {}, &ranks), SearchEnd::whole);
    states[static_cast<std::size_t>(rank)] = checkpoint_json(problem, state).dump();
  };
  {
    std::vector<std::jthread> all;
    for (int rank = 0; rank < size; ++rank) all.emplace_back(process, rank);
  }
  EXPECT_THAT(states, testing::Each(states.front()));
  return states.front();
}

TEST(Ranks, OneTwoAndFourComeToTheSameState) {
  const auto problem = build(moe_space("hidden_dim = { from = 512, to = 4096, step = 128 }\n"
                                       "expert_width = { from = 256, to = 1024, step = 64 }\n"
                                       "depth = { from = 8, to = 40, step = 4 }",
                                       "a = \"expert_width * depth\"") +
                             "front = [\"p_ms\", { maximise = \"a\" }]\n");
  ASSERT_TRUE(problem.ok());
  const Engine engine(*problem.value, {});
  const std::string one = searched_by(engine, *problem.value, 1);
  EXPECT_EQ(searched_by(engine, *problem.value, 2), one);
  EXPECT_EQ(searched_by(engine, *problem.value, 4), one);
}

TEST(Ranks, ResultsCutOffAreNoResults) {
  std::vector<SlabResult> results(3), read(3);
  results[0].top.best = {{1.5, 7}};
  results[2].front.points = {{{1, 2, 3}, 9}};
  results[2].tally.rejected = {4, 5};
  const SearchRanks ranks{0, 2, {}};
  const std::string bytes = pack_results(results, ranks, false);
  ASSERT_TRUE(unpack_results(bytes, 0, 2, read));
  EXPECT_EQ(read[0].top.best, results[0].top.best);
  EXPECT_EQ(read[2].front.points, results[2].front.points);
  EXPECT_EQ(read[2].tally.rejected, results[2].tally.rejected);
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(unpack_results(bytes.substr(0, length), 0, 2, read)) << length;
  EXPECT_FALSE(unpack_results(pack_results(results, ranks, true), 0, 2, read));
}

}  // namespace
}  // namespace plumbline
