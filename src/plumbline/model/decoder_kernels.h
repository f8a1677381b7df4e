// SPDX-License-Identifier: Apache-2.0
// The kernels of a decoder layer in the order that they run. Predictions, the columns of a fit, measurements
// kept beside a prediction, served steps and searches take them from here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "plumbline/model/layer.h"
#include "plumbline/model/measured_attention.h"
#include "plumbline/model/measured_gemm.h"
#include "plumbline/model/prediction.h"

namespace plumbline {

/// What a kernel does, and with that what its time goes by.
enum class KernelRole : std::uint8_t {
  projection,
  attention,
  stream,      ///< norms and additions of the residual stream
  rotation,    ///< rotary positions, norms of queries and keys
  cache,       ///< new keys and values
  activation,  ///< of the MLP
};

/// Does the kernel go over elements (neither a product nor attention)?
constexpr bool is_pointwise(KernelRole role) {
  return role != KernelRole::projection && role != KernelRole::attention;
}

struct DecoderKernel {
  std::string_view name;
  KernelRole role;
  bool mlp;           ///< the MLP's own: routed experts stand in its place
  std::size_t place;  ///< of a projection, in layer_gemms()
  double elements;    ///< of an element-wise kernel: bf16 elements read or written
};

/// Room for one layer's kernels.
struct DecoderKernels {
  std::array<DecoderKernel, kMaxKernels> storage;
  std::size_t count = 0;

  const DecoderKernel* begin() const { return storage.data(); }
  const DecoderKernel* end() const { return begin() + count; }
  std::size_t size() const { return count; }
  const DecoderKernel& operator[](std::size_t i) const { return storage[i]; }
};

/// Token rows of a forward pass of the layer.
std::int64_t token_rows(const Layer& layer);

/// The kernels of a valid layer. `writes_cache`: in decode the new keys and values are written by a kernel of
/// their own.
DecoderKernels decoder_kernels(const Layer& layer, bool writes_cache);

/// The layer's projections over `rows` token rows: QKV, output, gate and up (or up alone), down.
std::array<GemmShape, 4> layer_gemms(const Layer& layer, std::int64_t rows);
/// Their names, in that order.
std::array<std::string_view, 4> projection_names(const Layer& layer);
/// The projection of that name, if it is one of the layer's.
std::optional<GemmShape> projection(const Layer& layer, std::string_view name);

/// Heads, lengths and window of the layer's attention. A window of all keys or more is none.
AttentionShape attention_shape(const Layer& layer);

}  // namespace plumbline
