// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "plumbline/base/parallel.h"
#include "plumbline/hardware/hardware_file.h"
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
