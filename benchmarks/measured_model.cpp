// SPDX-License-Identifier: Apache-2.0
// The measured model on one core: a kernel or layer that was never asked before, a layer of a ranking, and
// loading a hardware file. Beside them the same trees walked by a plain loop, and the proxy.
#include <benchmark/benchmark.h>

#include <array>
#include <string>
#include <vector>

#include "plumbline/hardware/hardware_file.h"
#include "plumbline/model/measured.h"
#include "plumbline/model/predict.h"
#include "plumbline/search/rank.h"

namespace {

using namespace plumbline;

Hardware hardware(const std::string& name) {
  const std::vector<std::string> folder{PLUMBLINE_SOURCE_DIR "/hardware"};
  return load_hardware(name, folder).value.value();
}

/// Sources by argument: 0 is PyTorch's (more operations), 1 is vLLM's (more rows, so larger trees).
std::shared_ptr<const KernelSource> source_of(const benchmark::State& state) {
  return find_source(hardware("h200"), state.range(0) == 0 ? "pytorch" : "vllm");
}

/// Shapes that all differ, so that no branch is always the same.
std::vector<GemmShape> gemms() {
  std::vector<GemmShape> all;
  for (std::int64_t i = 0; i < 4096; ++i) {
    all.push_back({1 + (i * 7919) % 8192, 512 + 64 * ((i * 31) % 251), 512 + 64 * ((i * 17) % 127)});
  }
  return all;
}

std::vector<AttentionShape> attentions(bool decode) {
  std::vector<AttentionShape> all;
  for (std::int64_t i = 0; i < 4096; ++i) {
    AttentionShape shape;
    shape.kv_len = 128 + (i * 61) % 8000;
    shape.q_len = decode ? 1 : shape.kv_len;
    shape.batch = 1 + i % 16;
    shape.heads = 8 * (1 + i % 8);
    shape.kv_heads = std::int64_t{1} << (i % 4);
    shape.head_dim = 64 * (1 + i % 2);
    shape.backend = AttentionBackend::flash;
    all.push_back(shape);
  }
  return all;
}

/// Layers of which no two share a GEMM or an attention.
std::vector<Layer> new_layers() {
  std::vector<Layer> all;
  for (std::int64_t i = 0; i < 65536; ++i) {
    Layer layer;
    layer.hidden_dim = 1024 + 8 * (i % 1021);
    layer.num_kv_heads = std::int64_t{1} << (i % 4);
    layer.num_heads = 8 * (1 + i % 8);
    layer.head_dim = 128;
    layer.ffn_dim = 2048 + 16 * (i % 1499);
    layer.seq_len = 256 + i % 7919;
    all.push_back(layer);
  }
  return all;
}

/// A search's grid: `count` layers, every hidden size with every FFN width and number of heads.
std::vector<Layer> grid(std::size_t count) {
  std::vector<Layer> all;
  for (std::int64_t hidden = 1024; all.size() < count; hidden += 64) {
    for (std::int64_t heads = 8; heads <= 64; heads += 8) {
      for (std::int64_t kv_heads = 1; kv_heads <= 8; kv_heads *= 2) {
        for (std::int64_t ffn = 1; ffn <= 64; ++ffn) {
          Layer layer;
          layer.hidden_dim = hidden;
          layer.num_heads = heads;
          layer.num_kv_heads = kv_heads;
          layer.head_dim = 128;
          layer.ffn_dim = 256 * ffn;
          all.push_back(layer);
        }
      }
    }
  }
  all.resize(count);
  return all;
}

void NewGemm(benchmark::State& state) {
  const auto source = source_of(state);
  const auto shapes = gemms();
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(predict_gemm(*source, "gemm", shapes[i++ & 4095]));
}
BENCHMARK(NewGemm)->Arg(0)->Arg(1);

void NewAttention(benchmark::State& state, bool decode) {
  const auto source = source_of(state);
  const auto shapes = attentions(decode);
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(predict_attention(*source, "attention", shapes[i++ & 4095]));
}
BENCHMARK_CAPTURE(NewAttention, prefill, false)->Arg(0)->Arg(1);
BENCHMARK_CAPTURE(NewAttention, decode, true)->Arg(0)->Arg(1);

void NewLayer(benchmark::State& state) {
  const auto source = source_of(state);
  const auto layers = new_layers();
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(predict_measured(*source, layers[i++ & 65535]));
}
BENCHMARK(NewLayer)->Arg(0)->Arg(1);

/// The arguments: kernel source, layers. The time a layer is 1 / items per second.
void Ranking(benchmark::State& state) {
  const Predictor predictor =
      choose_predictor(hardware("h200"), LatencyModel::measured, state.range(0) == 0 ? "pytorch" : "vllm")
          .value.value();
  const auto layers = grid(static_cast<std::size_t>(state.range(1)));
  for (auto _ : state) {
    const auto scores = score_all(predictor, layers, 1);
    benchmark::DoNotOptimize(rank(scores, Metric::total_ms));
  }
  state.SetItemsProcessed(state.iterations() * state.range(1));
}
BENCHMARK(Ranking)
    ->Args({0, 100'000})
    ->Args({1, 100'000})
    ->Args({0, 1'000'000})
    ->Unit(benchmark::kMillisecond);

void Load(benchmark::State& state, const char* name) {
  for (auto _ : state) benchmark::DoNotOptimize(hardware(name));
}
BENCHMARK_CAPTURE(Load, h200, "h200")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Load, a100, "a100")->Unit(benchmark::kMillisecond);

/// What anyone would write: one tree after the other, a branch a node.
double plain_sum(const Forest& forest, std::span<const float> row) {
  double sum = 0;
  for (std::size_t t = 0; t < forest.trees(); ++t) {
    const std::size_t begin = forest.node_begin[t];
    int at = begin == forest.node_begin[t + 1] ? ~0 : 0;
    while (at >= 0) {
      const ForestNode& node = forest.nodes[begin + static_cast<std::size_t>(at)];
      const float cut = forest.cuts[forest.cut_begin[node.feature] + node.bin];
      at = row[node.feature] > cut ? node.right : node.left;
    }
    sum += forest.leaves[begin + t + static_cast<std::size_t>(~at)];
  }
  return forest.base + sum * forest.scale;
}

template <class Sum>
void trees(benchmark::State& state, Sum sum) {
  const auto source = source_of(state);
  std::vector<std::array<float, kGemmFeatures>> rows;
  for (const GemmShape& shape : gemms()) {
    gemm_features(source->machine, gemm_analytic(source->machine, source->gemm.constants, shape), shape,
                  rows.emplace_back());
  }
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(sum(source->gemm.residual, rows[i++ & 4095]));
}
void TreesOfGemm(benchmark::State& state) {
  trees(state, [](const Forest& f, std::span<const float> row) { return evaluate(f, row); });
}
BENCHMARK(TreesOfGemm)->Arg(0)->Arg(1);
void TreesOfGemmPlainLoop(benchmark::State& state) { trees(state, plain_sum); }
BENCHMARK(TreesOfGemmPlainLoop)->Arg(0)->Arg(1);

void FeaturesOfGemm(benchmark::State& state) {
  const auto source = source_of(state);
  const auto shapes = gemms();
  std::array<float, kGemmFeatures> row{};
  std::size_t i = 0;
  for (auto _ : state) {
    const GemmShape& shape = shapes[i++ & 4095];
    gemm_features(source->machine, gemm_analytic(source->machine, source->gemm.constants, shape), shape, row);
    benchmark::DoNotOptimize(row);
  }
}
BENCHMARK(FeaturesOfGemm)->Arg(0);

void ProxyLayer(benchmark::State& state) {
  const Predictor predictor = choose_predictor(hardware("h100"), LatencyModel::proxy).value.value();
  const auto layers = new_layers();
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(predict(predictor, layers[i++ & 65535]));
}
BENCHMARK(ProxyLayer);

}  // namespace

BENCHMARK_MAIN();
