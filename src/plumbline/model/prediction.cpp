// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/prediction.h"

#include <algorithm>
#include <stdexcept>

namespace plumbline {

std::string_view to_string(Provenance provenance) {
  switch (provenance) {
    case Provenance::measured:
      return "measured";
    case Provenance::interpolated:
      return "interpolated";
    case Provenance::modelled:
      return "modelled";
    case Provenance::extrapolated:
      return "extrapolated";
    case Provenance::specification:
      break;
  }
  return "specification";
}

std::string_view to_string(Bound bound) {
  switch (bound) {
    case Bound::tensor:
      return "tensor";
    case Bound::l2:
      return "l2";
    case Bound::launch:
      return "launch";
    case Bound::alignment:
      return "alignment";
    case Bound::hbm:
      break;
  }
  return "hbm";
}

void Prediction::add(const KernelTime& kernel) {
  if (kernel_count == kMaxKernels)
    throw std::length_error("a layer has more kernels than a prediction holds");
  kernel_storage[kernel_count++] = kernel;
}

std::string_view band_scope(const Prediction& prediction) {
  if (prediction.any_card()) return "any_card";
  const auto kernels = prediction.kernels();
  const bool none = std::all_of(kernels.begin(), kernels.end(), [](const KernelTime& kernel) {
    return kernel.provenance == Provenance::specification;
  });
  return none ? "specification" : "one_card";
}

Provenance weakest_provenance(const Prediction& prediction) {
  Provenance weakest = Provenance::measured;
  for (const KernelTime& kernel : prediction.kernels()) weakest = std::max(weakest, kernel.provenance);
  return weakest;
}

double tile_efficiency(std::int64_t value) {
  const std::int64_t tiles = (value + 127) / 128;
  return static_cast<double>(value) / static_cast<double>(128 * tiles);
}

TilePenalty tile_penalty(std::string_view dimension, std::int64_t value) {
  const double efficiency = tile_efficiency(value);
  return {dimension, value, value % 128 == 0, efficiency, (1.0 / efficiency - 1.0) * 100.0};
}

void finish(Prediction& prediction) {
  prediction.total_ms = prediction.low_ms = prediction.high_ms = 0;
  prediction.bottleneck = 0;
  for (std::size_t i = 0; i < prediction.kernel_count; ++i) {
    const KernelTime& kernel = prediction.kernel_storage[i];
    prediction.total_ms += kernel.ms;
    prediction.low_ms += kernel.low_ms;
    prediction.high_ms += kernel.high_ms;
    if (kernel.ms > prediction.kernel_storage[prediction.bottleneck].ms) prediction.bottleneck = i;
  }
}

}  // namespace plumbline
