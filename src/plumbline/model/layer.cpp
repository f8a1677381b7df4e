// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/layer.h"

#include <fmt/format.h>

#include <array>

#include "plumbline/base/numbers.h"

namespace plumbline {
namespace {

constexpr std::int64_t kMaxDim = 1LL << 24;
constexpr std::int64_t kMaxSeq = 1LL << 27;
constexpr std::int64_t kMaxHeads = 1LL << 16;

constexpr auto kFields = std::to_array<LayerField>({
    {"hidden_dim", &Layer::hidden_dim, kMaxDim},
    {"num_heads", &Layer::num_heads, kMaxHeads},
    {"num_kv_heads", &Layer::num_kv_heads, kMaxHeads},
    {"head_dim", &Layer::head_dim, kMaxHeads},
    {"ffn_dim", &Layer::ffn_dim, kMaxDim},
    {"seq_len", &Layer::seq_len, kMaxSeq},
    {"batch_size", &Layer::batch_size, kMaxDim},
    {"window_size", &Layer::window_size, kMaxSeq},
});

/// "layer 'x': " when the layer has a name.
std::string prefix(const Layer& layer) {
  return layer.name.empty() ? "" : fmt::format("layer '{}': ", layer.name);
}

}  // namespace

std::string_view to_string(Phase phase) { return phase == Phase::prefill ? "prefill" : "decode"; }

std::string_view to_string(Activation activation) {
  return activation == Activation::gated ? "gated" : "plain";
}

std::string_view to_string(AttentionBackend backend) {
  switch (backend) {
    case AttentionBackend::flash:
      return "flash";
    case AttentionBackend::cudnn:
      return "cudnn";
    case AttentionBackend::varlen:
      return "varlen";
    case AttentionBackend::best:
      break;
  }
  return "best";
}

std::span<const LayerField> layer_fields() { return kFields; }

const LayerField* find_layer_field(std::string_view name) {
  for (const LayerField& field : kFields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

Diagnostics validate(const Layer& layer, const Location& at) {
  Diagnostics found;
  for (const LayerField& field : kFields) {
    const std::int64_t value = layer.*field.member;
    if (value <= 0 && field.member != &Layer::window_size) {
      found.push_back(
          diagnose("layer-field-not-positive",
                   fmt::format("{}{} is {}, and must be at least 1", prefix(layer), field.name, value), at));
    } else if (value > field.max) {
      found.push_back(diagnose("layer-field-out-of-range",
                               fmt::format("{}{} is {}, and may be at most {}", prefix(layer), field.name,
                                           format_grouped(value), format_grouped(field.max)),
                               at));
    }
  }
  if (found.empty() && layer.num_heads % layer.num_kv_heads != 0) {
    found.push_back(diagnose("layer-heads-not-divisible",
                             fmt::format("{}num_heads ({}) is not a multiple of num_kv_heads ({})",
                                         prefix(layer), layer.num_heads, layer.num_kv_heads),
                             at));
  }
  return found;
}

}  // namespace plumbline
