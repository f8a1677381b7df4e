// SPDX-License-Identifier: Apache-2.0
// A dimension of a layer swept: what each size costs, and how well it fills its tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/model/predict.h"

namespace plumbline {

/// first, first + step, … up to last, which is included when a step lands on it.
struct SweepRange {
  std::string dimension;  ///< an integer field of Layer
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t step = 1;
};

/// "hidden_dim=3840:4352:32", "ffn_dim=8000:8064" (step 1). Error: sweep-invalid.
Parsed<SweepRange> parse_sweep(std::string_view text);

/// One size of the swept dimension.
struct SweepPoint {
  std::int64_t value = 0;
  Prediction prediction;
  std::optional<TilePenalty> tile;  ///< of the swept dimension, where that is a width of matrices
  std::optional<double> step_pct;   ///< total_ms against the point before; none for the first
  /// total_ms above the straight line between the sweep's first and last point; none with fewer than three
  /// points. What a size costs beyond growing in proportion.
  std::optional<double> excess_pct;
};

/// A sweep's points in ascending order.
struct Sweep {
  SweepRange range;
  Layer base;
  std::vector<SweepPoint> points;
  std::int64_t values_refused = 0;  ///< sizes that no layer can have (heads that do not divide, say)
};

/// Sweeps `base` (its value of the swept dimension does not matter). Sizes that make the layer invalid are
/// counted and left out; when none is valid, or the model cannot cost the layer, the reason is the error.
/// `progress` hears of every size.
Parsed<Sweep> sweep(const Predictor& predictor, const Layer& base, const SweepRange& range,
                    const std::function<void(std::size_t done, std::size_t all)>& progress = {});

}  // namespace plumbline
