// SPDX-License-Identifier: Apache-2.0
// Layer: the shape of one decoder layer, and what makes it valid.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plumbline/base/diagnostics.h"

namespace plumbline {

enum class Phase { prefill, decode };    ///< decode: one new token a sequence, seq_len is the KV length
enum class Activation { gated, plain };  ///< gated: gate and up projections (SwiGLU, GeGLU)
/// Which attention kernel. best: the faster of FlashAttention and cuDNN; varlen: FlashAttention's
/// variable-length entry; flex: compiled FlexAttention, for sliding windows of prompts.
enum class AttentionBackend { best, flash, cudnn, varlen, flex };

/// "prefill" or "decode".
std::string_view to_string(Phase phase);
/// "gated" or "plain".
std::string_view to_string(Activation activation);
/// "best", "flash", "cudnn", "varlen" or "flex".
std::string_view to_string(AttentionBackend backend);

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
  // What a family computes otherwise than Llama does. The proxy knows none of it.
  std::int8_t norms = 2;  ///< normalisations over hidden_dim: 1 (parallel), 2, or 4 (after each block too)
  bool rope = true;       ///< queries and keys are rotated
  bool parallel = false;  ///< attention and MLP read the same input, and one addition takes both
  bool biases = false;    ///< projections add a bias: in the GEMM's last step, at no time of its own
  bool softcap = false;   ///< attention scores are soft-capped: no kernel of that was measured
  bool sinks = false;     ///< a learned sink a head joins the softmax: no kernel of that was measured
};

/// An integer field of Layer with its largest value. The smallest is 1, but for window_size, where every
/// value <= 0 means full attention. With these limits every FLOP count of a layer fits 120 bits.
struct LayerField {
  std::string_view name;
  std::int64_t Layer::*member;
  std::int64_t max;
};

/// hidden_dim, num_heads, num_kv_heads, head_dim, ffn_dim, seq_len, batch_size, window_size.
std::span<const LayerField> layer_fields();

/// The field of that name, or nullptr.
const LayerField* find_layer_field(std::string_view name);

/// Why `value` cannot stand in `field`, or none. `prefix` starts the message ("layer 'x': ", or empty).
/// Codes: layer-field-not-positive, layer-field-out-of-range.
std::optional<Diagnostic> check_layer_field(const LayerField& field, std::int64_t value,
                                            std::string_view prefix, const Location& at = {});

/// One error a field that is not positive, out of range (dimensions to 2^24, seq_len to 2^27, heads and
/// head_dim to 2^16), or not divisible (num_heads by num_kv_heads); each names the field. Empty when the
/// layer is valid. Codes: layer-field-not-positive, layer-field-out-of-range, layer-heads-not-divisible.
Diagnostics validate(const Layer& layer, const Location& at = {});

}  // namespace plumbline
