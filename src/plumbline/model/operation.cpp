// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plumbline/base/text.h"
#include "plumbline/model/measured.h"

namespace plumbline {
namespace {

constexpr std::array<std::string_view, kOperationKinds> kKindNames{"gemm",
                                                                   "prefill",
                                                                   "decode",
                                                                   "moe",
                                                                   "grouped_gemm",
                                                                   "mla_prefill",
                                                                   "mla_decode",
                                                                   "mla_attention_prefill",
                                                                   "mla_attention_decode",
                                                                   "collective"};

bool has_dtype(OperationKind kind) { return kind <= OperationKind::grouped_gemm; }

/// What a formula's parts say binds a kernel.
Bound bound_of(const OperationAnalytic& a) {
  const double tensor = std::max(a.tensor_us, a.longest_us);
  const double memory = std::max(a.memory_us, a.moved_us);
  if (a.launch_us >= std::max(tensor, memory)) return Bound::launch;
  return tensor >= memory ? Bound::tensor : Bound::hbm;
}

constexpr double kUnmeasuredHalf = 0.6;

}  // namespace

std::string_view to_string(Routing routing) {
  constexpr std::array<std::string_view, 3> names{"balanced", "power_law_1.01", "power_law_1.2"};
  return names[static_cast<std::size_t>(routing)];
}

std::string_view to_string(CollectiveOp op) {
  constexpr std::array<std::string_view, 4> names{"all_reduce", "all_gather", "reduce_scatter", "alltoall"};
  return names[static_cast<std::size_t>(op)];
}

std::string_view op_of(const KernelShape& shape) {
  constexpr std::array<std::string_view, 6> names{"gemm",         "attention", "moe",
                                                  "grouped_gemm", "mla",       "collective"};
  return names[shape.index()];
}

std::string name_of(const OperationKey& key) {
  const std::string_view kind = kKindNames[static_cast<std::size_t>(key.kind)];
  if (!has_dtype(key.kind)) return std::string(kind);
  const bool cache = key.kind == OperationKind::prefill || key.kind == OperationKind::decode;
  return fmt::format("{}{}{}", kind, cache ? "_kv_" : "_", to_string(key.dtype));
}

std::optional<OperationKey> find_operation_key(std::string_view name) {
  for (std::size_t kind = 0; kind < kOperationKinds; ++kind) {
    for (std::size_t dtype = 0; dtype < kDtypes; ++dtype) {
      const OperationKey key{static_cast<OperationKind>(kind), static_cast<Dtype>(dtype)};
      if (name_of(key) == name) return key;
      if (!has_dtype(key.kind)) break;
    }
  }
  return std::nullopt;
}

OperationKey key_of(const KernelShape& shape) {
  if (const auto* s = std::get_if<GemmShape>(&shape)) return {OperationKind::gemm, s->dtype};
  if (const auto* s = std::get_if<AttentionShape>(&shape))
    return {is_decode(*s) ? OperationKind::decode : OperationKind::prefill, s->kv};
  if (const auto* s = std::get_if<MoeShape>(&shape)) return {OperationKind::moe, s->dtype};
  if (const auto* s = std::get_if<GroupedGemmShape>(&shape)) return {OperationKind::grouped_gemm, s->dtype};
  if (const auto* s = std::get_if<MlaShape>(&shape)) {
    if (s->module) return {s->decode ? OperationKind::mla_decode : OperationKind::mla_prefill, {}};
    return {s->decode ? OperationKind::mla_attention_decode : OperationKind::mla_attention_prefill, {}};
  }
  return {OperationKind::collective, {}};
}

std::string_view plain_kernel(std::string_view name) { return name.substr(0, name.find(' ')); }

const Operation* find_operation(const KernelSource& source, const OperationKey& key) {
  for (const auto& operation : source.operations) {
    if (operation->key != key) continue;
    std::call_once(operation->once, [&operation] {
      if (operation->trees != nullptr || !operation->load) return;
      auto loaded = operation->load();
      operation->found = std::move(loaded.diagnostics);
      if (loaded.value) operation->trees = std::make_shared<const OperationTrees>(std::move(*loaded.value));
    });
    return operation->trees != nullptr ? operation.get() : nullptr;
  }
  return nullptr;
}

namespace {

/// The bf16 GEMM and the attention of a bf16 cache are the source's own.
bool is_plain(const KernelShape& shape) {
  if (const auto* s = std::get_if<GemmShape>(&shape)) return s->dtype == Dtype::bf16;
  if (const auto* s = std::get_if<AttentionShape>(&shape)) return s->kv == Dtype::bf16;
  return false;
}

std::optional<std::size_t> place_of(const Operation& operation, std::string_view kernel) {
  const auto plain = plain_kernel(kernel);
  const auto at = std::find(operation.kernels.begin(), operation.kernels.end(), plain);
  if (at == operation.kernels.end()) return std::nullopt;
  return static_cast<std::size_t>(at - operation.kernels.begin());
}

}  // namespace

namespace {

/// A backend that rows name and the source does not have: the one that would run is predicted, and that is
/// said.
Diagnostics check_backend(const KernelSource& source, const KernelShape& shape,
                          const std::string& operation) {
  const auto* s = std::get_if<AttentionShape>(&shape);
  if (s == nullptr || measured_place(s->backend) < measured_place(AttentionBackend::cudnn)) return {};
  const auto& ops = is_decode(*s) ? source.decode : source.prefill;
  if (ops[measured_place(s->backend)].known()) return {};
  return {diagnose("kernel-not-measured", fmt::format("source '{}' has not measured {} by '{}'", source.name,
                                                      operation, to_string(s->backend)))};
}

}  // namespace

Diagnostics check_request(const KernelSource& source, const KernelRequest& request) {
  const OperationKey key = key_of(request.shape);
  if (is_plain(request.shape)) return check_backend(source, request.shape, name_of(key));
  const Operation* operation = find_operation(source, key);
  if (operation == nullptr) {
    for (const auto& one : source.operations) {
      if (one->key == key) return one->found;
    }
    return {diagnose("operation-not-measured",
                     fmt::format("source '{}' has no measured {}: predicted from the data sheet only",
                                 source.name, name_of(key)))};
  }
  if (!request.kernel.empty() && !operation->kernels.empty() && !place_of(*operation, request.kernel)) {
    return {diagnose("kernel-not-measured", fmt::format("source '{}' has not measured {} by '{}'; it has: {}",
                                                        source.name, name_of(key), printable(request.kernel),
                                                        fmt::join(operation->kernels, ", ")))};
  }
  return {};
}

namespace {

using Features = std::array<float, kMaxFeatures>;

/// The features of a shape and, behind them, the kernel's place.
std::size_t fill_features(const OperationFamily& family, const Machine& machine,
                          const OperationAnalytic& analytic, const KernelShape& shape, std::size_t kernel,
                          Features& out) {
  family.fill(machine, analytic, shape, {out.data(), family.features});
  out[family.features] = static_cast<float>(kernel);
  return family.features + 1;
}

std::size_t chosen_kernel(const Operation& operation, const KernelRequest& request, const Features& features,
                          std::size_t count) {
  if (!request.kernel.empty()) {
    if (const auto place = place_of(operation, request.kernel)) return *place;
  }
  const auto& choice = operation.trees->choice;
  std::size_t best = 0;
  double most = -1e9;
  for (std::size_t i = 0; i < choice.size(); ++i) {
    const double score = evaluate(choice[i], std::span<const float>(features.data(), count));
    if (score > most) {
      most = score;
      best = i;
    }
  }
  return best;
}

KernelTime predict_curve(const Operation& operation, const Machine& machine, std::string_view name,
                         const KernelRequest& request) {
  const auto& s = std::get<CollectiveShape>(request.shape);
  const double bytes = family_of(OperationKind::collective).domain(request.shape)[0];
  const OperationTrees& trees = *operation.trees;
  const std::optional<std::size_t> wanted =
      request.kernel.empty() ? std::nullopt : place_of(operation, request.kernel);
  const std::array<double, 3> at{std::log2(bytes), std::log2(static_cast<double>(s.gpus)),
                                 static_cast<double>(s.element_bytes)};
  std::optional<KernelTime> best;
  for (const Curve& curve : trees.curves) {
    if (curve.op != static_cast<std::int32_t>(s.op)) continue;
    if (wanted && static_cast<std::size_t>(curve.kernel) != *wanted) continue;
    const double n = static_cast<double>(s.gpus);
    double log_us = std::log(curve.t0_us + curve.us_per_byte * bytes * (n - 1) / n);
    for (const CurvePoint& point : curve.points) {
      const double d = (at[0] - static_cast<double>(point.at[0])) / trees.length;
      const double g = (at[1] - static_cast<double>(point.at[1])) / trees.gpus_length;
      const double e = (at[2] - static_cast<double>(point.at[2])) / 1.5;
      log_us += static_cast<double>(point.weight) * std::exp(-0.5 * (d * d + g * g + e * e));
    }
    KernelTime time;
    time.name = name;
    time.ms = std::exp(log_us) * 1e-3;
    const auto sizes = family_of(OperationKind::collective).domain(request.shape);
    bool inside = true;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      inside = inside && sizes[i] >= operation.low[i] && sizes[i] <= operation.high[i];
    const double half = std::min(1.0, curve.spread * (inside ? 1 : 2));
    time.low_ms = time.ms * std::exp(-half);
    time.high_ms = time.ms * std::exp(half);
    time.provenance = inside ? Provenance::interpolated : Provenance::extrapolated;
    time.bound = time.ms * 1e3 < 2 * curve.t0_us ? Bound::launch : Bound::hbm;
    if (!best || time.ms < best->ms) best = time;  // unnamed: the fastest is run
  }
  if (best) return *best;
  const OperationFamily& family = family_of(OperationKind::collective);
  const OperationAnalytic a = family.analytic(machine, family.starts.front(), request.shape);
  return {name,
          a.us * 1e-3,
          a.us * 1e-3 * std::exp(-kUnmeasuredHalf),
          a.us * 1e-3 * std::exp(kUnmeasuredHalf),
          Provenance::specification,
          bound_of(a)};
}

}  // namespace

KernelTime predict_kernel(const KernelSource& source, std::string_view name, const KernelRequest& request) {
  if (is_plain(request.shape)) {
    if (const auto* s = std::get_if<GemmShape>(&request.shape)) return predict_gemm(source, name, *s);
    return predict_attention(source, name, std::get<AttentionShape>(request.shape));
  }
  const OperationKey key = key_of(request.shape);
  const Operation* operation = find_operation(source, key);
  if (operation != nullptr && key.kind == OperationKind::collective)
    return predict_curve(*operation, source.machine, name, request);
  const OperationFamily& family = family_of(key.kind);
  const auto& constants = operation != nullptr ? operation->constants : family.starts.front();
  const OperationAnalytic analytic = family.analytic(source.machine, constants, request.shape);
  KernelTime out;
  out.name = name;
  out.bound = bound_of(analytic);
  double half = kUnmeasuredHalf, residual = 0;
  out.provenance = Provenance::specification;
  if (operation != nullptr) {
    const OperationTrees& trees = *operation->trees;
    Features features{};
    const std::size_t count = fill_features(family, source.machine, analytic, request.shape, 0, features);
    features[count - 1] = static_cast<float>(chosen_kernel(*operation, request, features, count));
    const std::span<const float> row(features.data(), count);
    QuantisedRow quantised{};
    quantise_row(trees.residual, row, quantised);
    residual = evaluate(trees.residual, quantised);
    half = std::clamp(operation->band * std::exp(evaluate(trees.spread, row)), 0.005, 1.0);
    const auto sizes = family.domain(request.shape);
    out.provenance = Provenance::interpolated;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] < operation->low[i] || sizes[i] > operation->high[i])
        out.provenance = Provenance::extrapolated;
    }
    if (out.provenance == Provenance::extrapolated) residual *= 0.5;
    const auto* attention = std::get_if<AttentionShape>(&request.shape);
    if (attention != nullptr && key.kind == OperationKind::prefill && !as_prefill_rows(*attention))
      out.provenance = Provenance::extrapolated;
    if (out.provenance == Provenance::extrapolated) half = std::min(2 * half, 1.0);
  }
  out.ms = analytic.us * std::exp(residual) * 1e-3;
  out.low_ms = out.ms * std::exp(-half);
  out.high_ms = out.ms * std::exp(half);
  return out;
}

}  // namespace plumbline
