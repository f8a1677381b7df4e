// SPDX-License-Identifier: Apache-2.0
// Proxy predictions a second on one core. benchmarks/proxy.py times the same formulas in plain Python.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "plumbline/hardware/hardware_file.h"
#include "plumbline/model/predict.h"
#include "plumbline/search/rank.h"

namespace {

using namespace plumbline;

Predictor proxy() {
  const std::vector<std::string> folder{PLUMBLINE_SOURCE_DIR "/hardware"};
  return choose_predictor(load_hardware("a100", folder).value.value(), LatencyModel::proxy).value.value();
}

/// Layers that differ in every field, so that no branch is always the same.
std::vector<Layer> layers(std::size_t count) {
  std::vector<Layer> all;
  for (std::size_t i = 0; i < count; ++i) {
    const auto n = static_cast<std::int64_t>(i);
    all.push_back({"", 512 + 64 * (n % 97), 8 * (1 + n % 8), 1 << (n % 4), 64 << (n % 3),
                   1024 + 32 * (n % 501), 128 + n % 4000, 1 + n % 4, n % 2 == 0, n % 3 == 0 ? 1024 : 0});
  }
  return all;
}

void Predict(benchmark::State& state) {
  const Predictor predictor = proxy();
  const std::vector<Layer> input = layers(4096);
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(predict(predictor, input[i++ & 4095]));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Predict);

void ScoreAndRank(benchmark::State& state) {
  const Predictor predictor = proxy();
  const std::vector<Layer> input = layers(100'000);
  for (auto _ : state) {
    const auto scores = score_all(predictor, input, 1);
    benchmark::DoNotOptimize(rank(scores, Metric::total_ms));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(input.size()));
}
BENCHMARK(ScoreAndRank)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
