// SPDX-License-Identifier: Apache-2.0
// Attention in the measured model: exact pair counts, the analytic times, and the residual's features.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "plumbline/model/layer.h"
#include "plumbline/model/machine.h"

namespace plumbline {

/// Scaled-dot-product attention, queries and output in bf16. `q_len` 1 is decode: the one query sees every
/// key (of the window).
struct AttentionShape {
  std::int64_t batch = 1, q_len = 1, kv_len = 1, heads = 1, kv_heads = 1, head_dim = 64;
  std::int64_t window = 0;  ///< keys that one query sees, itself included; <= 0: all
  bool causal = true;       ///< the last query sees the last key
  AttentionBackend backend = AttentionBackend::best;
  Dtype kv = Dtype::bf16;  ///< of the cache
};

/// Attention's measured backends, in the order that a source keeps them: rows without a backend's name,
/// FlashAttention (its variable-length entry too), cuDNN, FlexAttention.
inline constexpr std::array<AttentionBackend, 4> kMeasuredBackends{
    AttentionBackend::best, AttentionBackend::flash, AttentionBackend::cudnn, AttentionBackend::flex};
/// What their operations are called behind "prefill" and "decode".
inline constexpr std::array<std::string_view, 4> kBackendSuffix{"", "_flash", "_cudnn", "_flex"};

/// The place in kMeasuredBackends of the measurements that stand for `backend`.
constexpr std::size_t measured_place(AttentionBackend backend) {
  return backend == AttentionBackend::best    ? 0
         : backend == AttentionBackend::cudnn ? 2
         : backend == AttentionBackend::flex  ? 3
                                              : 1;
}

/// One query that sees keys before it: decode. (A prompt of one token is prefill.)
bool is_decode(const AttentionShape& shape);

/// Causal over its own prompt, as the prefill rows of every source are: what sees no mask, or keys before the
/// prompt, lies outside them, however ordinary its sizes are. Decode is a kind of its own.
inline bool as_prefill_rows(const AttentionShape& shape) {
  return shape.causal && shape.q_len >= shape.kv_len;
}

/// Query-key pairs of one sequence and head, exactly: a causal query i sees min(kv_len − q_len + i + 1,
/// window) keys, a query without a mask sees kv_len.
double attention_pairs(const AttentionShape& shape);

/// Sizes by which a shape counts as inside or outside what was measured: keys, heads of the batch, head
/// width.
std::array<double, 3> domain_of(const AttentionShape& shape);

/// The larger of tensor and memory time at the data sheet's rates, in microseconds.
double attention_roofline_us(const Machine& machine, const AttentionShape& shape);

/// What the analytic formula says, in microseconds.
struct AttentionAnalytic {
  double us = 0;
  double launch_us = 0, memory_us = 0, tensor_us = 0;
  double write_us = 0;    ///< prefill: writing the KV cache, where the rows include it
  double longest_us = 0;  ///< prefill: the longest tile of queries alone
  double reread_us = 0;   ///< prefill: keys read again for each tile
  double items_us = 0;    ///< decode: issuing one work item a sequence and KV head
};

/// Names of the constants of prefill: t0_us, efficiency (share of the peak), softmax (operations of a pair
/// beside its products, in units of four), tile_us (start and end of a tile of queries), cache_write (bytes
/// of the KV cache, over the data sheet's bandwidth) and cache_wave_us (one wave of the blocks that write it)
/// where the rows include that, bandwidth (share of the data sheet's), reread (share of the keys read again
/// for each tile that costs HBM time), wide (heads wider than 256 over what their work says), tiling (see
/// below).
inline constexpr std::array<std::string_view, 10> kPrefillConstants{
    "t0_us",         "efficiency", "softmax", "tile_us", "cache_write",
    "cache_wave_us", "bandwidth",  "reread",  "wide",    "tiling"};
/// Tiles of queries and keys that a kernel works in, by the constant `tiling`: 0 Hopper's FlashAttention-3,
/// where the query heads of one KV head share a tile; 1 tiles of 64 queries; 2 tiles of 128 queries.
inline constexpr int kTilings = 3;
/// launch + writing the KV cache + (waves of tiles or the longest tile) + memory.
AttentionAnalytic prefill_analytic(const Machine& machine, std::span<const double> constants,
                                   const AttentionShape& shape);

/// Names of the constants of decode: t0_us, bandwidth, item_us (of one sequence and KV head on a whole GPU of
/// 132 SMs).
inline constexpr std::array<std::string_view, 3> kDecodeConstants{"t0_us", "bandwidth", "item_us"};
/// launch + KV bytes / bandwidth + work items.
AttentionAnalytic decode_analytic(const Machine& machine, std::span<const double> constants,
                                  const AttentionShape& shape);

/// How many features a prefill shape has.
inline constexpr std::size_t kPrefillFeatures = 70;
/// Features of a prefill shape: sizes, blocks of three query tiles, then for four ways of tiling the tiles,
/// their waves, the key blocks that masks leave, the longest tile; the parts of the analytic time. `out`
/// holds kPrefillFeatures.
void prefill_features(const Machine& machine, const AttentionAnalytic& analytic, const AttentionShape& shape,
                      std::span<float> out);

/// How many features a decode shape has.
inline constexpr std::size_t kDecodeFeatures = 37;
/// Features of a decode shape: sizes, work items, splits of the keys over the SMs, waves. `out` holds
/// kDecodeFeatures.
void decode_features(const Machine& machine, const AttentionAnalytic& analytic, const AttentionShape& shape,
                     std::span<float> out);

}  // namespace plumbline
