// SPDX-License-Identifier: Apache-2.0
// Layer: the shape of one decoder layer, and what makes it valid.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plumbline/base/diagnostics.h"

namespace plumbline {

enum class Phase { prefill, decode };    ///< decode: one new token a sequence, seq_len is the KV length
enum class Activation { gated, plain };  ///< gated: gate and up projections (SwiGLU, GeGLU)
enum class AttentionBackend { best, flash, cudnn };  ///< best: the faster one is meant

/// One decoder layer, bf16. All dimensions are counts of elements.
struct Layer {
  std::string name;
  std::int64_t hidden_dim = 0;
  std::int64_t num_heads = 0;
  std::int64_t num_kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t ffn_dim = 0;
  std::int64_t seq_len = 2048;
  std::int64_t batch_size = 1;
  bool use_qk_norm = false;
  std::int64_t window_size = 0;  ///< sliding window in keys; <= 0 means full attention
  Phase phase = Phase::prefill;
  Activation activation = Activation::gated;
  AttentionBackend backend = AttentionBackend::best;
};

/// One error a field that is not positive, out of range (dimensions to 2^24, seq_len to 2^27), or not
/// divisible (num_heads by num_kv_heads); each names the field. Empty when the layer is valid.
Diagnostics validate(const Layer& layer, const Location& at = {});

}  // namespace plumbline
