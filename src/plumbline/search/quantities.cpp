// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/quantities.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plumbline/base/numbers.h"

namespace plumbline {
namespace {

std::int64_t whole(double value) { return static_cast<std::int64_t>(value); }

constexpr double kDim = 1 << 24, kHeads = 1 << 16, kSeq = 1 << 27;

constexpr std::array<ShapeField, kShapeFields> kFields{{
    {"hidden_dim", "", kDim, [](ShapeLayer& l, double v) { l.layer.hidden_dim = whole(v); }},
    {"num_heads", "", kHeads, [](ShapeLayer& l, double v) { l.layer.num_heads = whole(v); }},
    {"num_kv_heads", "", kHeads, [](ShapeLayer& l, double v) { l.layer.num_kv_heads = whole(v); }},
    {"head_dim", "", kHeads, [](ShapeLayer& l, double v) { l.layer.head_dim = whole(v); }},
    {"ffn_dim", "", kDim, [](ShapeLayer& l, double v) { l.layer.ffn_dim = whole(v); }},
    {"window_size", "0", kSeq, [](ShapeLayer& l, double v) { l.layer.window_size = whole(v); }},
    {"use_qk_norm", "0", 1, [](ShapeLayer& l, double v) { l.layer.use_qk_norm = v != 0; }},
    {"gated", "1", 1,
     [](ShapeLayer& l, double v) { l.layer.activation = v != 0 ? Activation::gated : Activation::plain; }},
    {"tensor_parallel", "1", 1024, [](ShapeLayer& l, double v) { l.tensor_parallel = whole(v); }},
    {"num_experts", "0", 65536, [](ShapeLayer& l, double v) { l.num_experts = whole(v); }},
    {"experts_per_token", "1", 65536, [](ShapeLayer& l, double v) { l.experts_per_token = whole(v); }},
    {"expert_dim", "1", kDim, [](ShapeLayer& l, double v) { l.expert_dim = whole(v); }},
    {"weight_bits", "16", 16, [](ShapeLayer& l, double v) { l.weights = v == 8 ? Dtype::fp8 : Dtype::bf16; }},
    {"kv_bits", "16", 16, [](ShapeLayer& l, double v) { l.kv = v == 8 ? Dtype::fp8 : Dtype::bf16; }},
}};

enum FieldBit : std::uint32_t {
  kHidden = 1,
  kH = 2,
  kKv = 4,
  kDimBit = 8,
  kFfn = 16,
  kWindow = 32,
  kQkNorm = 64,
  kGated = 128,
  kRanks = 256,
  kExperts = 512,
  kTopk = 1024,
  kExpertDim = 2048,
  kWeightBits = 4096,
  kKvBits = 8192
};

struct KernelFields {
  std::string_view name;
  std::uint32_t bits;
};

constexpr auto kKernels = std::to_array<KernelFields>({
    {"embedding", kHidden},
    {"final_norm", kHidden},
    {"pre_attn_rmsnorm", kHidden},
    {"qkv_projection", kHidden | kH | kKv | kDimBit},
    {"qk_norm_rope", kH | kKv | kDimBit | kQkNorm},
    {"rope", kH | kKv | kDimBit | kQkNorm},
    {"rope_only", kH | kKv | kDimBit | kQkNorm},
    {"kv_cache_write", kKv | kDimBit},
    {"attention", kH | kKv | kDimBit | kWindow},
    {"output_projection", kHidden | kH | kDimBit},
    {"residual_rmsnorm", kHidden},
    {"residual_add", kHidden},
    {"residual_add_1", kHidden},
    {"residual_add_2", kHidden},
    {"pre_mlp_rmsnorm", kHidden},
    {"gate_up_projection", kHidden | kFfn | kGated},
    {"up_projection", kHidden | kFfn | kGated},
    {"geglu_mlp", kHidden | kFfn | kGated},
    {"plain_mlp", kHidden | kFfn | kGated},
    {"gated_activation", kFfn | kGated},
    {"activation", kFfn | kGated},
    {"down_projection", kHidden | kFfn},
    {"router", kHidden | kExperts},
    {"experts", kHidden | kGated | kRanks | kExperts | kTopk | kExpertDim | kWeightBits},
    {"all_reduce", kHidden | kRanks},
});

/// "a + b + c"; "0" for nothing.
std::string sum_of(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : " + ") + part;
  return out.empty() ? "0" : out;
}

/// Keys and values that a sequence of `seq_len` keeps in all layers, in elements.
std::string kept_tokens(std::int64_t seq_len, bool whole_model, bool pattern) {
  if (pattern) {
    return fmt::format("(num_full_layers * {0} + (num_layers - num_full_layers) * min({0}, window_size))",
                       seq_len);
  }
  return fmt::format("({}min({}, window_size if window_size > 0 else {}))",
                     whole_model ? "num_layers * " : "", seq_len, seq_len);
}

}  // namespace

std::span<const ShapeField> shape_fields() { return kFields; }

std::uint32_t kernel_fields(std::string_view kernel, bool by_window) {
  const auto* known =
      std::find_if(kKernels.begin(), kKernels.end(), [&](const KernelFields& k) { return k.name == kernel; });
  if (known == kKernels.end()) return (1U << kShapeFields) - 1;
  std::uint32_t bits = known->bits | (by_window ? kWindow : 0U);
  if ((bits & (kH | kKv | kFfn)) != 0) bits |= kRanks;
  if ((bits & kFfn) != 0) bits |= kExperts;  // a layer of experts does not run it
  if (kernel.ends_with("_projection") || kernel.ends_with("activation")) bits |= kWeightBits;
  // products in fp8 that were measured with their quantising hold norms and additions, unless experts follow
  if (kernel.starts_with("residual_") || kernel.ends_with("_rmsnorm")) bits |= kWeightBits | kExperts;
  if (kernel == "attention") bits |= kKvBits;
  return bits;
}

bool names(const Space& space, std::string_view quantity) {
  const auto same = [&](const auto& each) { return each.name == quantity; };
  return std::any_of(space.dimensions.begin(), space.dimensions.end(), same) ||
         std::any_of(space.derived.begin(), space.derived.end(), same);
}

LayerParts layer_parts(const Space& space) {
  return {names(space, "num_experts"), names(space, "tensor_parallel"),
          names(space, "weight_bits") || names(space, "kv_bits")};
}

std::vector<Quantity> counted_quantities(const Space& space, bool whole_model, bool pattern) {
  std::vector<Quantity> out;
  for (const ShapeField& field : kFields) {
    if (!field.fallback.empty()) out.push_back({std::string(field.name), std::string(field.fallback)});
  }
  const auto add = [&](const char* name, std::string text) { out.push_back({name, std::move(text)}); };
  add("vocab_size", "0");
  add("tied_embeddings", "0");
  const LayerParts parts = layer_parts(space);
  add("kv_element_bytes", "kv_bits / 8");
  add("weight_element_bytes", "weight_bits / 8");
  add("expert_parameters", "(2 + gated) * hidden_dim * expert_dim");
  add("mlp_parameters", parts.experts ? "num_experts * expert_parameters + num_experts * hidden_dim"
                                        " if num_experts > 0 else (2 + gated) * hidden_dim * ffn_dim"
                                      : "(2 + gated) * hidden_dim * ffn_dim");
  add("layer_parameters",
      "hidden_dim * (2 * num_heads + 2 * num_kv_heads) * head_dim + mlp_parameters"
      " + 2 * hidden_dim + 2 * use_qk_norm * head_dim");
  if (pattern) add("num_full_layers", "num_layers // full_every if full_every >= 1 else 0");
  add("parameters", whole_model
                        ? "num_layers * layer_parameters + vocab_size * hidden_dim * (2 - tied_embeddings)"
                          " + hidden_dim"
                        : "layer_parameters");
  const std::string depth = whole_model ? "num_layers * " : "";
  add("active_parameters",
      parts.experts ? "parameters - (" + depth +
                          "(num_experts - experts_per_token) * expert_parameters if num_experts > 0 else 0)"
                    : "parameters");
  add("kv_bytes_per_token",
      fmt::format("{}2 * num_kv_heads * head_dim * kv_element_bytes", whole_model ? "num_layers * " : ""));
  add("ffn_ratio", "ffn_dim / hidden_dim");
  // Embeddings, norms and the LM head stay in two bytes.
  add("weight_bytes",
      parts.low_bits ? fmt::format("2 * parameters - {}layer_parameters * (2 - weight_element_bytes)", depth)
                     : "parameters * weight_element_bytes");
  std::string most;
  for (const SpacePoint& point : space.points) {
    out.push_back({point.name + "_kv_bytes",
                   fmt::format("2 * num_kv_heads * head_dim * kv_element_bytes * {} * {}", point.batch_size,
                               kept_tokens(point.seq_len, whole_model, pattern))});
    const std::string name = point.name + "_kv_bytes";
    most = most.empty() ? name : fmt::format("max({}, {})", most, name);
  }
  const std::string whole_bytes = "weight_bytes + " + (most.empty() ? "0" : most);
  add("memory_bytes", parts.parallel ? fmt::format("({}) / tensor_parallel", whole_bytes) : whole_bytes);
  return out;
}

std::vector<Quantity> timed_quantities(const Space& space, bool whole_model, bool pattern) {
  std::vector<Quantity> out;
  for (const std::string& high : {std::string(), std::string("high_")}) {
    std::vector<std::string> all;
    for (const SpacePoint& point : space.points) {
      std::vector<std::string> gpus;
      for (const SpaceHardware& gpu : space.hardware) {
        const std::string base = fmt::format("{}_{}_{}", point.name, gpu.symbol, high);
        std::string layers = base + "layer_ps";
        if (pattern) {
          layers = fmt::format("num_full_layers * {0}full_ps + (num_layers - num_full_layers) * {0}window_ps",
                               base);
        } else if (whole_model) {
          layers = "num_layers * " + layers;
        }
        out.push_back({base + "ps", whole_model ? fmt::format("{} + {}outside_ps", layers, base) : layers});
        out.push_back({base + "ms", base + "ps * 1e-09"});
        gpus.push_back(gpu.weight == 1 ? base + "ms"
                                       : fmt::format("{} * {}ms", format_double(gpu.weight), base));
      }
      const std::string name = point.name + "_" + high + "ms";
      out.push_back({name, sum_of(gpus)});
      all.push_back(point.weight == 1 ? name : fmt::format("{} * {}", format_double(point.weight), name));
    }
    out.push_back({"weighted_" + high + "ms", sum_of(all)});
  }
  out.push_back({"ms_per_billion_parameters", "weighted_ms / (parameters / 1000000000)"});
  out.push_back({"ms_per_mparam_proxy", "weighted_ms / (hidden_dim * ffn_dim / 1000000)"});
  return out;
}

std::vector<Quantity> basic_constraints(const Space& space) {
  std::vector<Quantity> out;
  for (const ShapeField& field : kFields) {
    const std::string name(field.name);
    const bool any = field.name == "window_size" || field.name == "use_qk_norm" || field.name == "gated" ||
                     field.name == "num_experts";
    if (!field.fallback.empty() && !names(space, name) && field.name != "window_size" &&
        field.name != "use_qk_norm" && field.name != "gated")
      continue;  // it stands at its fallback
    const double least = any ? 0 : 1;
    out.push_back({"valid_" + name, fmt::format("{} <= {} <= {} and floor({}) == {}", format_double(least),
                                                name, format_double(field.max), name, name)});
  }
  out.push_back({"heads_divide", "num_heads % num_kv_heads == 0"});
  for (const char* bits : {"weight_bits", "kv_bits"}) {
    if (names(space, bits))
      out.push_back({std::string(bits) + "_known", fmt::format("{0} == 8 or {0} == 16", bits)});
  }
  if (names(space, "num_experts"))
    out.push_back({"experts_chosen", "num_experts == 0 or experts_per_token <= num_experts"});
  if (names(space, "tensor_parallel")) {
    out.push_back({"ranks_divide_heads", "num_kv_heads % tensor_parallel == 0"});
    out.push_back({"ranks_divide_mlp", "ffn_dim % tensor_parallel == 0"});
    if (names(space, "expert_dim"))
      out.push_back({"ranks_divide_experts", "expert_dim % tensor_parallel == 0"});
  }
  for (const SpaceDimension& each : space.dimensions) {
    if (!each.when) continue;
    out.push_back(
        {each.name + "_in_use", fmt::format("({}) or {} == {}", each.when->text, dimension_symbol(each),
                                            format_double(each.values.front()))});
  }
  return out;
}

std::string dimension_symbol(const SpaceDimension& dimension) {
  return dimension.when ? dimension.name + "__raw" : dimension.name;
}

}  // namespace plumbline
