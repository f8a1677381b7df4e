// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plumbline/base/text.h"
#include "plumbline/model/measured.h"
#include "plumbline/model/measured_mla.h"
#include "plumbline/model/measured_moe.h"

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

OperationAnalytic of_attention(const AttentionAnalytic& a) {
  OperationAnalytic out;
  out.us = a.us;
  out.launch_us = a.launch_us;
  out.memory_us = a.memory_us;
  out.tensor_us = a.tensor_us;
  out.moved_us = a.write_us;
  out.longest_us = a.longest_us;
  out.reread_us = a.reread_us;
  out.items_us = a.items_us;
  return out;
}

AttentionAnalytic to_attention(const OperationAnalytic& o) {
  AttentionAnalytic a;
  a.us = o.us;
  a.launch_us = o.launch_us;
  a.memory_us = o.memory_us;
  a.tensor_us = o.tensor_us;
  a.write_us = o.moved_us;
  a.longest_us = o.longest_us;
  a.reread_us = o.reread_us;
  a.items_us = o.items_us;
  return a;
}

const GemmShape& gemm(const KernelShape& s) { return std::get<GemmShape>(s); }
const AttentionShape& attention(const KernelShape& s) { return std::get<AttentionShape>(s); }
const MoeShape& moe(const KernelShape& s) { return std::get<MoeShape>(s); }
const GroupedGemmShape& grouped(const KernelShape& s) { return std::get<GroupedGemmShape>(s); }
const MlaShape& mla(const KernelShape& s) { return std::get<MlaShape>(s); }
const CollectiveShape& collective(const KernelShape& s) { return std::get<CollectiveShape>(s); }

double bytes_of(const CollectiveShape& s) {
  return static_cast<double>(s.elements) * static_cast<double>(s.element_bytes);
}

/// Bytes that one GPU must send: a ring's share of the message, twice for an all-reduce.
double sent_bytes(const CollectiveShape& s) {
  const auto n = static_cast<double>(s.gpus);
  return bytes_of(s) * (n - 1) / n * (s.op == CollectiveOp::all_reduce ? 2 : 1);
}

constexpr std::array<std::string_view, 2> kCollectiveConstants{"t0_us", "bandwidth"};

bool all_positive(std::span<const double> c) {
  return std::all_of(c.begin(), c.end(), [](double v) { return v >= 0 && v < 1e6; });
}

std::vector<double> low_gemm(std::vector<double> c, double quant_us, double quant_bytes) {
  c.push_back(quant_us);
  c.push_back(quant_bytes);
  return c;
}

OperationFamily mla_family() {
  return {kMlaConstants,
          kMlaFeatures,
          [](const Machine& m, std::span<const double> c, const KernelShape& s) {
            return mla_analytic(m, c, mla(s));
          },
          [](const Machine& m, const OperationAnalytic& a, const KernelShape& s, std::span<float> out) {
            mla_features(m, a, mla(s), out);
          },
          [](const Machine& m, const KernelShape& s) {
            constexpr std::array<double, 6> ideal{0, 1, 1, 1, 0, 0};
            return mla_analytic(m, ideal, mla(s)).us;
          },
          [](const KernelShape& s) -> std::array<double, 3> {
            const MlaShape& shape = mla(s);
            return {static_cast<double>(shape.kv_len), static_cast<double>(shape.batch),
                    static_cast<double>(shape.heads)};
          },
          [](std::span<const double> c) {
            return all_positive(c) && c[0] > 0.1 && c[1] > .05 && c[2] > .01 && c[3] > .01;
          },
          {{50, .8, .6, .5, 2, 50}, {300, .8, .5, .2, 2, 50}}};
}

OperationFamily attention_family(bool decode) {
  OperationFamily f;
  f.domain = [](const KernelShape& s) { return domain_of(attention(s)); };
  f.roofline_us = [](const Machine& m, const KernelShape& s) {
    return attention_roofline_us(m, attention(s));
  };
  if (decode) {
    f.constants = kDecodeConstants;
    f.features = kDecodeFeatures;
    f.analytic = [](const Machine& m, std::span<const double> c, const KernelShape& s) {
      return of_attention(decode_analytic(m, c, attention(s)));
    };
    f.fill = [](const Machine& m, const OperationAnalytic& a, const KernelShape& s, std::span<float> out) {
      decode_features(m, to_attention(a), attention(s), out);
    };
    f.valid = [](std::span<const double> c) { return c[0] > 0.1 && c[1] > 0.05 && c[2] >= 0; };
    f.starts = {{9.8, .88, .027}};
    return f;
  }
  f.constants = kPrefillConstants;
  f.features = kPrefillFeatures;
  f.analytic = [](const Machine& m, std::span<const double> c, const KernelShape& s) {
    return of_attention(prefill_analytic(m, c, attention(s)));
  };
  f.fill = [](const Machine& m, const OperationAnalytic& a, const KernelShape& s, std::span<float> out) {
    prefill_features(m, to_attention(a), attention(s), out);
  };
  f.valid = [](std::span<const double> c) {
    return c[0] > 0.1 && c[1] > 0.05 && c[1] < 2 && c[2] >= 0 && c[3] >= 0 && c[4] >= 0 && c[5] >= 0 &&
           c[6] > 0.05 && c[7] >= 0 && c[8] >= 1;
  };
  for (int tiling = 0; tiling < kTilings; ++tiling)
    f.starts.push_back({9.4, 1.3, 250, 1.7, 1.1, 2.3, .8, .15, 2.3, static_cast<double>(tiling)});
  return f;
}

OperationFamily gemm_family() {
  return {kLowGemmConstants,
          kLowGemmFeatures,
          [](const Machine& m, std::span<const double> c, const KernelShape& s) {
            return low_gemm_analytic(m, c, gemm(s));
          },
          [](const Machine& m, const OperationAnalytic& a, const KernelShape& s, std::span<float> out) {
            low_gemm_features(m, a, gemm(s), out);
          },
          [](const Machine& machine, const KernelShape& shape) {
            const GemmShape& s = gemm(shape);
            const DtypeCost& cost = cost_of(s.dtype);
            const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n),
                       k = static_cast<double>(s.k);
            return std::max(2 * m * n * k / tensor_rate(machine, s.dtype),
                            (cost.activation_bytes * m * k + cost.weight_bytes * n * k + 2 * m * n) /
                                machine.bytes_per_us);
          },
          [](const KernelShape& s) { return domain_of(gemm(s)); },
          [](std::span<const double> c) {
            return c[0] > 0.1 && c[1] > 0.05 && c[2] >= 1 && c[2] < 20 && c[3] > 0.01 && c[4] >= 0 &&
                   c[5] >= 0 && c[5] <= 1 && c[6] > 0 && c[7] >= 0 && c[8] >= 0 && c[9] >= 0 &&
                   std::abs(c[10]) < 2 && c[11] >= 0 && c[12] >= 0;
          },
          {low_gemm({2.7, .84, 2.4, .8, .03, .4, 300, 2.2, 1.1, .035, -.12}, 1, 1),
           low_gemm({3.45, .78, 2.4, .9, .20, .75, 400, 1.2, .28, .056, -.32}, 1, 3)}};
}

OperationFamily moe_family() {
  return {kMoeConstants,
          kMoeFeatures,
          [](const Machine& m, std::span<const double> c, const KernelShape& s) {
            return moe_analytic(m, c, moe(s));
          },
          [](const Machine& m, const OperationAnalytic& a, const KernelShape& s, std::span<float> out) {
            moe_features(m, a, moe(s), out);
          },
          [](const Machine& m, const KernelShape& s) {
            constexpr std::array<double, 8> ideal{0, 1, 50, 1, 0, 0, 0, 0};
            return moe_analytic(m, ideal, moe(s)).us;
          },
          [](const KernelShape& s) -> std::array<double, 3> {
            const MoeShape& shape = moe(s);
            return {static_cast<double>(shape.tokens),
                    static_cast<double>(shape.hidden) * static_cast<double>(shape.inter) /
                        static_cast<double>(shape.tp),
                    static_cast<double>(shape.experts) / static_cast<double>(shape.ep)};
          },
          [](std::span<const double> c) {
            return all_positive(c) && c[0] > 0.1 && c[1] > .05 && c[2] >= 1 && c[2] < 20 && c[3] > .01 &&
                   c[4] <= 1;
          },
          {{20, .8, 2.5, .6, .3, 1, 1, .5}, {45, .9, 2, .6, .4, 1, 1, 5}}};
}

OperationFamily grouped_family() {
  return {kMoeConstants,
          kGroupedFeatures,
          [](const Machine& m, std::span<const double> c, const KernelShape& s) {
            return grouped_analytic(m, c, grouped(s));
          },
          [](const Machine& m, const OperationAnalytic& a, const KernelShape& s, std::span<float> out) {
            grouped_features(m, a, grouped(s), out);
          },
          [](const Machine& m, const KernelShape& s) {
            constexpr std::array<double, 8> ideal{0, 1, 50, 1, 0, 0, 0, 0};
            return grouped_analytic(m, ideal, grouped(s)).us;
          },
          [](const KernelShape& s) -> std::array<double, 3> {
            const GroupedGemmShape& shape = grouped(s);
            return {static_cast<double>(shape.tokens * shape.topk),
                    static_cast<double>(shape.hidden) * static_cast<double>(shape.inter),
                    static_cast<double>(shape.experts)};
          },
          [](std::span<const double> c) {
            return all_positive(c) && c[0] > 0.1 && c[1] > .05 && c[2] >= 1 && c[2] < 20 && c[3] > .01 &&
                   c[4] <= 1;
          },
          {{8, .8, 2.5, .7, .3, .5, 1, 0}}};
}

OperationFamily collective_family() {
  return {
      kCollectiveConstants,
      0,
      [](const Machine& m, std::span<const double> c, const KernelShape& s) {
        OperationAnalytic out;
        out.launch_us = c[0];
        out.memory_us = sent_bytes(collective(s)) / (m.link_bytes_per_us * c[1]);
        out.us = out.launch_us + out.memory_us;
        return out;
      },
      nullptr,
      [](const Machine& m, const KernelShape& s) { return sent_bytes(collective(s)) / m.link_bytes_per_us; },
      [](const KernelShape& s) -> std::array<double, 3> {
        const CollectiveShape& shape = collective(s);
        return {bytes_of(shape), static_cast<double>(shape.gpus), 1};
      },
      [](std::span<const double> c) { return c[0] > 0.1 && c[1] > .01; },
      {{12, .7}}};
}

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

const OperationFamily& family_of(OperationKind kind) {
  static const std::array<OperationFamily, kOperationKinds> families{
      gemm_family(),          attention_family(false),
      attention_family(true), moe_family(),
      grouped_family(),       mla_family(),
      mla_family(),           mla_family(),
      mla_family(),           collective_family()};
  return families[static_cast<std::size_t>(kind)];
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

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += fmt::format("{}{}", out.empty() ? "" : ", ", name);
  return out;
}

}  // namespace

Diagnostics check_request(const KernelSource& source, const KernelRequest& request) {
  if (is_plain(request.shape)) return {};
  const OperationKey key = key_of(request.shape);
  const Operation* operation = find_operation(source, key);
  if (operation == nullptr) {
    for (const auto& one : source.operations) {
      if (one->key == key) return one->found;
    }
    return {diagnose("operation-not-measured",
                     fmt::format("source '{}' has no measured {}: predicted from the data sheet alone",
                                 source.name, name_of(key)))};
  }
  if (!request.kernel.empty() && !operation->kernels.empty() && !place_of(*operation, request.kernel)) {
    return {diagnose("kernel-not-measured",
                     fmt::format("source '{}' has not measured {} by '{}'; it has: {}", source.name,
                                 name_of(key), printable(request.kernel), listed(operation->kernels)))};
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
  const CollectiveShape& s = collective(request.shape);
  const OperationTrees& trees = *operation.trees;
  const std::optional<std::size_t> wanted =
      request.kernel.empty() ? std::nullopt : place_of(operation, request.kernel);
  const std::array<double, 3> at{std::log2(bytes_of(s)), std::log2(static_cast<double>(s.gpus)),
                                 static_cast<double>(s.element_bytes)};
  std::optional<KernelTime> best;
  for (const Curve& curve : trees.curves) {
    if (curve.op != static_cast<std::int32_t>(s.op)) continue;
    if (wanted && static_cast<std::size_t>(curve.kernel) != *wanted) continue;
    const double n = static_cast<double>(s.gpus);
    double log_us = std::log(curve.t0_us + curve.us_per_byte * bytes_of(s) * (n - 1) / n);
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

std::size_t kernel_of(const Operation& operation, const Machine& machine, const KernelRequest& request) {
  const OperationFamily& family = family_of(operation.key.kind);
  Features features{};
  const OperationAnalytic analytic = family.analytic(machine, operation.constants, request.shape);
  const std::size_t count = fill_features(family, machine, analytic, request.shape, 0, features);
  return chosen_kernel(operation, request, features, count);
}

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
    if (out.provenance == Provenance::extrapolated) {
      residual *= 0.5;
      half = std::min(2 * half, 1.0);
    }
  }
  out.ms = analytic.us * std::exp(residual) * 1e-3;
  out.low_ms = out.ms * std::exp(-half);
  out.high_ms = out.ms * std::exp(half);
  return out;
}

}  // namespace plumbline
