// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/measured.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "plumbline/base/statistics.h"
#include "plumbline/model/measured_generic.h"

namespace plumbline {
namespace {

bool inside(const FittedOp& op, const std::array<double, 3>& sizes) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < op.low[i] || sizes[i] > op.high[i]) return false;
  }
  return true;
}

/// Time, band and provenance of an analytic time with its residual.
KernelTime finish_op(const FittedOp& op, std::string_view name, double analytic_us,
                     std::span<const float> features, const std::array<double, 3>& sizes) {
  KernelTime out;
  out.name = name;
  double half = kGenericHalfWidth;
  double residual = 0;
  out.provenance = op.rows > 0 ? Provenance::extrapolated : Provenance::specification;
  if (op.rows > 0) {
    QuantisedRow row{};
    quantise_row(op.residual, features, row);
    residual = evaluate(op.residual, row);
    if (!op.one_quantisation) quantise_row(op.spread, features, row);
    half = std::clamp(op.band * std::exp(evaluate(op.spread, row)), 0.005, 1.0);
    if (inside(op, sizes)) {
      out.provenance = Provenance::interpolated;
    } else {
      // Trees repeat their outermost answer: outside, half of it does better, and errors are twice as large.
      residual *= 0.5;
      half = std::min(2 * half, 1.0);
    }
  }
  out.ms = analytic_us * std::exp(residual) * 1e-3;
  out.low_ms = out.ms * std::exp(-half);
  out.high_ms = out.ms * std::exp(half);
  return out;
}

const FittedOp& attention_op(const KernelSource& source, bool decode, AttentionBackend backend) {
  const auto& ops = decode ? source.decode : source.prefill;
  const FittedOp& wanted = ops[measured_place(backend)];
  if (wanted.known()) return wanted;
  for (const FittedOp& op : ops) {
    if (op.known()) return op;
  }
  return wanted;
}

KernelTime attention_of(const KernelSource& source, const FittedOp& op, std::string_view name,
                        const AttentionShape& shape) {
  std::array<float, std::max(kPrefillFeatures, kDecodeFeatures)> features{};
  const bool decode = is_decode(shape);
  AttentionAnalytic analytic;
  if (decode) {
    analytic = decode_analytic(source.machine, op.constants, shape);
    if (op.rows > 0) decode_features(source.machine, analytic, shape, {features.data(), kDecodeFeatures});
  } else {
    analytic = prefill_analytic(source.machine, op.constants, shape);
    if (op.rows > 0) prefill_features(source.machine, analytic, shape, {features.data(), kPrefillFeatures});
  }
  const std::size_t count = decode ? kDecodeFeatures : kPrefillFeatures;
  KernelTime out = finish_op(op, name, analytic.us, {features.data(), count}, domain_of(shape));
  if (!decode && !as_prefill_rows(shape) && out.provenance < Provenance::extrapolated) {
    out.provenance = Provenance::extrapolated;
    out.low_ms *= out.low_ms / out.ms;  // as for sizes outside the rows: errors are twice as large
    out.high_ms *= out.high_ms / out.ms;
  }
  const double work = std::max(analytic.tensor_us, analytic.longest_us);
  out.bound = analytic.launch_us >= std::max(work, analytic.memory_us) ? Bound::launch
              : work >= analytic.memory_us                             ? Bound::tensor
                                                                       : Bound::hbm;
  return out;
}

}  // namespace

std::shared_ptr<const KernelSource> at_clock(const KernelSource& source, double sm_mhz) {
  auto out = std::make_shared<KernelSource>(source);
  out->clock = sm_mhz / source.sm_mhz;
  for (FittedLayer& layer : out->layers) {
    if (layer.sessions > 1) layer.half_width = layer.within_half_width;
    layer.sessions = std::min<std::int64_t>(layer.sessions, 1);
  }
  return out;
}

double layer_half_width(const KernelSource& source, LayerKind kind) {
  const FittedLayer& layer = source.layers[static_cast<std::size_t>(kind)];
  const bool measured = layer.rows > 0 || source.specification_only;
  return measured ? layer.half_width : std::min(layer.half_width, kAssemblyHalfWidth);
}

SourceId::SourceId() : value(0) {
  static std::atomic<std::uint64_t> next{1};
  value = next.fetch_add(1, std::memory_order_relaxed);
}

std::string_view to_string(ElementwiseOp op) {
  constexpr std::array<std::string_view, kElementwiseOps> names{
      "rmsnorm", "fused_rmsnorm", "add_rmsnorm", "residual_add", "swiglu", "geglu", "rope", "qk_norm_rope"};
  return names[static_cast<std::size_t>(op)];
}

std::shared_ptr<const KernelSource> find_source(const Hardware& hardware, std::string_view name) {
  for (const auto& source : hardware.sources) {
    if (name.empty() || source->name == name) return source;
  }
  return nullptr;
}

std::shared_ptr<const KernelSource> specification_source(const DataSheet& sheet) {
  auto source = std::make_shared<KernelSource>();
  source->name = "specification";
  source->framework = "nothing was measured on this GPU: generic constants on its data sheet";
  source->specification_only = true;
  source->machine = machine_of(sheet);
  source->gemm.constants = kGenericGemm;
  source->misaligned.constants = kGenericMisaligned;
  source->prefill[0].constants = kGenericPrefill;
  source->decode[0].constants = kGenericDecode;
  for (FittedElementwise& op : source->elementwise) {
    op.constants = kGenericElementwise;
    op.half_width = kGenericHalfWidth;
  }
  for (FittedLayer& layer : source->layers) {
    layer.terms = kGenericLayer;
    layer.half_width = kGenericHalfWidth;
  }
  return source;
}

bool attention_writes_cache(const KernelSource& source) {
  // cache_write of kPrefillConstants: bytes of the cache over the bandwidth. Rows that
  // include the write fit 0.9 to 1.4; the others a trifle (0.01) that stands for something else.
  return std::any_of(source.prefill.begin(), source.prefill.end(), [](const FittedOp& op) {
    return op.rows > 0 && op.constants.size() > 4 && op.constants[4] > 0.25;
  });
}

KernelTime predict_gemm(const KernelSource& source, std::string_view name, const GemmShape& shape) {
  const bool aligned = is_aligned(shape);
  const FittedOp& op = aligned ? source.gemm : source.misaligned;
  const GemmAnalytic analytic = gemm_analytic(source.machine, op.constants, shape);
  std::array<float, kGemmFeatures> features{};
  if (op.rows > 0) gemm_features(source.machine, analytic, shape, features);
  KernelTime out = finish_op(op, name, analytic.us, features, domain_of(shape));
  if (source.clock != 1) {
    const Machine other = at_clock(source.machine, source.clock);
    const double factor = gemm_analytic(other, op.constants, shape).us / analytic.us;
    out.ms *= factor;
    out.low_ms *= factor;
    out.high_ms *= factor;
  }
  if (analytic.launch_us >= std::max(analytic.memory_us, analytic.tensor_us)) {
    out.bound = Bound::launch;
  } else if (!aligned) {
    out.bound = Bound::alignment;
  } else if (analytic.memory_us > analytic.tensor_us) {
    const double bytes = analytic.memory_us * source.machine.bytes_per_us * op.constants[1];
    out.bound = bytes < source.machine.l2_bytes / 4 ? Bound::l2 : Bound::hbm;
  } else {
    out.bound = Bound::tensor;
  }
  return out;
}

KernelTime predict_attention(const KernelSource& source, std::string_view name, const AttentionShape& shape) {
  const bool decode = is_decode(shape);
  if (shape.backend != AttentionBackend::best) {
    return attention_of(source, attention_op(source, decode, shape.backend), name, shape);
  }
  const auto& ops = decode ? source.decode : source.prefill;
  KernelTime best;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    // cuDNN was never measured with a sliding window: flash stands for windows where it is known.
    const bool cudnn = i == measured_place(AttentionBackend::cudnn);
    if (!ops[i].known() || (cudnn && shape.window > 0 && !best.name.empty())) continue;
    if (i == measured_place(AttentionBackend::flex)) continue;  // only where it is asked for: it is compiled
    const KernelTime time = attention_of(source, ops[i], name, shape);
    if (best.name.empty() || time.ms < best.ms) best = time;
  }
  return best;
}

double elementwise_us(const Machine& machine, const std::array<double, 5>& c, const ElementwiseShape& shape) {
  // bytes an element of `cols`: what is read and written once
  constexpr std::array<double, kElementwiseOps> bytes_each{4, 4, 8, 6, 6, 6, 4, 4};
  const auto rows = static_cast<double>(shape.rows);
  const auto cols = static_cast<double>(shape.cols);
  const double bytes = bytes_each[static_cast<std::size_t>(shape.op)] * rows * cols;
  const double cached = std::exp(-bytes / machine.l2_bytes);
  const double memory = bytes / (machine.bytes_per_us * c[2] * (1 + c[3] * cached));
  const double alone = c[0] + c[1] * cols / 1000;
  const double larger = std::max(memory, alone);
  return larger * std::pow(1 + std::pow(std::min(memory, alone) / larger, c[4]), 1 / c[4]);
}

KernelTime predict_elementwise(const KernelSource& source, std::string_view name,
                               const ElementwiseShape& shape) {
  const FittedElementwise& op = source.elementwise[static_cast<std::size_t>(shape.op)];
  KernelTime out;
  out.name = name;
  out.ms = elementwise_us(source.machine, op.constants, shape) * 1e-3;
  out.low_ms = out.ms * std::exp(-op.half_width);
  out.high_ms = out.ms * std::exp(op.half_width);
  out.provenance = op.rows > 0 ? Provenance::modelled : Provenance::specification;
  out.bound = out.ms * 1e3 < 2 * (op.constants[0] + op.constants[1] * static_cast<double>(shape.cols) / 1000)
                  ? Bound::launch
                  : Bound::hbm;
  return out;
}

std::uint64_t shape_key(const GemmShape& s) {
  std::uint64_t key = 1;
  for (const std::int64_t v : {s.m, s.n, s.k}) key = counter_random(key, static_cast<std::uint64_t>(v));
  return key;
}

std::uint64_t shape_key(const AttentionShape& s) {
  std::uint64_t key = 2;
  for (const std::int64_t v :
       {s.batch, s.q_len, s.kv_len, s.heads, s.kv_heads, s.head_dim,
        s.window > 0 && s.window < s.kv_len ? s.window : 0, std::int64_t{s.causal && s.q_len > 1},
        static_cast<std::int64_t>(measured_place(s.backend))}) {
    key = counter_random(key, static_cast<std::uint64_t>(v));
  }
  return key;
}

std::optional<double> kept_measurement(const KernelSource& source, std::uint64_t key) {
  const auto at = std::lower_bound(source.kept.begin(), source.kept.end(), key,
                                   [](const KeptRow& row, std::uint64_t k) { return row.key < k; });
  if (at == source.kept.end() || at->key != key) return std::nullopt;
  return static_cast<double>(at->ms);
}

}  // namespace plumbline
