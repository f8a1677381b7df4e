// SPDX-License-Identifier: Apache-2.0
// Cliffs: sizes that cost much more than their work, why, and the nearest size that does not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/model/layer.h"
#include "plumbline/model/measured.h"

namespace plumbline {

/// Why a size is slow.
enum class CliffCause {
  alignment,  ///< a GEMM's width is not a multiple of 8 elements (16 bytes), or of fewer than the size beside
              ///< it
  tile_switch,  ///< the library was recorded to run a kernel of another tile than at the size beside it
  wave,         ///< one more wave of tiles for a few rows or columns
  tile,         ///< tiles with more padding
  kernel,       ///< none of these: the rows show it, probably another kernel is chosen
  head_width,   ///< attention kernels are not built for this head width: it is padded, or refused
  none          ///< costs what its work costs
};
/// "alignment", "tile-switch", "wave", "tile", "kernel", "head-width" or "none".
std::string_view to_string(CliffCause cause);

/// Why a size is slow, against which one, and which kernels were recorded for both: those of the GEMM that
/// loses most. Names are empty where none was recorded.
struct CliffReason {
  CliffCause cause = CliffCause::none;
  std::int64_t beside = 0;  ///< the size that says what this one should cost; 0: this one is not slow
  std::string kernel, beside_kernel;
};

/// What one size costs.
struct SizeCost {
  std::int64_t value = 0;
  double ms = 0, low_ms = 0, high_ms = 0;
  Provenance provenance = Provenance::specification;  ///< the least trustworthy of its kernels
  std::optional<double> measured_ms;  ///< of exactly this GEMM, where the kernel source kept it
  CliffReason reason;                 ///< why it is slow, where it is
  std::string kernel;                 ///< that the library runs for exactly this GEMM, where recorded
  double over_pct = 0;                ///< above what its work should cost, judged by the sizes beside it
};

/// A size near the one asked about.
struct Neighbour : SizeCost {
  double change_pct = 0;       ///< of time against the shape as it is
  double work_change_pct = 0;  ///< of the dimension itself
};

/// A dimension of a layer, or of a GEMM, with its neighbours in ascending order.
struct DimensionCliffs : SizeCost {
  std::string dimension;  ///< "hidden_dim", "ffn_dim", "head_dim", "seq_len", "batch_size", "vocab_size", "n"
  std::int64_t better = 0;  ///< the nearest size that is worth the change; `value` itself when none is
  double better_ms = 0;
  double saving_pct = 0;  ///< of time, at `better`; only a size that is slow for a reason has one
  std::vector<Neighbour> neighbours;
};

/// Scans hidden_dim, ffn_dim (with experts moe_ffn_dim), head_dim, seq_len and, in decode, batch_size at ±1,
/// ±2, ±4, ±8, ±64, ±128 and at the multiples of 8, 64 and 128 next to the value. Neighbours that make no
/// valid layer are left out. A better head_dim is a larger one: heads are padded, not cut.
std::vector<DimensionCliffs> layer_cliffs(const KernelSource& source, const Layer& layer);

/// The same around a GEMM's m, n and k.
std::vector<DimensionCliffs> gemm_cliffs(const KernelSource& source, const GemmShape& shape);

/// The same for the LM head: y[tokens, vocab] = x[tokens, hidden]·w, around the vocabulary's size. A better
/// size is a larger one, for a vocabulary can be padded and not cut; a multiple of 128 or 64 nearby is
/// preferred where it is as fast.
DimensionCliffs vocabulary_cliffs(const KernelSource& source, std::int64_t tokens, std::int64_t hidden_dim,
                                  std::int64_t vocab_size);

}  // namespace plumbline
