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

/// Scaled-dot-product attention, bf16. `q_len` 1 is decode: the one query sees every key (of the window).
struct AttentionShape {
  std::int64_t batch = 1, q_len = 1, kv_len = 1, heads = 1, kv_heads = 1, head_dim = 64;
  std::int64_t window = 0;  ///< keys that one query sees, itself included; <= 0: all
  bool causal = true;       ///< the last query sees the last key
  AttentionBackend backend = AttentionBackend::best;
};

/// The backend whose measurements stand for `backend`: FlashAttention's variable-length entry is flash.
inline AttentionBackend measured_backend(AttentionBackend backend) {
  const bool itself = backend == AttentionBackend::best || backend == AttentionBackend::cudnn;
  return itself ? backend : AttentionBackend::flash;
}

/// One query that sees keys before it: decode. (A prompt of one token is prefill.)
bool is_decode(const AttentionShape& shape);

/// Query-key pairs of one sequence and head, exactly: a causal query i sees min(kv_len − q_len + i + 1,
/// window) keys, a query without a mask sees kv_len.
double attention_pairs(const AttentionShape& shape);

/// Sizes by which a shape counts as inside or outside what was measured: keys, heads of the batch, head
/// width.
std::array<double, 3> domain_of(const AttentionShape& shape);

/// What the analytic formula says, in microseconds.
struct AttentionAnalytic {
  double us = 0;
  double launch_us = 0, memory_us = 0, tensor_us = 0;
  double write_us = 0;    ///< prefill: writing the KV cache, where the rows include it
  double longest_us = 0;  ///< prefill: the longest thread block alone
  double items_us = 0;    ///< decode: issuing one work item a sequence and KV head
};

/// Names of the constants of prefill: t0_us, efficiency and bandwidth (shares of the data sheet's), softmax
/// (in units of head width), ramp (keys that a query tile costs beyond its own), p (how memory and tensor
/// time combine), block_p (how the longest block and the whole work combine), cache_write (of the KV cache).
inline constexpr std::array<std::string_view, 8> kPrefillConstants{
    "t0_us", "efficiency", "softmax", "ramp", "bandwidth", "p", "block_p", "cache_write"};
/// launch + KV-cache write + (tensor or the longest block, joined with memory as (a^p + b^p)^(1/p)).
AttentionAnalytic prefill_analytic(const Machine& machine, std::span<const double> constants,
                                   const AttentionShape& shape);

/// Names of the constants of decode: t0_us, bandwidth, item_us (of one sequence and KV head on a whole GPU of
/// 132 SMs).
inline constexpr std::array<std::string_view, 3> kDecodeConstants{"t0_us", "bandwidth", "item_us"};
/// launch + KV bytes / bandwidth + work items.
AttentionAnalytic decode_analytic(const Machine& machine, std::span<const double> constants,
                                  const AttentionShape& shape);

/// How many features a prefill shape has.
inline constexpr std::size_t kPrefillFeatures = 48;
/// Features of a prefill shape: sizes, thread blocks and waves of three query tiles with and without packed
/// heads, key blocks that masks waste, the longest block. `out` holds kPrefillFeatures.
void prefill_features(const Machine& machine, const AttentionAnalytic& analytic, const AttentionShape& shape,
                      std::span<float> out);

/// How many features a decode shape has.
inline constexpr std::size_t kDecodeFeatures = 37;
/// Features of a decode shape: sizes, work items, splits of the keys over the SMs, waves. `out` holds
/// kDecodeFeatures.
void decode_features(const Machine& machine, const AttentionAnalytic& analytic, const AttentionShape& shape,
                     std::span<float> out);

}  // namespace plumbline
