// SPDX-License-Identifier: Apache-2.0
// A layer as the sum of its kernels, with what fusion and neighbours do to them.
#include <algorithm>
#include <cmath>

#include "plumbline/model/decoder_kernels.h"
#include "plumbline/model/kernel_memory.h"
#include "plumbline/model/layer_parts.h"
#include "plumbline/model/layer_times.h"
#include "plumbline/model/measured.h"
#include "plumbline/model/measured_generic.h"

namespace plumbline {
namespace {

enum Term : std::size_t {
  kGemm,
  kThrottle,
  kFlash,
  kCudnn,
  kKernelUs,
  kResidual,
  kRope,
  kQkNorm,
  kOutputCopy,
  kActivation,
  kKvExpand,
  kCache,
  kTokenUs
};

/// GEMM time beyond this is slowed by the falling clock, in microseconds.
constexpr double kThrottleFromUs = 500;
/// Share of the data sheet's bandwidth that plain copies reach; the scale of the byte terms.
constexpr double kCopyShare = 0.833;

LayerCounts counts_of(const Layer& layer) {
  LayerCounts c;
  c.decode = layer.phase == Phase::decode;
  c.tokens = static_cast<double>(token_rows(layer));
  c.heads = static_cast<double>(layer.num_heads);
  c.kv_heads = static_cast<double>(layer.num_kv_heads);
  c.dim = static_cast<double>(layer.head_dim);
  c.window = layer_kind(layer) == LayerKind::window;
  return c;
}

/// The term that an element-wise kernel's bytes go by.
Term term_of(KernelRole role) {
  switch (role) {
    case KernelRole::rotation:
      return kRope;
    case KernelRole::cache:
      return kCache;
    case KernelRole::activation:
      return kActivation;
    default:
      return kResidual;
  }
}

/// The projection of that place in the layer (0 to 3).
KernelTime gemm_time(const KernelSource& source, std::string_view name, std::size_t place, const GemmShape& s,
                     KernelMemory* memory) {
  if (memory == nullptr) return predict_gemm(source, name, s);
  const KernelKey key{static_cast<std::int64_t>(source.id.value), s.m, s.n, s.k, 0, 0, 0, 0, -1};
  KernelTime time = memory->get(place, key, [&] { return predict_gemm(source, name, s); });
  time.name = name;
  return time;
}

KernelTime attention_time(const KernelSource& source, const AttentionShape& s, KernelMemory* memory) {
  if (memory == nullptr) return predict_attention(source, "attention", s);
  const KernelKey key{static_cast<std::int64_t>(source.id.value),
                      s.batch,
                      s.q_len,
                      s.kv_len,
                      s.heads,
                      s.kv_heads,
                      s.head_dim,
                      s.window,
                      static_cast<std::int64_t>(s.backend)};
  const std::size_t place = s.backend == AttentionBackend::cudnn ? 5 : 4;
  return memory->get(place, key, [&] { return predict_attention(source, "attention", s); });
}

double unit_us(const KernelSource& source) { return 2 / (source.machine.bytes_per_us * kCopyShare); }

double with_throttle(const std::array<double, kLayerTermCount>& t, double us) {
  return t[kGemm] * us + t[kThrottle] * std::max(0.0, us - kThrottleFromUs);
}

KernelTime scaled(KernelTime time, double us) {
  const double factor = time.ms > 0 ? us * 1e-3 / time.ms : 1;
  time.ms *= factor;
  time.low_ms *= factor;
  time.high_ms *= factor;
  return time;
}

/// Microseconds of the layout changes around attention.
double around_attention_us(const KernelSource& source, const std::array<double, kLayerTermCount>& t,
                           const Layer& layer, const LayerCounts& c) {
  const double unit = unit_us(source);
  double us = t[kOutputCopy] * unit * c.tokens * c.heads * c.dim;
  if (c.window && layer.backend != AttentionBackend::flex)  // which takes grouped heads as they are
    us += t[kKvExpand] * unit * (1 - c.kv_heads / c.heads) * c.tokens * c.heads * c.dim;
  return us;
}

Term attention_term(const Layer& layer) { return layer.backend == AttentionBackend::cudnn ? kCudnn : kFlash; }

/// The attention kernel with its fusion terms; with backend `best`, the faster of the backends inside a
/// layer.
KernelTime layer_attention(const KernelSource& source, const std::array<double, kLayerTermCount>& t,
                           const Layer& layer, const LayerCounts& c, KernelMemory* memory) {
  AttentionShape shape = attention_shape(layer);
  const double around = around_attention_us(source, t, layer, c);
  KernelTime best;
  for (const AttentionBackend backend :
       {AttentionBackend::flash, AttentionBackend::cudnn, AttentionBackend::flex}) {
    const bool asked = measured_place(layer.backend) == measured_place(backend);
    if (layer.backend == AttentionBackend::best ? backend == AttentionBackend::flex : !asked) continue;
    if (layer.backend == AttentionBackend::best && backend == AttentionBackend::cudnn && shape.window > 0)
      continue;
    shape.backend = backend;
    const KernelTime alone = attention_time(source, shape, memory);
    // No layer was measured with FlexAttention: what it takes inside one is what it takes alone.
    const double factor = backend == AttentionBackend::flex    ? 1
                          : backend == AttentionBackend::cudnn ? t[kCudnn]
                                                               : t[kFlash];
    const KernelTime time = scaled(alone, factor * alone.ms * 1e3 + around);
    if (best.name.empty() || time.ms < best.ms) best = time;
  }
  const bool unmeasured = layer.softcap || layer.sinks || layer.backend == AttentionBackend::flex;
  if (unmeasured && best.provenance < Provenance::extrapolated) best.provenance = Provenance::extrapolated;
  return best;
}

double pointwise_half_width(const FittedLayer& layer) {
  return layer.rows > 0 ? std::max(layer.half_width * 2, 0.2) : kGenericHalfWidth;
}

}  // namespace

PointwiseTimes::PointwiseTimes(const KernelSource& s, const Layer& l)
    : source(s),
      layer(l),
      counts(counts_of(l)),
      fitted(s.layers[static_cast<std::size_t>(layer_kind(l))]),
      unit(unit_us(s)),
      low(std::exp(-pointwise_half_width(fitted))),
      high(std::exp(pointwise_half_width(fitted))) {}

KernelTime PointwiseTimes::of(const DecoderKernel& kernel) const {
  const auto& t = fitted.terms;
  double us = t[kKernelUs] + t[term_of(kernel.role)] * kernel.elements * unit;
  if (kernel.role == KernelRole::rotation && layer.use_qk_norm) us += t[kQkNorm] * kernel.elements * unit;
  if (kernel.role == KernelRole::cache) us += t[kTokenUs] * counts.tokens;
  KernelTime time{kernel.name, us * 1e-3, 0, 0, Provenance::modelled, Bound::hbm};
  time.low_ms = time.ms * low;
  time.high_ms = time.ms * high;
  if (fitted.rows == 0) time.provenance = Provenance::specification;
  if (t[kKernelUs] > 0.5 * us) time.bound = Bound::launch;
  return time;
}

LayerTimes::LayerTimes(const KernelSource& s, const Layer& l, KernelMemory* m)
    : source(s),
      layer(l),
      memory(m),
      pointwise(s, l),
      gemms(layer_gemms(l, token_rows(l))),
      kind(layer_kind(l)) {}

KernelTime LayerTimes::of(const DecoderKernel& kernel) const {
  if (kernel.role == KernelRole::projection)
    return inside_layer(source, kind,
                        gemm_time(source, kernel.name, kernel.place, gemms[kernel.place], memory));
  if (kernel.role == KernelRole::attention)
    return layer_attention(source, pointwise.fitted.terms, layer, pointwise.counts, memory);
  return pointwise.of(kernel);
}

KernelTime LayerTimes::attention(const KernelTime& alone) const {
  const auto& t = pointwise.fitted.terms;
  KernelTime time =
      scaled(alone, t[kFlash] * alone.ms * 1e3 + around_attention_us(source, t, layer, pointwise.counts));
  if ((layer.softcap || layer.sinks) && time.provenance < Provenance::extrapolated)
    time.provenance = Provenance::extrapolated;
  return time;
}

DecoderKernels kernels_of(const KernelSource& source, const Layer& layer) {
  return decoder_kernels(layer, !attention_writes_cache(source));
}

void finish_layer(Prediction& p, const Layer& layer, double half_width, double within) {
  p.bottleneck = 0;
  double squares = 0;
  for (std::size_t i = 0; i < p.kernel_count; ++i) {
    const KernelTime& kernel = p.kernel_storage[i];
    p.total_ms += kernel.ms;
    if (kernel.ms > p.kernel_storage[p.bottleneck].ms) p.bottleneck = i;
    squares += (kernel.high_ms - kernel.ms) * (kernel.high_ms - kernel.ms);
  }
  // Errors of the kernels are largely independent: the total's band comes from measured whole layers, not
  // from adding the kernels' bands. None of those layers had a kernel so uncertain as a misaligned GEMM:
  // where the kernels' own errors, added as independent ones are, come to more, they are the band.
  const double kernels = 1 + std::sqrt(squares) / p.total_ms;
  const double ratio = std::max(std::exp(half_width), kernels);
  if (within > 0) {
    const double narrow = std::max(std::exp(within), kernels);
    p.within_low_ms = p.total_ms / narrow;
    p.within_high_ms = p.total_ms * narrow;
  }
  p.low_ms = p.total_ms / ratio;
  p.high_ms = p.total_ms * ratio;
  p.ms_per_mparam_proxy =
      p.total_ms / (static_cast<double>(layer.hidden_dim) * static_cast<double>(layer.ffn_dim) / 1e6);
  p.tile_penalties = {tile_penalty("hidden_dim", layer.hidden_dim),
                      layer.experts > 0 ? tile_penalty("moe_ffn_dim", layer.moe_ffn_dim)
                                        : tile_penalty("ffn_dim", layer.ffn_dim),
                      tile_penalty("head_dim", layer.head_dim)};
}

LayerKind layer_kind(const Layer& layer) {
  if (layer.phase == Phase::decode) return LayerKind::decode;
  return layer.window_size > 0 && layer.window_size < layer.seq_len ? LayerKind::window : LayerKind::prefill;
}

std::array<double, kLayerTermCount> layer_columns(const KernelSource& source, const Layer& layer) {
  const LayerCounts c = counts_of(layer);
  const double unit = unit_us(source);
  const auto gemms = layer_gemms(layer, token_rows(layer));
  std::array<double, kLayerTermCount> columns{};
  for (const DecoderKernel& kernel : kernels_of(source, layer)) {
    if (kernel.role == KernelRole::projection) {
      const double us = predict_gemm(source, "gemm", gemms[kernel.place]).ms * 1e3;
      columns[kGemm] += us;
      columns[kThrottle] += std::max(0.0, us - kThrottleFromUs);
    } else if (kernel.role == KernelRole::attention) {
      columns[attention_term(layer)] =
          predict_attention(source, "attention", attention_shape(layer)).ms * 1e3;
    } else {
      columns[kKernelUs] += 1;
      columns[term_of(kernel.role)] += kernel.elements * unit;
    }
  }
  if (layer.use_qk_norm) columns[kQkNorm] = c.tokens * (c.heads + c.kv_heads) * c.dim * unit;
  columns[kOutputCopy] = c.tokens * c.heads * c.dim * unit;
  if (c.window) columns[kKvExpand] = (1 - c.kv_heads / c.heads) * c.tokens * c.heads * c.dim * unit;
  if (c.decode) columns[kTokenUs] = c.tokens;
  return columns;
}

KernelTime inside_layer(const KernelSource& source, LayerKind kind, const KernelTime& alone) {
  const auto& t = source.layers[static_cast<std::size_t>(kind)].terms;
  return scaled(alone, with_throttle(t, alone.ms * 1e3));
}

std::vector<PointwiseKernel> predict_pointwise(const KernelSource& source, const Layer& layer) {
  const PointwiseTimes times(source, layer);
  std::vector<PointwiseKernel> out;
  for (const DecoderKernel& kernel : kernels_of(source, layer)) {
    if (is_pointwise(kernel.role)) out.push_back({kernel.role, times.of(kernel)});
  }
  return out;
}

Prediction predict_measured(const KernelSource& source, const Layer& layer, KernelMemory* memory) {
  if (has_parts(layer)) return predict_parts(source, layer, memory);
  const LayerTimes times(source, layer, memory);
  const FittedLayer& fitted = times.pointwise.fitted;
  Prediction p;
  for (const DecoderKernel& kernel : kernels_of(source, layer)) p.add(times.of(kernel));
  finish_layer(p, layer, layer_half_width(source, times.kind),
               fitted.sessions > 1 ? fitted.within_half_width : 0);
  return p;
}

std::optional<KernelTime> predict_measured_kernel(const KernelSource& source, const Layer& layer,
                                                  std::size_t i, KernelMemory* memory) {
  if (has_parts(layer)) {
    const Prediction whole = predict_parts(source, layer, memory);
    return i < whole.kernel_count ? std::optional(whole.kernel_storage[i]) : std::nullopt;
  }
  const auto list = kernels_of(source, layer);
  if (i >= list.size()) return std::nullopt;
  return LayerTimes(source, layer, memory).of(list[i]);
}

namespace {

/// Of a bf16 projection as one GPU runs it.
std::optional<double> kept_of_parts(const KernelSource& source, const Layer& layer, std::string_view name) {
  if (name == "shared_expert") return std::nullopt;  // two products
  for (const LayerKernel& kernel : layer_kernels(layer, work_of(layer))) {
    const auto* gemm = std::get_if<GemmShape>(&kernel.request.shape);
    if (gemm != nullptr && kernel.name == name && gemm->dtype == Dtype::bf16)
      return kept_measurement(source, shape_key(*gemm));
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> kept_measurement(const KernelSource& source, const Layer& layer,
                                       std::string_view kernel) {
  if (source.kept.empty()) return std::nullopt;
  if (has_parts(layer)) return kept_of_parts(source, layer, kernel);
  if (kernel == "attention" && layer.backend != AttentionBackend::best) {
    return kept_measurement(source, shape_key(attention_shape(layer)));
  }
  const auto gemm = projection(layer, kernel);
  return gemm ? kept_measurement(source, shape_key(*gemm)) : std::nullopt;
}

}  // namespace plumbline
