// SPDX-License-Identifier: Apache-2.0
// A layer as the sum of its kernels, with what fusion and neighbours do to them.
#include <algorithm>
#include <cmath>

#include "plumbline/model/kernel_memory.h"
#include "plumbline/model/layer_attention.h"
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

/// Counts of one layer, as doubles.
struct Counts {
  double tokens, hidden, heads, kv_heads, dim, ffn, batch;
  bool gated, decode, window;
};

Counts counts_of(const Layer& layer) {
  Counts c{};
  c.decode = layer.phase == Phase::decode;
  c.batch = static_cast<double>(layer.batch_size);
  c.tokens = c.batch * (c.decode ? 1.0 : static_cast<double>(layer.seq_len));
  c.hidden = static_cast<double>(layer.hidden_dim);
  c.heads = static_cast<double>(layer.num_heads);
  c.kv_heads = static_cast<double>(layer.num_kv_heads);
  c.dim = static_cast<double>(layer.head_dim);
  c.ffn = static_cast<double>(layer.ffn_dim);
  c.gated = layer.activation == Activation::gated;
  c.window = layer_kind(layer) == LayerKind::window;
  return c;
}

/// Columns of one element-wise kernel: its own start, and bytes under one of the byte terms.
struct Pointwise {
  std::string_view name;
  Term term;
  double units;  ///< bf16 elements read or written
  double starts = 1;
};

/// The element-wise kernels of a layer, in order. `count` is how many of the array are used.
struct PointwiseList {
  static constexpr std::size_t kMost = 8;
  std::array<Pointwise, kMost> item{};
  std::size_t count = 0;
  std::size_t attention = 0;  ///< the first after the attention kernel
  std::size_t mlp = 0;        ///< the first inside the MLP
  void add(Pointwise p) { item.at(count++) = p; }
};

static_assert(PointwiseList::kMost + 4 + 1 <= kMaxKernels,
              "with four GEMMs and attention, all fit a Prediction");

PointwiseList pointwise_of(const KernelSource& source, const Layer& layer, const Counts& c) {
  // The attention rows of some sources include writing the cache, and then it is in no other place.
  const bool writes_cache = c.decode && !attention_writes_cache(source);
  const double stream = c.tokens * c.hidden;
  const double qk = c.tokens * (c.heads + c.kv_heads) * c.dim;
  PointwiseList list;
  const bool after = layer.norms >= 4;  // attention and MLP have a norm behind them as well
  list.add({"pre_attn_rmsnorm", kResidual, 2 * stream});
  if (layer.parallel && layer.norms == 2) list.add({"pre_mlp_rmsnorm", kResidual, 2 * stream});
  if (layer.rope || layer.use_qk_norm)
    list.add({!layer.rope ? "qk_norm" : layer.use_qk_norm ? "qk_norm_rope" : "rope", kRope, qk});
  if (writes_cache) list.add({"kv_cache_write", kCache, 4 * c.tokens * c.kv_heads * c.dim});
  list.attention = list.count;
  if (after) list.add({"post_attn_rmsnorm", kResidual, 2 * stream});
  if (!layer.parallel) list.add({"residual_rmsnorm", kResidual, 4 * stream});
  list.mlp = list.count;
  list.add({c.gated ? "gated_activation" : "activation", kActivation,
            (c.gated ? 1.0 : 2.0 / 3) * c.tokens * c.ffn});
  if (after) list.add({"post_mlp_rmsnorm", kResidual, 2 * stream});
  list.add({"residual_add", kResidual, (layer.parallel ? 4 : 3) * stream});
  return list;
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
                           const Counts& c) {
  const double unit = unit_us(source);
  double us = t[kOutputCopy] * unit * c.tokens * c.heads * c.dim;
  if (c.window) us += t[kKvExpand] * unit * (1 - c.kv_heads / c.heads) * c.tokens * c.heads * c.dim;
  return us;
}

Term attention_term(const Layer& layer) { return layer.backend == AttentionBackend::cudnn ? kCudnn : kFlash; }

/// The attention kernel with its fusion terms; with backend `best`, the faster of the backends inside a
/// layer.
KernelTime layer_attention(const KernelSource& source, const std::array<double, kLayerTermCount>& t,
                           const Layer& layer, const Counts& c, KernelMemory* memory) {
  AttentionShape shape = attention_shape(layer);
  const double around = around_attention_us(source, t, c);
  KernelTime best;
  for (const AttentionBackend backend : {AttentionBackend::flash, AttentionBackend::cudnn}) {
    if (layer.backend != AttentionBackend::best && measured_backend(layer.backend) != backend) continue;
    if (layer.backend == AttentionBackend::best && backend == AttentionBackend::cudnn && shape.window > 0)
      continue;
    shape.backend = backend;
    const KernelTime alone = attention_time(source, shape, memory);
    const double factor = t[backend == AttentionBackend::cudnn ? kCudnn : kFlash];
    const KernelTime time = scaled(alone, factor * alone.ms * 1e3 + around);
    if (best.name.empty() || time.ms < best.ms) best = time;
  }
  if ((layer.softcap || layer.sinks) && best.provenance < Provenance::extrapolated)
    best.provenance = Provenance::extrapolated;
  return best;
}

/// The times of a layer's element-wise kernels.
struct PointwiseTimes {
  const KernelSource& source;
  const Layer& layer;
  Counts counts;
  const FittedLayer& fitted;
  PointwiseList list;
  double unit, low,
      high;  ///< microseconds of an element; the band: a small part of the sum is known less well

  PointwiseTimes(const KernelSource& s, const Layer& l)
      : source(s),
        layer(l),
        counts(counts_of(l)),
        fitted(s.layers[static_cast<std::size_t>(layer_kind(l))]),
        list(pointwise_of(s, l, counts)),
        unit(unit_us(s)),
        low(std::exp(-half_width(fitted))),
        high(std::exp(half_width(fitted))) {}

  static double half_width(const FittedLayer& layer) {
    return layer.rows > 0 ? std::max(layer.half_width * 2, 0.2) : kGenericHalfWidth;
  }

  KernelTime of(std::size_t place) const {
    const Pointwise& item = list.item[place];
    const auto& t = fitted.terms;
    double us = t[kKernelUs] * item.starts + t[item.term] * item.units * unit;
    if (item.term == kRope && layer.use_qk_norm) us += t[kQkNorm] * item.units * unit;
    if (item.term == kCache) us += t[kTokenUs] * counts.tokens;
    KernelTime time{item.name, us * 1e-3, 0, 0, Provenance::modelled, Bound::hbm};
    time.low_ms = time.ms * low;
    time.high_ms = time.ms * high;
    if (fitted.rows == 0) time.provenance = Provenance::specification;
    if (t[kKernelUs] * item.starts > 0.5 * us) time.bound = Bound::launch;
    return time;
  }
};

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
  p.tile_penalties = {tile_penalty("hidden_dim", layer.hidden_dim), tile_penalty("ffn_dim", layer.ffn_dim),
                      tile_penalty("head_dim", layer.head_dim)};
}

}  // namespace

AttentionShape attention_shape(const Layer& layer) {
  AttentionShape shape;
  shape.batch = layer.batch_size;
  shape.q_len = layer.phase == Phase::decode ? 1 : layer.seq_len;
  shape.kv_len = layer.seq_len;
  shape.heads = layer.num_heads;
  shape.kv_heads = layer.num_kv_heads;
  shape.head_dim = layer.head_dim;
  shape.window = layer.window_size > 0 && layer.window_size < layer.seq_len ? layer.window_size : 0;
  shape.backend = measured_backend(layer.backend);
  return shape;
}

std::array<GemmShape, 4> layer_gemms(const Layer& layer) {
  const std::int64_t m = layer.batch_size * (layer.phase == Phase::decode ? 1 : layer.seq_len);
  const std::int64_t width = layer.activation == Activation::gated ? 2 * layer.ffn_dim : layer.ffn_dim;
  return {{{m, (layer.num_heads + 2 * layer.num_kv_heads) * layer.head_dim, layer.hidden_dim},
           {m, layer.hidden_dim, layer.num_heads * layer.head_dim},
           {m, width, layer.hidden_dim},
           {m, layer.hidden_dim, layer.ffn_dim}}};
}

LayerKind layer_kind(const Layer& layer) {
  if (layer.phase == Phase::decode) return LayerKind::decode;
  return layer.window_size > 0 && layer.window_size < layer.seq_len ? LayerKind::window : LayerKind::prefill;
}

std::array<double, kLayerTermCount> layer_columns(const KernelSource& source, const Layer& layer) {
  const Counts c = counts_of(layer);
  std::array<double, kLayerTermCount> columns{};
  for (const GemmShape& shape : layer_gemms(layer)) {
    const double us = predict_gemm(source, "gemm", shape).ms * 1e3;
    columns[kGemm] += us;
    columns[kThrottle] += std::max(0.0, us - kThrottleFromUs);
  }
  columns[attention_term(layer)] = predict_attention(source, "attention", attention_shape(layer)).ms * 1e3;
  const double unit = unit_us(source);
  const PointwiseList list = pointwise_of(source, layer, c);
  for (std::size_t i = 0; i < list.count; ++i) {
    columns[kKernelUs] += list.item[i].starts;
    columns[list.item[i].term] += list.item[i].units * unit;
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

Prediction predict_pointwise(const KernelSource& source, const Layer& layer) {
  const PointwiseTimes times(source, layer);
  Prediction p;
  for (std::size_t i = 0; i < times.list.count; ++i) p.add(times.of(i));
  finish(p);
  return p;
}

Prediction predict_measured(const KernelSource& source, const Layer& layer, KernelMemory* memory) {
  const PointwiseTimes pointwise(source, layer);
  const PointwiseList& list = pointwise.list;
  const auto gemms = layer_gemms(layer);
  const LayerKind kind = layer_kind(layer);
  const auto gemm = [&](std::string_view name, std::size_t place) {
    return inside_layer(source, kind, gemm_time(source, name, place, gemms[place], memory));
  };
  Prediction p;
  std::size_t next = 0;
  const auto until = [&](std::size_t end) {
    while (next < end) p.add(pointwise.of(next++));
  };
  until(layer.parallel && layer.norms == 2 ? 2 : 1);
  p.add(gemm("qkv_projection", 0));
  until(list.attention);
  p.add(layer_attention(source, pointwise.fitted.terms, layer, pointwise.counts, memory));
  p.add(gemm("output_projection", 1));
  until(list.mlp);
  p.add(gemm(pointwise.counts.gated ? "gate_up_projection" : "up_projection", 2));
  until(list.mlp + 1);
  p.add(gemm("down_projection", 3));
  until(list.count);
  const FittedLayer& fitted = pointwise.fitted;
  finish_layer(p, layer, layer_half_width(source, kind), fitted.sessions > 1 ? fitted.within_half_width : 0);
  return p;
}

std::optional<double> kept_measurement(const KernelSource& source, const Layer& layer,
                                       std::string_view kernel) {
  if (source.kept.empty()) return std::nullopt;
  if (kernel == "attention" && layer.backend != AttentionBackend::best) {
    return kept_measurement(source, shape_key(attention_shape(layer)));
  }
  constexpr std::array<std::string_view, 5> names{"qkv_projection", "output_projection", "gate_up_projection",
                                                  "down_projection", "up_projection"};
  const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), kernel) - names.begin());
  if (at == names.size()) return std::nullopt;
  return kept_measurement(source, shape_key(layer_gemms(layer)[at == 4 ? 2 : at]));
}

}  // namespace plumbline
