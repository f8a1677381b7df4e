// SPDX-License-Identifier: Apache-2.0
// Tables of kernel times: layers of every point on every GPU, and what stands outside them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plumbline/base/numbers.h"
#include "plumbline/model/measured.h"
#include "plumbline/model/operation.h"
#include "plumbline/search/problem_builder.h"

namespace plumbline {

double picoseconds(double ms) { return std::round(ms * 1e9); }

namespace {

std::string_view to_string(Variant variant) {
  return variant == Variant::plain ? "layer" : variant == Variant::full ? "full" : "window";
}

}  // namespace

bool ProblemBuilder::needs_band() const {
  const auto high = [](const Expression& expression) {
    return std::any_of(expression.nodes.begin(), expression.nodes.end(), [](const ExpressionNode& node) {
      return node.op == Op::name && node.name.ends_with("_high_ms");
    });
  };
  const Space& space = problem_.space;
  return std::any_of(space.constraints.begin(), space.constraints.end(),
                     [&](const auto& c) { return c.upper_band || high(c.expression); }) ||
         std::any_of(space.derived.begin(), space.derived.end(),
                     [&](const auto& d) { return high(d.expression); }) ||
         std::any_of(space.front.begin(), space.front.end(),
                     [&](const auto& f) { return high(f.expression); }) ||
         high(space.objective.expression);
}

bool ProblemBuilder::add_sum(const std::string& symbol, std::vector<CostSource> sources) {
  std::string text;
  std::size_t count = 0;
  for (std::vector<CostSource>& group : group_sources(context(), std::move(sources))) {
    const std::string name = fmt::format("t_{}_{}", symbol, count++);
    auto table = tabulate(context(), {name, std::move(group)});
    if (!good(table.diagnostics)) return false;
    for (const double value : table.value->values) {
      if (!(value >= 0))
        return good({diagnose("search-no-time", fmt::format("{}: no time for a shape", name))});
      if (value != kNoShape) largest_ = std::max(largest_, value);
    }
    add(std::move(*table.value));
    text += (text.empty() ? "" : " + ") + name;
  }
  builder_.define(symbol, expression_of(text.empty() ? "0" : text));
  return true;
}

bool ProblemBuilder::add_layer(const SpacePoint& point, const SearchHardware& gpu, const std::string& base,
                               Variant variant, bool band) {
  const Predictor& predictor = gpu.predictor;
  const LayerParts parts = problem_.parts;
  const auto at_point = [point, variant](ShapeLayer shape) {
    shape.layer.phase = point.phase;
    shape.layer.seq_len = point.seq_len;
    shape.layer.batch_size = point.batch_size;
    shape.layer.backend = point.backend;
    if (variant == Variant::full) shape.layer.window_size = 0;
    return shape;
  };
  ShapeLayer probe;
  probe.layer = {"", 4096, 32, 8, 128, 14336};
  probe = at_point(probe);
  if (auto reason = unsupported(predictor, probe.layer, point.at)) return good({std::move(*reason)});
  const bool by_window = variant != Variant::full && predictor.source != nullptr;
  std::vector<CostSource> times, squares;
  for (std::size_t i = 0; i < rank_kernel_count(predictor, probe, parts); ++i) {
    const std::string name(rank_kernel(predictor, probe, parts, i).name);
    const bool in_layer = name != "experts" && name != "all_reduce";
    std::uint32_t fields = kernel_fields(name, by_window && in_layer);
    if (variant == Variant::full) fields &= ~(1U << kWindowField);
    const auto kernel = [&predictor, at_point, parts, i](const ShapeLayer& shape, KernelMemory& memory) {
      return rank_kernel(predictor, at_point(shape), parts, i, &memory);
    };
    times.push_back(
        {name, fields, false, [kernel](const ShapeLayer& shape, std::int64_t, KernelMemory& memory) {
           return picoseconds(kernel(shape, memory).ms);
         }});
    squares.push_back(
        {name, fields, false, [kernel](const ShapeLayer& shape, std::int64_t, KernelMemory& memory) {
           const KernelTime time = kernel(shape, memory);
           const double half = (time.high_ms - time.ms) * 1e9;
           return half * half;
         }});
  }
  const std::string stem = base + "_" + std::string(to_string(variant)) + "_ps";
  if (!add_sum(stem, std::move(times))) return false;
  if (!band) return true;
  const std::string high = base + "_high_" + std::string(to_string(variant)) + "_ps";
  const auto ratio = [&predictor, at_point](const ShapeLayer& shape, std::int64_t, KernelMemory&) {
    if (predictor.source == nullptr) return 1.0;
    return std::exp(layer_half_width(*predictor.source, layer_kind(at_point(shape).layer)));
  };
  const double before = largest_;
  if (!add_sum(high + "_squares", std::move(squares))) return false;
  largest_ = before;
  if (!add_sum(high + "_ratio", {{"band", variant == Variant::full ? 0U : 1U << kWindowField, false, ratio}}))
    return false;
  builder_.define(high,
                  expression_of(fmt::format("max({0} * {1}_ratio, {0} + sqrt({1}_squares))", stem, high)));
  return true;
}

bool ProblemBuilder::add_outside(const SpacePoint& point, const SearchHardware& gpu, const std::string& base,
                                 bool high) {
  const Predictor& predictor = gpu.predictor;
  const bool decode = point.phase == Phase::decode;
  const std::int64_t rows = decode ? point.batch_size : point.batch_size * point.seq_len;
  const auto pick = [high](const KernelTime& time) { return picoseconds(high ? time.high_ms : time.ms); };
  const std::uint32_t hidden = kernel_fields("embedding", false);
  const std::uint32_t shared = kernel_fields("all_reduce", false);
  const std::int64_t logits = point.batch_size;
  std::vector<CostSource> sources;
  sources.push_back({"embedding", hidden, false,
                     [&predictor, rows, pick](const ShapeLayer& s, std::int64_t, KernelMemory&) {
                       return pick(predict_embedding(predictor, "embedding", rows, s.layer.hidden_dim));
                     }});
  sources.push_back({"final_norm", hidden, false,
                     [&predictor, rows, pick](const ShapeLayer& s, std::int64_t, KernelMemory&) {
                       return pick(predict_rmsnorm(predictor, "final_norm", rows, s.layer.hidden_dim));
                     }});
  // Ranks share the vocabulary and gather the logits.
  sources.push_back({"lm_head", shared, true,
                     [&predictor, logits, pick](const ShapeLayer& s, std::int64_t words, KernelMemory&) {
                       if (words < 1) return 0.0;
                       const std::int64_t gpus = s.tensor_parallel, mine = (words + gpus - 1) / gpus;
                       double out =
                           pick(predict_gemm(predictor, "lm_head", logits, mine, s.layer.hidden_dim));
                       if (gpus > 1) {
                         const CollectiveShape gather{CollectiveOp::all_gather, gpus, logits * words, 2};
                         out += pick(predict_kernel(*predictor.source, "logits", {gather}));
                       }
                       return out;
                     }});
  return add_sum(base + (high ? "_high_outside_ps" : "_outside_ps"), std::move(sources));
}

/// What a source has not measured is said once; the proxy knows bf16 layers of one GPU alone.
bool ProblemBuilder::check_parts() {
  if (!problem_.parts.any()) return true;
  const auto largest = [&](std::string_view name, double fallback) {
    double out = fallback;
    for (const SpaceDimension& each : problem_.space.dimensions) {
      if (each.name == name) out = each.values.back();
    }
    return static_cast<std::int64_t>(out);
  };
  const bool low_weights = names(problem_.space, "weight_bits"), low_kv = names(problem_.space, "kv_bits");
  for (std::size_t g = 0; g < problem_.hardware.size(); ++g) {
    const Predictor& predictor = problem_.hardware[g].predictor;
    const SpaceHardware& gpu = problem_.space.hardware[g];
    if (predictor.source == nullptr) {
      return good({diagnose("search-no-time",
                            fmt::format("{}: the proxy model has no times of experts, tensor_parallel, "
                                        "weight_bits or kv_bits; write model = \"measured\"",
                                        gpu.name),
                            gpu.at)});
    }
    std::vector<std::string> reported;
    for (const SpacePoint& point : problem_.space.points) {
      ShapeLayer probe;
      probe.layer = {"", 4096, 32, 8, 128, 14336};
      probe.layer.phase = point.phase;
      probe.layer.seq_len = point.seq_len;
      probe.layer.batch_size = point.batch_size;
      probe.tensor_parallel = std::max<std::int64_t>(2, largest("tensor_parallel", 2));
      probe.num_experts = problem_.parts.experts ? std::max<std::int64_t>(1, largest("num_experts", 64)) : 0;
      if (low_weights) probe.weights = Dtype::fp8;
      if (low_kv) probe.kv = Dtype::fp8;
      for (Diagnostic& each : unmeasured_parts(predictor, probe)) {
        if (std::find(reported.begin(), reported.end(), each.message) != reported.end()) continue;
        reported.push_back(each.message);
        if (!good({std::move(each)})) return false;
      }
    }
  }
  return true;
}

bool ProblemBuilder::add_times() {
  const bool band = needs_band();
  if (!check_parts()) return false;
  for (const SpacePoint& point : problem_.space.points) {
    for (std::size_t g = 0; g < problem_.hardware.size(); ++g) {
      const SearchHardware& gpu = problem_.hardware[g];
      const std::string base = point.name + "_" + problem_.space.hardware[g].symbol;
      const std::vector<Variant> variants =
          pattern_ ? std::vector{Variant::full, Variant::window} : std::vector{Variant::plain};
      for (const Variant variant : variants) {
        if (!add_layer(point, gpu, base, variant, band)) return false;
      }
      if (!whole_model_) continue;
      if (!add_outside(point, gpu, base, false)) return false;
      if (band && !add_outside(point, gpu, base, true)) return false;
    }
  }
  return true;
}

}  // namespace plumbline
