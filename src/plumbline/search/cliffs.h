// SPDX-License-Identifier: Apache-2.0
// Cliffs: dimensions a little away that cost much less, or where a little more costs much more; and why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/model/layer.h"
#include "plumbline/model/measured.h"

namespace plumbline {

/// Why a size is slow.
enum class CliffCause {
  alignment,   ///< a GEMM's width is no multiple of 8 elements (16 bytes): slow kernels
  wave,        ///< one more wave of tiles for a few rows or columns
  tile,        ///< tiles that are mostly padding
  head_width,  ///< a head width that attention kernels pad to the next supported one
  none         ///< costs what its work costs
};
/// "alignment", "wave", "tile", "head-width" or "none".
std::string_view to_string(CliffCause cause);

/// One neighbour of a dimension's value.
struct Neighbour {
  std::int64_t value = 0;
  double ms = 0;
  double change_pct = 0;                ///< of time against the shape as it is
  double work_change_pct = 0;           ///< of the dimension itself
  CliffCause cause = CliffCause::none;  ///< why this neighbour is slow, where it is
};

/// A dimension of a layer, or a GEMM's, with its neighbours in ascending order.
struct DimensionCliffs {
  std::string dimension;  ///< "hidden_dim", "ffn_dim", "head_dim", "seq_len", "vocab_size", …
  std::int64_t value = 0;
  double ms = 0;
  CliffCause cause = CliffCause::none;  ///< why the value itself is slow
  std::int64_t better = 0;  ///< the nearest size that is worth the change; `value` itself when none is
  double better_ms = 0;
  double saving_pct = 0;  ///< of time, at `better`
  std::vector<Neighbour> neighbours;
};

/// Scans hidden_dim, ffn_dim, head_dim and seq_len (prefill) at ±1, ±2, ±4, ±8, ±64, ±128 and at the
/// multiples of 8, 64 and 128 next to the value. Neighbours that make no valid layer are left out.
std::vector<DimensionCliffs> layer_cliffs(const KernelSource& source, const Layer& layer);

/// The same for the LM head: y[tokens, vocab] = x[tokens, hidden]·w, around the vocabulary's size.
DimensionCliffs vocabulary_cliffs(const KernelSource& source, std::int64_t tokens, std::int64_t hidden_dim,
                                  std::int64_t vocab_size);

}  // namespace plumbline
