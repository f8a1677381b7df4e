// SPDX-License-Identifier: Apache-2.0
// Many layers predicted, and put in order.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "plumbline/model/predict.h"

namespace plumbline {

/// What a ranking is by; less is better in both.
enum class Metric { total_ms, ms_per_mparam_proxy };
/// "total_ms" or "ms_per_mparam_proxy".
std::string_view to_string(Metric metric);

/// What a ranking needs of a prediction: a hundredth of its size, so that millions fit.
struct Score {
  double total_ms = 0;
  double low_ms = 0;
  double high_ms = 0;
  double ms_per_mparam_proxy = 0;
  std::string_view bottleneck;                        ///< a string literal
  Provenance provenance = Provenance::specification;  ///< the weakest of its kernels'
};

/// The score of a prediction.
Score score_of(const Prediction& prediction);

/// `layers[i]`'s score at place i. Layers are valid and supported. The result does not depend on `threads`
/// (0: as many as there are cores, fewer for little work).
std::vector<Score> score_all(const Predictor& predictor, std::span<const Layer> layers, unsigned threads = 1);

/// Indices of `scores`, the best first. Stable: equal ones keep their input order.
std::vector<std::size_t> rank(std::span<const Score> scores, Metric metric);

}  // namespace plumbline
