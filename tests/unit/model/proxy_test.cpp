// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/proxy.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "plumbline/hardware/hardware_file.h"
#include "plumbline/model/predict.h"

namespace plumbline {
namespace {

const std::vector<std::string> kHardware{PLUMBLINE_SOURCE_DIR "/hardware"};

Hardware gpu(const std::string& name) {
  auto loaded = load_hardware(name, kHardware);
  EXPECT_TRUE(loaded.ok()) << name;
  return loaded.value.value_or(Hardware{});
}

Layer layer_of(const nlohmann::json& config) {
  Layer layer;
  for (const LayerField& field : layer_fields()) {
    const auto& value = config.at(field.name);
    layer.*field.member = value.is_null() ? 0 : value.get<std::int64_t>();
  }
  layer.use_qk_norm = config.at("use_qk_norm").get<bool>();
  return layer;
}

void expect_same(const nlohmann::json& want, const Prediction& got) {
  EXPECT_EQ(want.at("total_ms").get<double>(), got.total_ms);
  EXPECT_EQ(want.at("bottleneck").get<std::string>(), got.kernels()[got.bottleneck].name);
  ASSERT_EQ(want.at("per_kernel").size(), got.kernel_count);
  for (const KernelTime& kernel : got.kernels()) {
    EXPECT_EQ(want.at("per_kernel").at(std::string(kernel.name)).get<double>(), kernel.ms) << kernel.name;
  }
  for (const TilePenalty& tile : got.tile_penalties) {
    const auto& json = want.at("tile_penalties").at(std::string(tile.dimension));
    EXPECT_EQ(json.at("value").get<std::int64_t>(), tile.value);
    EXPECT_EQ(json.at("aligned_128").get<bool>(), tile.aligned_128);
    EXPECT_EQ(json.at("efficiency").get<double>(), tile.efficiency);
    EXPECT_EQ(json.at("wasted_work_pct").get<double>(), tile.wasted_work_pct);
  }
}

TEST(Proxy, EqualsTheOriginalAsDoubles) {
  const std::string path = PLUMBLINE_SOURCE_DIR "/../shared/golden/noeris/predictions.jsonl";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "the original's predictions are not here: " << path;
  std::map<std::string, Predictor> predictors;
  for (const char* name : {"a100", "t4", "h100"}) {
    predictors[name] = choose_predictor(gpu(name), LatencyModel::proxy).value.value();
  }
  std::ifstream file(path);
  int count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    SCOPED_TRACE(line);
    const auto record = nlohmann::json::parse(line);
    const Layer layer = layer_of(record.at("config"));
    EXPECT_TRUE(validate(layer).empty());
    expect_same(record.at("prediction"), predict(predictors.at(record.at("hardware")), layer));
  }
  EXPECT_EQ(count, 600);
}

TEST(Proxy, PartsSumToTheWholeAndTheBandIsThePoint) {
  const Prediction p = predict_proxy(*gpu("h100").proxy, {"", 4096, 32, 8, 128, 14336, 2048, 1});
  double sum = 0;
  for (const KernelTime& kernel : p.kernels()) sum += kernel.ms;
  EXPECT_EQ(sum, p.total_ms);
  EXPECT_EQ(p.low_ms, p.total_ms);
  EXPECT_EQ(p.high_ms, p.total_ms);
  EXPECT_EQ(p.kernel_count, 9u);
}

TEST(Proxy, MoreBandwidthIsNeverSlower) {
  const Layer layer{"", 5000, 40, 8, 128, 13000, 777, 3, true, 300};
  ProxyConstants slow = *gpu("a100").proxy;
  ProxyConstants fast = slow;
  for (double ProxyConstants::*rate :
       {&ProxyConstants::rmsnorm_gbps, &ProxyConstants::geglu_gbps, &ProxyConstants::matmul_tflops,
        &ProxyConstants::attention_tflops, &ProxyConstants::residual_add_gbps,
        &ProxyConstants::qk_norm_rope_gbps}) {
    fast.*rate *= 1.5;
    EXPECT_LT(predict_proxy(fast, layer).total_ms, predict_proxy(slow, layer).total_ms);
    slow = fast;
  }
}

TEST(Proxy, LargestLayersStayFinite) {
  Layer layer{"", 1 << 24, 1 << 16, 1 << 16, 1 << 16, 1 << 24, 1 << 27, 1 << 24};
  ASSERT_TRUE(validate(layer).empty());
  const Prediction p = predict_proxy(*gpu("t4").proxy, layer);
  for (const KernelTime& kernel : p.kernels()) {
    EXPECT_TRUE(std::isfinite(kernel.ms)) << kernel.name;
    EXPECT_GT(kernel.ms, 0) << kernel.name;
  }
}

TEST(Proxy, AWindowAtOrBelowZeroIsFullAttention) {
  const ProxyConstants constants = *gpu("a100").proxy;
  Layer layer{"", 4096, 32, 8, 128, 14336, 2048, 1};
  const double full = predict_proxy(constants, layer).total_ms;
  for (const std::int64_t window : {-5, -1, 0, 2048, 4096}) {
    layer.window_size = window;
    EXPECT_EQ(predict_proxy(constants, layer).total_ms, full) << window;
  }
}

TEST(Predict, TheModelIsChosenOnceAndRefusalsSayWhy) {
  EXPECT_EQ(choose_predictor(gpu("a100"), LatencyModel::proxy).value->model, LatencyModel::proxy);
  Hardware none;
  none.name = "none";
  EXPECT_EQ(choose_predictor(none, LatencyModel::proxy).diagnostics.at(0).code, "model-not-available");
  EXPECT_EQ(choose_predictor(none, LatencyModel::measured).diagnostics.at(0).code, "specification-only");
  EXPECT_EQ(choose_predictor(gpu("t4"), LatencyModel::proxy, "vllm").diagnostics.at(0).code,
            "kernel-source-unknown");
  Layer layer{"", 4096, 32, 8, 128, 14336, 2048, 1};
  const Predictor predictor = *choose_predictor(gpu("t4"), LatencyModel::proxy).value;
  EXPECT_FALSE(unsupported(predictor, layer));
  layer.phase = Phase::decode;
  EXPECT_EQ(unsupported(predictor, layer)->code, "proxy-no-decode");
}

}  // namespace
}  // namespace plumbline
