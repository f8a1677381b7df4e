// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/arch_report.h"

#include <algorithm>
#include <numeric>

#include "plumbline/base/parallel.h"
#include "plumbline/model/kernel_memory.h"
#include "plumbline/search/builtin.h"

namespace plumbline {
namespace {

/// Places of `count` layers in a ranking: places[layer] = rank from 0; of those not ranked `count`.
std::vector<std::size_t> places_of(const std::vector<std::size_t>& order, std::size_t count) {
  std::vector<std::size_t> places(count, count);
  for (std::size_t rank = 0; rank < order.size(); ++rank) places[order[rank]] = rank;
  return places;
}

/// Inversions of `values` by merging, n log n.
std::int64_t count_inversions(std::vector<std::size_t>& values, std::vector<std::size_t>& spare,
                              std::size_t begin, std::size_t end) {
  if (end - begin < 2) return 0;
  const std::size_t middle = begin + (end - begin) / 2;
  std::int64_t count =
      count_inversions(values, spare, begin, middle) + count_inversions(values, spare, middle, end);
  std::size_t i = begin;
  std::size_t j = middle;
  for (std::size_t k = begin; k < end; ++k) {
    if (j >= end || (i < middle && values[i] <= values[j])) {
      spare[k] = values[i++];
    } else {
      count += static_cast<std::int64_t>(middle - i);
      spare[k] = values[j++];
    }
  }
  std::copy(spare.begin() + static_cast<std::ptrdiff_t>(begin),
            spare.begin() + static_cast<std::ptrdiff_t>(end),
            values.begin() + static_cast<std::ptrdiff_t>(begin));
  return count;
}

Agreement agree(const GpuReport& a, const GpuReport& b, std::size_t metric) {
  Agreement result;
  result.a = a.predictor.hardware;
  result.b = b.predictor.hardware;
  result.metric = kReportMetrics[metric];
  const auto n = static_cast<std::int64_t>(a.rankings[metric].size());
  result.pairs = n * (n - 1) / 2;
  result.comparable = comparable(a.predictor, b.predictor);
  if (!result.comparable) return result;
  const auto in_a = places_of(a.rankings[metric], a.predictions.size());
  const auto in_b = places_of(b.rankings[metric], b.predictions.size());
  for (std::size_t i = 0; i < in_a.size(); ++i) {
    if (in_a[i] != in_b[i]) result.moved.push_back(i);
  }
  std::vector<std::size_t> order;
  for (const std::size_t layer : a.rankings[metric]) order.push_back(in_b[layer]);
  std::vector<std::size_t> spare(order.size());
  result.discordant_pairs = count_inversions(order, spare, 0, order.size());
  if (result.pairs > 0) {
    result.kendall_tau =
        1.0 - 2.0 * static_cast<double>(result.discordant_pairs) / static_cast<double>(result.pairs);
  }
  return result;
}

Parsed<GpuReport> report_gpu(const Predictor& predictor, const std::vector<Layer>& layers,
                             const std::optional<PresetVerdict>& preset, unsigned threads) {
  for (const Layer& layer : layers) {
    if (auto reason = unsupported(predictor, layer)) return failed<GpuReport>(std::move(*reason));
  }
  GpuReport gpu{predictor, std::vector<Prediction>(layers.size()), {}, {}};
  for_ranges(layers.size(), threads, [&](std::size_t begin, std::size_t end) {
    KernelMemory memory;
    for (std::size_t i = begin; i < end; ++i) gpu.predictions[i] = predict(predictor, layers[i], &memory);
  });
  std::vector<Score> scores;
  for (const Prediction& prediction : gpu.predictions) scores.push_back(score_of(prediction));
  for (std::size_t m = 0; m < kReportMetrics.size(); ++m) {
    gpu.rankings[m] = rank(scores, kReportMetrics[m]);
    if (preset) std::erase_if(gpu.rankings[m], [&](std::size_t layer) { return !preset->passes(layer); });
  }
  for (const BuiltinSweep& each : builtin_sweeps()) {
    auto swept = sweep(predictor, each.base, each.range);
    if (!swept.ok()) return {std::nullopt, std::move(swept.diagnostics)};
    gpu.cliffs.push_back(std::move(*swept.value));
  }
  return {std::move(gpu), {}};
}

}  // namespace

std::string timed_by(const Predictor& predictor) {
  if (predictor.model == LatencyModel::proxy) return "proxy";
  return predictor.source_name.empty() ? "data sheet" : predictor.source_name;
}

bool comparable(const Predictor& a, const Predictor& b) { return timed_by(a) == timed_by(b); }

Parsed<ArchReport> build_arch_report(std::span<const Predictor> predictors, std::vector<Layer> layers,
                                     unsigned threads, const std::string& preset) {
  ArchReport report;
  if (!preset.empty()) report.preset = judge_by_preset(preset, layers);
  for (const Predictor& predictor : predictors) {
    auto gpu = report_gpu(predictor, layers, report.preset, threads);
    if (!gpu.ok()) return {std::nullopt, std::move(gpu.diagnostics)};
    report.gpus.push_back(std::move(*gpu.value));
  }
  report.layers = std::move(layers);
  for (std::size_t a = 0; a < report.gpus.size(); ++a) {
    for (std::size_t b = a + 1; b < report.gpus.size(); ++b) {
      for (std::size_t m = 0; m < kReportMetrics.size(); ++m) {
        report.agreement.push_back(agree(report.gpus[a], report.gpus[b], m));
      }
    }
  }
  return {std::move(report), {}};
}

}  // namespace plumbline
