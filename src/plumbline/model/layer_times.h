// SPDX-License-Identifier: Apache-2.0
// The times of a dense layer's kernels inside the layer, each predicted when it is asked for. Not installed.
#pragma once

#include <array>

#include "plumbline/model/decoder_kernels.h"
#include "plumbline/model/measured.h"

namespace plumbline {

/// Counts of one layer, as doubles.
struct LayerCounts {
  double tokens = 0, heads = 0, kv_heads = 0, dim = 0;
  bool decode = false, window = false;
};

/// The times of a layer's element-wise kernels.
struct PointwiseTimes {
  const KernelSource& source;
  const Layer& layer;
  LayerCounts counts;
  const FittedLayer& fitted;
  double unit;       ///< microseconds of an element
  double low, high;  ///< the band: a small part of the sum is known less well

  PointwiseTimes(const KernelSource& source, const Layer& layer);
  KernelTime of(const DecoderKernel& kernel) const;
};

/// The times of all of its kernels.
struct LayerTimes {
  const KernelSource& source;
  const Layer& layer;
  KernelMemory* memory;
  PointwiseTimes pointwise;
  std::array<GemmShape, 4> gemms;
  LayerKind kind;

  LayerTimes(const KernelSource& source, const Layer& layer, KernelMemory* memory);
  KernelTime of(const DecoderKernel& kernel) const;
  /// Attention that was predicted alone by the framework's own kernel, as it runs inside the layer.
  KernelTime attention(const KernelTime& alone) const;
};

/// The layer's kernels. The attention rows of some sources include writing the cache, and then no kernel of
/// its own does.
DecoderKernels kernels_of(const KernelSource& source, const Layer& layer);

/// Sum, bottleneck, bands and what is told of `layer`'s sizes. `half_width` and `within` (0: none) are those
/// of whole layers.
void finish_layer(Prediction& prediction, const Layer& layer, double half_width, double within);

}  // namespace plumbline
