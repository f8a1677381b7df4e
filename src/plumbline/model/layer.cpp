// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/layer.h"

#include <fmt/format.h>

#include <array>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"

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
std::string prefix_of(const Layer& layer) {
  return layer.name.empty() ? "" : fmt::format("layer '{}': ", printable(layer.name));
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
    case AttentionBackend::flex:
      return "flex";
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

std::optional<Diagnostic> check_layer_field(const LayerField& field, std::int64_t value,
                                            std::string_view prefix, const Location& at) {
  if (value <= 0 && field.member != &Layer::window_size) {
    return diagnose("layer-field-not-positive",
                    fmt::format("{}{} is {}, and must be at least 1", prefix, field.name, value), at);
  }
  if (value > field.max) {
    return diagnose("layer-field-out-of-range",
                    fmt::format("{}{} is {}, and may be at most {}", prefix, field.name,
                                format_grouped(value), format_grouped(field.max)),
                    at);
  }
  return std::nullopt;
}

Diagnostics validate(const Layer& layer, const Location& at) {
  Diagnostics found;
  const std::string start = prefix_of(layer);
  for (const LayerField& field : kFields) {
    if (auto wrong = check_layer_field(field, layer.*field.member, start, at)) {
      found.push_back(std::move(*wrong));
    }
  }
  if (found.empty() && layer.num_heads % layer.num_kv_heads != 0) {
    found.push_back(diagnose("layer-heads-not-divisible",
                             fmt::format("{}num_heads ({}) is not a multiple of num_kv_heads ({})", start,
                                         layer.num_heads, layer.num_kv_heads),
                             at));
  }
  return found;
}

}  // namespace plumbline
