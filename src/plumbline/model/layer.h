// SPDX-License-Identifier: Apache-2.0
// Layer: the shape of one decoder layer, and what makes it valid.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/model/dtype.h"

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

/// One decoder layer. All dimensions are counts of elements, and of the whole layer, however many GPUs share
/// it.
struct Layer {
  std::string name;
  std::int64_t hidden_dim = 0;
  std::int64_t num_heads = 0;
  std::int64_t num_kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t ffn_dim = 0;  ///< with experts: what one token uses of them, by settle()
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
  bool has_attention = true;
  bool has_mlp = true;
  // Parts: what a bf16 layer on one GPU does not have. The proxy knows none of them either.
  std::int64_t experts = 0;         ///< routed experts in the MLP's place; 0: none
  std::int64_t topk = 0;            ///< of them, that one token uses
  std::int64_t moe_ffn_dim = 0;     ///< width of one expert
  std::int64_t shared_experts = 0;  ///< that every token uses beside them
  std::int64_t shared_ffn_dim = 0;  ///< width of one of those; moe_ffn_dim where it is not given
  std::int64_t kv_lora_rank = 0;  ///< of latent attention (MLA); 0: attention has keys and values of its own
  std::int64_t q_lora_rank = 0;   ///< of its queries
  std::int64_t tp = 1;            ///< GPUs of one host that share the layer
  std::int64_t ep = 1;            ///< of them, groups that hold whole experts; tp / ep split each expert
  Dtype dtype = Dtype::bf16;      ///< of the attention's projections
  Dtype mlp_dtype = Dtype::bf16;  ///< of the MLP, or of the routed experts
  Dtype shared_dtype = Dtype::bf16;  ///< of the shared experts
  Dtype kv_dtype = Dtype::bf16;      ///< of the KV cache
};

/// Has the layer parts: another format than bf16, experts, latent attention, several GPUs, or no attention
/// or MLP at all?
bool has_parts(const Layer& layer);

/// Sets what follows from other fields: shared_ffn_dim where it is not given; with experts ffn_dim, topk ·
/// moe_ffn_dim + shared_experts · shared_ffn_dim; with latent attention num_kv_heads, which is num_heads.
/// Sizes in the fields' ranges do not overflow.
void settle(Layer& layer);

/// An integer field of Layer with its smallest and largest value. Of window_size every value <= 0 means full
/// attention. With these limits every FLOP count of a layer fits 120 bits.
struct LayerField {
  std::string_view name;
  std::int64_t Layer::*member;
  std::int64_t max;
  std::int64_t min = 1;
};

/// hidden_dim, num_heads, num_kv_heads, head_dim, ffn_dim, seq_len, batch_size, window_size.
std::span<const LayerField> layer_fields();

/// Does the field follow from others in that layer, so that it cannot be changed by itself? With experts
/// ffn_dim, with latent attention num_kv_heads, head_dim and window_size.
bool follows(const Layer& layer, const LayerField& field);

/// experts, topk, moe_ffn_dim, shared_experts, shared_ffn_dim, kv_lora_rank, q_lora_rank, tp, ep.
std::span<const LayerField> part_fields();

/// A format of Layer by its name: dtype, mlp_dtype, shared_dtype, kv_dtype.
struct LayerFormatField {
  std::string_view name;
  Dtype Layer::*member;
};
std::span<const LayerFormatField> format_fields();

/// A part's field as text or JSON gives it: `format` where it is one, else the number.
struct PartValue {
  std::string_view name;
  std::int64_t number = 0;
  std::string_view format{};
};
/// The fields of the layer's parts that are not what they are without being given.
std::vector<PartValue> part_values(const Layer& layer);

/// The integer field of that name, a part's too, or nullptr.
const LayerField* find_layer_field(std::string_view name);

/// Why `value` cannot stand in `field`, or none. `prefix` starts the message ("layer 'x': ", or empty).
/// Codes: layer-field-not-positive, layer-field-out-of-range.
std::optional<Diagnostic> check_layer_field(const LayerField& field, std::int64_t value,
                                            std::string_view prefix, const Location& at = {});

/// What is wrong between fields that are each in range.
struct LayerFault {
  std::string_view code;  ///< layer-heads-not-divisible, layer-parts-inconsistent or layer-cannot-split
  std::string message;
};
/// The first of them, or none.
std::optional<LayerFault> find_fault(const Layer& layer);

/// One error a field that is not positive, out of range (dimensions to 2^24, seq_len to 2^27, heads, experts
/// and head_dim to 2^16, tp and ep to 1,024), or not divisible (num_heads by num_kv_heads, what GPUs share by
/// their number); each names the field. Empty when the layer is valid. Codes: layer-field-not-positive,
/// layer-field-out-of-range, layer-heads-not-divisible, layer-parts-inconsistent, layer-cannot-split.
Diagnostics validate(const Layer& layer, const Location& at = {});

}  // namespace plumbline
