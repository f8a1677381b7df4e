// SPDX-License-Identifier: Apache-2.0
// Prediction: what a model says a layer costs, kernel by kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace plumbline {

/// Where a number comes from, from the most to the least trustworthy.
enum class Provenance { measured, interpolated, modelled, extrapolated, specification };
/// "measured", "interpolated", "modelled", "extrapolated" or "specification".
std::string_view to_string(Provenance provenance);

/// What limits a kernel.
enum class Bound { tensor, hbm, l2, launch, alignment };
/// "tensor", "hbm", "l2", "launch" or "alignment".
std::string_view to_string(Bound bound);

/// One kernel's time. `name` is a string literal.
struct KernelTime {
  std::string_view name;
  double ms = 0;
  double low_ms = 0;  ///< the band, claimed at 90 %; equal to ms where the model has none (proxy)
  double high_ms = 0;
  Provenance provenance = Provenance::specification;
  Bound bound = Bound::hbm;
};

/// How badly a dimension fills 128-wide tiles (the proxy's notion).
struct TilePenalty {
  std::string_view dimension;
  std::int64_t value = 0;
  bool aligned_128 = false;
  double efficiency = 1;       ///< value / (128·ceil(value / 128))
  double wasted_work_pct = 0;  ///< (1 / efficiency − 1)·100
};

/// Room for the kernels of one layer.
inline constexpr std::size_t kMaxKernels = 16;

/// A layer's predicted time. Fixed storage: predicting allocates nothing.
struct Prediction {
  std::array<KernelTime, kMaxKernels> kernel_storage{};
  std::size_t kernel_count = 0;
  double total_ms = 0;  ///< the sum of the kernels, in their order
  double low_ms = 0;
  double high_ms = 0;
  double within_low_ms = 0;  ///< the band on the card that the rows came from; 0 where nothing tells it apart
  double within_high_ms = 0;
  std::size_t bottleneck = 0;                   ///< index of the first largest kernel
  std::array<TilePenalty, 3> tile_penalties{};  ///< hidden_dim, ffn_dim, head_dim
  double ms_per_mparam_proxy = 0;               ///< total_ms / (hidden_dim·ffn_dim / 1e6)

  /// Whether low_ms and high_ms hold on any card of the kind: several sessions of them were measured.
  bool any_card() const { return within_high_ms > 0; }
  /// Appends a kernel. Throws std::length_error where there is no room: none is left out in silence.
  void add(const KernelTime& kernel);
  /// The kernels in their order.
  std::span<const KernelTime> kernels() const { return {kernel_storage.data(), kernel_count}; }
};

/// value / (128·ceil(value / 128)); value >= 1.
double tile_efficiency(std::int64_t value);

/// The penalty of one dimension; `dimension` is a string literal.
TilePenalty tile_penalty(std::string_view dimension, std::int64_t value);

/// On what low_ms and high_ms hold: "any_card" of the kind, "one_card" like the one that was measured, or
/// "specification" where no kernel was.
std::string_view band_scope(const Prediction& prediction);

/// Of all kernels the provenance that says least.
Provenance weakest_provenance(const Prediction& prediction);

/// Sets total_ms, low_ms, high_ms (sums of the kernels in their order) and the bottleneck.
/// A model whose band of the sum is narrower than the sum of the bands overwrites low_ms and high_ms.
void finish(Prediction& prediction);

}  // namespace plumbline
