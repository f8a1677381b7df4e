// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/layer.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"

namespace plumbline {
namespace {

constexpr std::int64_t kMaxDim = 1LL << 24;
constexpr std::int64_t kMaxSeq = 1LL << 27;
constexpr std::int64_t kMaxHeads = 1LL << 16;
constexpr std::int64_t kMaxGpus = 1024;

constexpr auto kFields = std::to_array<LayerField>({
    {"hidden_dim", &Layer::hidden_dim, kMaxDim},
    {"num_heads", &Layer::num_heads, kMaxHeads},
    {"num_kv_heads", &Layer::num_kv_heads, kMaxHeads},
    {"head_dim", &Layer::head_dim, kMaxHeads},
    {"ffn_dim", &Layer::ffn_dim, kMaxDim},
    {"seq_len", &Layer::seq_len, kMaxSeq},
    {"batch_size", &Layer::batch_size, kMaxDim},
    {"window_size", &Layer::window_size, kMaxSeq, std::numeric_limits<std::int64_t>::min()},
});

constexpr auto kPartFields = std::to_array<LayerField>({
    {"experts", &Layer::experts, kMaxHeads, 0},
    {"topk", &Layer::topk, kMaxHeads, 0},
    {"moe_ffn_dim", &Layer::moe_ffn_dim, kMaxDim, 0},
    {"shared_experts", &Layer::shared_experts, kMaxHeads, 0},
    {"shared_ffn_dim", &Layer::shared_ffn_dim, kMaxDim, 0},
    {"kv_lora_rank", &Layer::kv_lora_rank, kMaxDim, 0},
    {"q_lora_rank", &Layer::q_lora_rank, kMaxDim, 0},
    {"tp", &Layer::tp, kMaxGpus},
    {"ep", &Layer::ep, kMaxGpus},
});

constexpr auto kFormatFields = std::to_array<LayerFormatField>({{"dtype", &Layer::dtype},
                                                                {"mlp_dtype", &Layer::mlp_dtype},
                                                                {"shared_dtype", &Layer::shared_dtype},
                                                                {"kv_dtype", &Layer::kv_dtype}});

/// "layer 'x': " when the layer has a name.
std::string prefix_of(const Layer& layer) {
  return layer.name.empty() ? "" : fmt::format("layer '{}': ", printable(layer.name));
}

/// The width of all experts that one token uses.
std::int64_t used_width(const Layer& l) {
  return l.topk * l.moe_ffn_dim + l.shared_experts * l.shared_ffn_dim;
}

/// What is wrong with experts and latent attention as such, or nothing.
std::string inconsistent(const Layer& l) {
  if (l.experts == 0 &&
      (l.topk > 0 || l.moe_ffn_dim > 0 || l.shared_experts > 0 || l.shared_ffn_dim > 0 || l.ep > 1))
    return fmt::format("{} belongs to a layer with experts", l.topk > 0             ? "topk"
                                                             : l.moe_ffn_dim > 0    ? "moe_ffn_dim"
                                                             : l.shared_experts > 0 ? "shared_experts"
                                                             : l.shared_ffn_dim > 0 ? "shared_ffn_dim"
                                                                                    : "ep");
  if (l.experts > 0 && l.topk == 0) return "experts need topk, how many of them a token uses";
  if (l.experts > 0 && l.topk > l.experts)
    return fmt::format("topk is {}, and may be at most the {} experts", l.topk, l.experts);
  if (l.experts > 0 && l.moe_ffn_dim < 1) return "experts need moe_ffn_dim, the width of one of them";
  if (l.experts > 0 && l.shared_experts == 0 && l.shared_ffn_dim > 0)
    return "shared_ffn_dim belongs to a layer with shared_experts";
  if (l.kv_lora_rank == 0 && l.q_lora_rank > 0) return "q_lora_rank belongs to a layer with kv_lora_rank";
  if (l.kv_lora_rank > 0 && l.window_size > 0) return "latent attention has no window_size";
  if (l.kv_lora_rank > 0 && l.num_kv_heads != l.num_heads)
    return "every head of latent attention has its own keys: leave num_kv_heads out";
  const std::int64_t used = used_width(l);
  if (l.experts > 0 && used > kMaxDim)
    return fmt::format("a token uses {} of the experts' widths together, and may use at most {}",
                       format_grouped(used), format_grouped(kMaxDim));
  if (l.experts > 0 && used != l.ffn_dim)
    return fmt::format("ffn_dim is {}, and of experts a token uses {}: leave ffn_dim out", l.ffn_dim, used);
  return {};
}

/// Why `tp` and `ep` GPUs cannot share the layer, or nothing.
std::string cannot_split(const Layer& l) {
  const auto divides = [](std::int64_t n, std::int64_t by) { return n % by == 0; };
  if (!divides(l.tp, l.ep))
    return fmt::format("ep ({}) does not divide tp ({}): experts are dealt to the same GPUs", l.ep, l.tp);
  if (l.has_attention && !divides(l.num_heads, l.tp))
    return fmt::format("{} heads cannot be shared by {} GPUs", l.num_heads, l.tp);
  if (l.has_attention && l.kv_lora_rank == 0 && !divides(l.num_kv_heads, l.tp) &&
      !divides(l.tp, l.num_kv_heads))
    return fmt::format("{} KV heads can neither be shared nor repeated by {} GPUs", l.num_kv_heads, l.tp);
  if (!l.has_mlp) return {};
  if (l.experts == 0 && !divides(l.ffn_dim, l.tp))
    return fmt::format("an MLP of width {} cannot be shared by {} GPUs", l.ffn_dim, l.tp);
  if (!divides(l.experts, l.ep))
    return fmt::format("{} experts cannot be dealt to {} groups", l.experts, l.ep);
  if (l.experts > 0 && !divides(l.moe_ffn_dim, l.tp / l.ep))
    return fmt::format("an expert of width {} cannot be shared by {} GPUs", l.moe_ffn_dim, l.tp / l.ep);
  if (!divides(l.shared_experts * l.shared_ffn_dim, l.tp))
    return fmt::format("a shared expert of width {} cannot be shared by {} GPUs",
                       l.shared_experts * l.shared_ffn_dim, l.tp);
  return {};
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

bool has_parts(const Layer& l) {
  return l.experts > 0 || l.kv_lora_rank > 0 || l.tp > 1 || l.ep > 1 || l.dtype != Dtype::bf16 ||
         l.mlp_dtype != Dtype::bf16 || l.shared_dtype != Dtype::bf16 || l.kv_dtype != Dtype::bf16 ||
         !l.has_attention || !l.has_mlp;
}

void settle(Layer& layer) {
  if (layer.kv_lora_rank > 0) layer.num_kv_heads = layer.num_heads;
  if (layer.experts <= 0) return;
  if (layer.shared_ffn_dim == 0 && layer.shared_experts > 0) layer.shared_ffn_dim = layer.moe_ffn_dim;
  layer.ffn_dim = used_width(layer);
}

bool follows(const Layer& layer, const LayerField& field) {
  if (field.member == &Layer::ffn_dim) return layer.experts > 0;
  const bool of_heads = field.member == &Layer::num_kv_heads || field.member == &Layer::head_dim ||
                        field.member == &Layer::window_size;
  return of_heads && layer.kv_lora_rank > 0;
}

std::span<const LayerField> layer_fields() { return kFields; }

std::span<const LayerField> part_fields() { return kPartFields; }

std::span<const LayerFormatField> format_fields() { return kFormatFields; }

std::vector<PartValue> part_values(const Layer& layer) {
  std::vector<PartValue> out;
  if (!has_parts(layer)) return out;
  for (const LayerField& field : kPartFields) {
    if (layer.*field.member != Layer{}.*field.member) out.push_back({field.name, layer.*field.member});
  }
  // each follows the one before it where it is not given, but for the cache's
  const std::array<Dtype, 4> otherwise{
      Dtype::bf16, layer.dtype, layer.shared_experts > 0 ? layer.mlp_dtype : layer.shared_dtype, Dtype::bf16};
  for (std::size_t i = 0; i < kFormatFields.size(); ++i) {
    const Dtype format = layer.*kFormatFields[i].member;
    if (format != otherwise[i]) out.push_back({kFormatFields[i].name, 0, to_string(format)});
  }
  return out;
}

const LayerField* find_layer_field(std::string_view name) {
  for (const auto fields : {layer_fields(), part_fields()}) {
    for (const LayerField& field : fields) {
      if (field.name == name) return &field;
    }
  }
  return nullptr;
}

std::optional<Diagnostic> check_layer_field(const LayerField& field, std::int64_t value,
                                            std::string_view prefix, const Location& at) {
  if (value < field.min) {
    return diagnose("layer-field-not-positive",
                    fmt::format("{}{} is {}, and must be at least {}", prefix, field.name, value, field.min),
                    at);
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
  for (const auto fields : {layer_fields(), part_fields()}) {
    for (const LayerField& field : fields) {
      if (field.member == &Layer::ffn_dim && layer.experts > 0) continue;  // find_fault() judges the sum
      if (auto wrong = check_layer_field(field, layer.*field.member, start, at)) {
        found.push_back(std::move(*wrong));
      }
    }
  }
  if (!found.empty()) return found;
  if (auto fault = find_fault(layer)) found.push_back(diagnose(fault->code, start + fault->message, at));
  return found;
}

std::optional<LayerFault> find_fault(const Layer& layer) {
  if (layer.num_heads % layer.num_kv_heads != 0) {
    return LayerFault{"layer-heads-not-divisible",
                      fmt::format("num_heads ({}) is not a multiple of num_kv_heads ({})", layer.num_heads,
                                  layer.num_kv_heads)};
  }
  if (std::string why = inconsistent(layer); !why.empty())
    return LayerFault{"layer-parts-inconsistent", std::move(why)};
  if (std::string why = cannot_split(layer); !why.empty())
    return LayerFault{"layer-cannot-split", std::move(why)};
  return std::nullopt;
}

}  // namespace plumbline
