// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "plumbline/base/parallel.h"
#include "plumbline/hardware/hardware_file.h"
#include "plumbline/model/measured.h"
#include "plumbline/search/builtin.h"
#include "plumbline/search/model_cost.h"
#include "plumbline/search/rank.h"
#include "plumbline/search/sweep.h"

namespace plumbline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Predictor proxy(const std::string& name) {
  const std::vector<std::string> folder{PLUMBLINE_SOURCE_DIR "/hardware"};
  return choose_predictor(*load_hardware(name, folder).value, LatencyModel::proxy).value.value();
}

TEST(Rank, IsStableAndLeavesItsInputsAlone) {
  const std::vector<Score> scores{{3, 3, 3, 1, "a"}, {1, 1, 1, 9, "b"}, {3, 3, 3, 1, "c"}, {2, 2, 2, 1, "d"}};
  EXPECT_THAT(rank(scores, Metric::total_ms), ElementsAre(1, 3, 0, 2));
  EXPECT_THAT(rank(scores, Metric::ms_per_mparam_proxy), ElementsAre(0, 2, 3, 1));
}

TEST(Rank, ScoresDoNotDependOnThreads) {
  std::vector<Layer> layers;
  for (int i = 0; i < 10'000; ++i) {
    Layer layer = builtin_layers()[static_cast<std::size_t>(i) % 9];
    layer.seq_len = 1 + i;
    layers.push_back(layer);
  }
  const auto one = score_all(proxy("a100"), layers, 1);
  for (const unsigned threads : {0u, 2u, 3u, 8u}) {
    const auto many = score_all(proxy("a100"), layers, threads);
    for (std::size_t i = 0; i < one.size(); ++i) {
      ASSERT_EQ(one[i].total_ms, many[i].total_ms);
      ASSERT_EQ(one[i].bottleneck, many[i].bottleneck);
    }
  }
}

TEST(Rank, RangesCoverEverythingOnce) {
  for (const std::size_t count : {0u, 1u, 2u, 7u, 100u}) {
    for (const unsigned threads : {1u, 2u, 8u, 200u}) {
      std::vector<int> seen(count, 0);
      for_ranges(count, threads, [&](std::size_t a, std::size_t b) {
        for (std::size_t i = a; i < b; ++i) ++seen[i];
      });
      EXPECT_THAT(seen, testing::Each(1));
    }
  }
}

TEST(Rank, NewerGpusAreFasterOnEveryBuiltinLayer) {
  for (const Layer& layer : builtin_layers()) {
    const double h100 = predict(proxy("h100"), layer).total_ms;
    const double a100 = predict(proxy("a100"), layer).total_ms;
    const double t4 = predict(proxy("t4"), layer).total_ms;
    EXPECT_LT(h100, a100) << layer.name;
    EXPECT_LT(a100, t4) << layer.name;
  }
}

TEST(Sweep, TheLastSizeIsIncluded) {
  const auto range = parse_sweep("hidden_dim=3840:4352:32");
  ASSERT_TRUE(range.ok());
  const auto swept = sweep(proxy("a100"), builtin_sweeps()[0].base, *range.value);
  ASSERT_TRUE(swept.ok());
  ASSERT_EQ(swept.value->points.size(), 17u);
  EXPECT_EQ(swept.value->points.front().value, 3840);
  EXPECT_EQ(swept.value->points.back().value, 4352);
  EXPECT_FALSE(swept.value->points[0].step_pct);
  EXPECT_EQ(swept.value->points[1].tile->efficiency, 3872.0 / 3968.0);
  EXPECT_GT(*swept.value->points[1].excess_pct, 0.5);
  EXPECT_EQ(*swept.value->points.back().excess_pct, 0);
}

TEST(Sweep, RangesAreChecked) {
  for (const char* bad :
       {"hidden_dim", "hidden=1:2", "hidden_dim=", "hidden_dim=1", "hidden_dim=5:4", "hidden_dim=0:4",
        "hidden_dim=1:4:0", "hidden_dim=1:2:3:4", "hidden_dim=a:b", "hidden_dim=1:16777216"}) {
    EXPECT_EQ(parse_sweep(bad).diagnostics.at(0).code, "sweep-invalid") << bad;
  }
  EXPECT_EQ(parse_sweep("num_heads=1:9").value->step, 1);
}

TEST(Sweep, SizesThatNoLayerCanHaveAreCounted) {
  Layer base = *find_builtin_layer("llama3_8b");
  const auto swept = sweep(proxy("a100"), base, {"num_heads", 8, 40, 4});
  ASSERT_TRUE(swept.ok());
  EXPECT_EQ(swept.value->points.size(), 5u);  // 8, 16, 24, 32, 40
  EXPECT_EQ(swept.value->values_refused, 4);
  const auto none = sweep(proxy("a100"), base, {"num_heads", 9, 10, 1});
  EXPECT_EQ(none.diagnostics.at(0).code, "layer-heads-not-divisible");
  base.phase = Phase::decode;
  EXPECT_EQ(sweep(proxy("a100"), base, {"hidden_dim", 64, 128, 64}).diagnostics.at(0).code,
            "proxy-no-decode");
  EXPECT_EQ(sweep(proxy("a100"), base, {"nothing", 64, 128, 64}).diagnostics.at(0).code, "sweep-invalid");
}

Predictor by_data_sheet() {
  const DataSheet sheet{"GPU", "sheet", 132, 4800, 989, 50'000'000, 141'000'000'000, 1979, 0, 450};
  return {"gpu", LatencyModel::measured, {}, "", specification_source(sheet), 141e9};
}

TEST(Sweep, GpusThatCannotShareAreCountedAndWhatFollowsIsRefused) {
  const Predictor predictor = by_data_sheet();
  Layer base{"", 4096, 32, 8, 128, 0, 2048, 1};
  base.experts = 8;
  base.topk = 2;
  base.moe_ffn_dim = 14336;
  settle(base);
  const auto tp = sweep(predictor, base, {"tp", 1, 8, 1});
  ASSERT_TRUE(tp.ok());
  EXPECT_EQ(tp.value->points.size(), 4u);
  EXPECT_EQ(tp.value->values_refused, 4);
  const auto widths = sweep(predictor, base, {"moe_ffn_dim", 1024, 2048, 512});
  ASSERT_TRUE(widths.ok());
  EXPECT_EQ(widths.value->points.size(), 3u);
  EXPECT_TRUE(widths.value->points[0].tile.has_value());
  EXPECT_LT(widths.value->points[0].prediction.total_ms, widths.value->points[2].prediction.total_ms);
  const auto follows = sweep(predictor, base, {"ffn_dim", 1024, 2048, 512});
  ASSERT_FALSE(follows.ok());
  EXPECT_EQ(follows.diagnostics.at(0).code, "sweep-invalid");
}

TEST(Rank, LayersWithPartsScoreAsTheyArePredicted) {
  const Predictor predictor = by_data_sheet();
  std::vector<Layer> layers;
  for (std::int64_t i = 0; i < 400; ++i) {
    Layer layer{"", 1024 + 128 * (i % 7), 32, 8, 128, 4096, 512, 1};
    layer.tp = std::int64_t{1} << (i % 3);
    if (i % 2 == 0) layer.mlp_dtype = Dtype::fp8;
    layers.push_back(layer);
  }
  const auto scores = score_all(predictor, layers, 3);
  for (std::size_t i = 0; i < layers.size(); ++i)
    EXPECT_EQ(scores[i].total_ms, predict(predictor, layers[i]).total_ms) << i;
}

TEST(ModelCost, TheSumIsItsParts) {
  Transformer model;
  model.hidden_dim = 4096;
  model.vocab_size = 1000;
  const Layer full = *find_builtin_layer("llama3_8b");
  Layer sliding = full;
  sliding.window_size = 128;
  model.layers = {{full, 1}, {sliding, 1}, {full, 1}};
  const Workload workload{Phase::prefill, 1000, 2, AttentionBackend::best, false};
  const auto cost = cost_model(proxy("h100"), model, workload);
  ASSERT_TRUE(cost.ok());
  ASSERT_EQ(cost.value->groups.size(), 2u);
  EXPECT_THAT(cost.value->groups[0].indices, ElementsAre(0, 2));
  const auto& c = *cost.value;
  EXPECT_DOUBLE_EQ(c.total_ms, 2 * c.groups[0].prediction.total_ms + c.groups[1].prediction.total_ms +
                                   c.embedding.ms + c.final_norm.ms + c.lm_head.ms);
  EXPECT_DOUBLE_EQ(c.tokens_per_second, 2000 / (c.total_ms / 1e3));
  EXPECT_EQ(c.flops, 2 * c.groups[0].flops + c.groups[1].flops + 2 * Count{2} * 1000 * 4096);
  Workload decode = workload;
  decode.phase = Phase::decode;
  EXPECT_EQ(cost_model(proxy("h100"), model, decode).diagnostics.at(0).code, "proxy-no-decode");
  Workload wrong = workload;
  wrong.seq_len = 0;
  EXPECT_EQ(cost_model(proxy("h100"), model, wrong).diagnostics.at(0).code, "layer-field-not-positive");
}

}  // namespace
}  // namespace plumbline
