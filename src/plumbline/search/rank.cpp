// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/rank.h"

#include <algorithm>
#include <utility>

#include "plumbline/base/parallel.h"
#include "plumbline/model/kernel_memory.h"

namespace plumbline {
std::string_view to_string(Metric metric) {
  return metric == Metric::total_ms ? "total_ms" : "ms_per_mparam_proxy";
}

Score score_of(const Prediction& prediction) {
  return {
      prediction.total_ms,
      prediction.low_ms,
      prediction.high_ms,
      prediction.ms_per_mparam_proxy,
      prediction.kernel_count == 0 ? std::string_view{} : prediction.kernels()[prediction.bottleneck].name,
      weakest_provenance(prediction)};
}

std::vector<Score> score_all(const Predictor& predictor, std::span<const Layer> layers, unsigned threads) {
  std::vector<Score> scores(layers.size());
  for_ranges(layers.size(), threads, [&](std::size_t begin, std::size_t end) {
    KernelMemory memory;
    for (std::size_t i = begin; i < end; ++i) scores[i] = score_of(predict(predictor, layers[i], &memory));
  });
  return scores;
}

std::vector<std::size_t> rank(std::span<const Score> scores, Metric metric) {
  double Score::*const key = metric == Metric::total_ms ? &Score::total_ms : &Score::ms_per_mparam_proxy;
  std::vector<std::pair<double, std::size_t>> keyed(scores.size());  // the keys beside the indices: no jumps
  for (std::size_t i = 0; i < keyed.size(); ++i) keyed[i] = {scores[i].*key, i};
  std::sort(keyed.begin(), keyed.end());  // the index decides where keys are equal: stable
  std::vector<std::size_t> order(scores.size());
  std::transform(keyed.begin(), keyed.end(), order.begin(), [](const auto& each) { return each.second; });
  return order;
}

}  // namespace plumbline
