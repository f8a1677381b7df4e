// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/cliffs.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "plumbline/model/layer_parts.h"

namespace plumbline {
namespace {

/// Less than this is not a cliff, however sure the model is: a new memory clock changes as much.
constexpr double kLeastPct = 3;
/// Head widths that attention kernels are built for go to this (FlashAttention-2 and -3; cuDNN's forward
/// pass).
constexpr std::int64_t kWidestHead = 256;

std::vector<std::int64_t> candidates(std::int64_t value) {
  std::set<std::int64_t> out;
  for (const std::int64_t step : {1, 2, 4, 8, 64, 128}) {
    out.insert(value - step);
    out.insert(value + step);
  }
  for (const std::int64_t unit : {8, 64, 128}) {
    out.insert(value / unit * unit);
    out.insert((value / unit + 1) * unit);
  }
  out.erase(value);
  out.erase(out.begin(), out.upper_bound(0));
  return {out.begin(), out.end()};
}

/// A size's time, and how far (in per cent) times of two such sizes may differ without meaning anything.
struct Timed {
  SizeCost cost;
  double noise_pct = 0;
};

/// What a scan works with.
struct Scan {
  std::string dimension;
  std::int64_t value = 0;
  bool width = true;         ///< of a matrix's rows, so that its divisibility matters: not for tokens
  bool only_larger = false;  ///< better sizes are sought above the value alone
  double power = 1;          ///< of the size, by which work grows at most
  std::function<std::optional<Timed>(std::int64_t)> time;         ///< none: no valid shape
  std::function<CliffReason(std::int64_t, std::int64_t)> reason;  ///< why the first is slower than the second
};

/// Half of the 90 % band: errors of sizes beside each other are alike, so their difference is surer than
/// either.
double noise_of(double low_ms, double high_ms) {
  return low_ms > 0 ? 50 * (std::sqrt(high_ms / low_ms) - 1) : 0;
}

/// What `size` should cost at most: as much as any larger size, or a smaller one with the work added.
struct Fair {
  double ms = std::numeric_limits<double>::infinity();
  std::int64_t by = 0;  ///< the size that says so
};

/// A size that loads are less aligned to is not faster for it: where the model says so, it errs.
bool comparable(const Scan& scan, std::int64_t other, std::int64_t value) {
  return !scan.width || alignment_class(other) >= alignment_class(value);
}

Fair fair_of(const std::vector<Timed>& all, const SizeCost& size, const Scan& scan) {
  Fair fair;
  for (const Timed& other : all) {
    const double growth = static_cast<double>(size.value) / static_cast<double>(other.cost.value);
    const double ms = other.cost.ms * (growth > 1 ? std::pow(growth, scan.power) : 1.0);
    if (other.cost.value != size.value && comparable(scan, other.cost.value, size.value) && ms < fair.ms)
      fair = {ms, other.cost.value};
  }
  return fair;
}

void judge(std::vector<Timed>& all, const Scan& scan) {
  for (Timed& one : all) {
    const Fair fair = fair_of(all, one.cost, scan);
    one.cost.over_pct = std::max(0.0, 100 * (one.cost.ms / fair.ms - 1));
    const double least = std::max(kLeastPct, one.noise_pct);
    CliffReason& reason = one.cost.reason;
    if (one.cost.over_pct >= least) {
      reason = scan.reason(one.cost.value, fair.by);
      reason.beside = fair.by;
    }
    // what nothing explains must stand out from the whole band
    if (reason.cause == CliffCause::kernel && one.cost.over_pct < 2 * least) reason = {};
    if (scan.dimension == "head_dim" && (one.cost.value % 8 != 0 || one.cost.value > kWidestHead))
      reason = {CliffCause::head_width, reason.beside, {}, {}};
  }
}

/// How round a size is: whoever pads takes the rounder one of two that cost the same.
int roundness(std::int64_t value) { return value % 128 == 0 ? 3 : value % 64 == 0 ? 2 : value % 8 == 0; }

/// True when `a` should be offered rather than `b`: near a size (within a quarter of a per cent) the rounder
/// one that is as fast, else the nearest.
bool preferred(const Neighbour& a, const Neighbour& b) {
  constexpr double near_pct = 0.25;
  const double far_a = std::abs(a.work_change_pct), far_b = std::abs(b.work_change_pct);
  if (far_a <= near_pct && far_b <= near_pct && roundness(a.value) != roundness(b.value)) {
    const bool rounder = roundness(a.value) > roundness(b.value);
    return rounder ? a.ms <= b.ms * 1.005 : !(b.ms <= a.ms * 1.005);
  }
  return far_a != far_b ? far_a < far_b : a.value > b.value;
}

/// The size to take instead: the preferred one of those that save enough and cost little more, for their
/// work, than the best of them.
void find_better(DimensionCliffs& d, const Scan& scan, double noise_pct) {
  d.better = d.value;
  d.better_ms = d.ms;
  if (d.reason.cause == CliffCause::none) return;  // no advice without a reason
  const double worth = std::max(kLeastPct, noise_pct);
  const auto saves = [&](const Neighbour& n) {  // beyond the work that a smaller size drops
    return 100 * (1 - n.ms / d.ms) - std::max(0.0, -n.work_change_pct);
  };
  const auto rate = [&](const Neighbour& n) { return n.ms / static_cast<double>(n.value); };
  const auto open = [&](const Neighbour& n) {
    return saves(n) >= worth && (!scan.only_larger || n.value > d.value) &&
           n.reason.cause == CliffCause::none && comparable(scan, n.value, d.value);
  };
  double best_rate = std::numeric_limits<double>::infinity();
  for (const Neighbour& n : d.neighbours) {
    if (open(n)) best_rate = std::min(best_rate, rate(n));
  }
  const Neighbour* chosen = nullptr;
  for (const Neighbour& n : d.neighbours) {
    if (!open(n) || rate(n) > best_rate * 1.03) continue;
    if (chosen == nullptr || preferred(n, *chosen)) chosen = &n;
  }
  if (chosen == nullptr) return;
  d.better = chosen->value;
  d.better_ms = chosen->ms;
  d.saving_pct = 100 * (1 - chosen->ms / d.ms);
}

std::optional<DimensionCliffs> scan_dimension(const Scan& scan) {
  std::vector<Timed> all;
  const auto own = scan.time(scan.value);
  if (!own) return std::nullopt;
  all.push_back(*own);
  for (const std::int64_t at : candidates(scan.value)) {
    if (auto timed = scan.time(at)) all.push_back(*timed);
  }
  judge(all, scan);
  DimensionCliffs d;
  static_cast<SizeCost&>(d) = all.front().cost;
  d.dimension = scan.dimension;
  for (std::size_t i = 1; i < all.size(); ++i) {
    Neighbour n;
    static_cast<SizeCost&>(n) = all[i].cost;
    n.change_pct = 100 * (n.ms / d.ms - 1);
    n.work_change_pct = 100 * (static_cast<double>(n.value) / static_cast<double>(d.value) - 1);
    d.neighbours.push_back(n);
  }
  find_better(d, scan, all.front().noise_pct);
  return d;
}

const FittedOp& fitted_gemm(const KernelSource& source, const GemmShape& shape) {
  return is_aligned(shape) ? source.gemm : source.misaligned;
}

int alignment(const GemmShape& shape) { return std::min(alignment_class(shape.n), alignment_class(shape.k)); }

double started_waves(const KernelSource& source, const GemmShape& shape) {
  return std::ceil(gemm_analytic(source.machine, fitted_gemm(source, shape).constants, shape).waves);
}

/// Share of the 128-wide tiles over m and n that holds the result.
double tile_fill(const GemmShape& shape) { return tile_efficiency(shape.m) * tile_efficiency(shape.n); }

CliffCause gemm_cause(const KernelSource& source, const GemmShape& slow, const GemmShape& fair,
                      const CliffReason& kernels) {
  if (alignment(slow) < alignment(fair)) return CliffCause::alignment;
  const bool recorded = !kernels.kernel.empty() && !kernels.beside_kernel.empty();
  if (recorded && other_tile(kernels.kernel, kernels.beside_kernel)) return CliffCause::tile_switch;
  const double smaller = std::min(1.0, static_cast<double>(slow.m) * static_cast<double>(slow.n) /
                                           (static_cast<double>(fair.m) * static_cast<double>(fair.n)));
  if (started_waves(source, slow) * smaller > started_waves(source, fair)) return CliffCause::wave;
  return tile_fill(slow) < 0.98 * tile_fill(fair) ? CliffCause::tile : CliffCause::kernel;
}

CliffReason gemm_reason(const KernelSource& source, const GemmShape& slow, const GemmShape& fair) {
  CliffReason reason;
  reason.kernel = find_kernel(source.kernels, shape_key(slow));
  reason.beside_kernel = find_kernel(source.kernels, shape_key(fair));
  reason.cause = gemm_cause(source, slow, fair, reason);
  return reason;
}

Timed gemm_timed(const KernelSource& source, std::int64_t value, const GemmShape& shape) {
  const KernelTime time = predict_gemm(source, "gemm", shape);
  Timed out;
  out.cost.value = value;
  out.cost.ms = time.ms;
  out.cost.low_ms = time.low_ms;
  out.cost.high_ms = time.high_ms;
  out.cost.provenance = time.provenance;
  out.cost.measured_ms = kept_measurement(source, shape_key(shape));
  out.cost.kernel = find_kernel(source.kernels, shape_key(shape));
  out.noise_pct = noise_of(time.low_ms, time.high_ms);
  return out;
}

std::optional<Timed> layer_timed(const KernelSource& source, std::int64_t value, const Layer& layer) {
  if (!validate(layer).empty()) return std::nullopt;
  if (has_parts(layer) && !source.specification_only && !not_measured(source, layer).empty())
    return std::nullopt;
  const Prediction p = predict_measured(source, layer);
  Timed out;
  out.cost.value = value;
  out.cost.ms = p.total_ms;
  out.cost.low_ms = p.low_ms;
  out.cost.high_ms = p.high_ms;
  out.cost.provenance = weakest_provenance(p);
  double squares = 0;  // the kernels' errors are largely independent
  for (const KernelTime& k : p.kernels()) {
    const double part = noise_of(k.low_ms, k.high_ms) * k.ms / p.total_ms;
    squares += part * part;
  }
  out.noise_pct = std::sqrt(squares);
  return out;
}

/// The narrowest of the widths that a kernel's loads go over.
int alignment_of(const KernelShape& shape) {
  if (const auto* gemm = std::get_if<GemmShape>(&shape)) return alignment(*gemm);
  if (const auto* moe = std::get_if<MoeShape>(&shape))
    return std::min(alignment_class(moe->hidden), alignment_class(moe->inter / moe->tp));
  return 8;
}

CliffReason kernel_reason(const KernelSource& source, const KernelShape& slow, const KernelShape& fair) {
  const auto *slow_gemm = std::get_if<GemmShape>(&slow), *fair_gemm = std::get_if<GemmShape>(&fair);
  const bool recorded = slow_gemm != nullptr && fair_gemm != nullptr && slow_gemm->dtype == Dtype::bf16;
  if (recorded) return gemm_reason(source, *slow_gemm, *fair_gemm);
  return {alignment_of(slow) < alignment_of(fair) ? CliffCause::alignment : CliffCause::kernel, 0, {}, {}};
}

/// The reason in the product, or the experts, whose time is furthest above what the fair size's says.
CliffReason layer_reason(const KernelSource& source, const Layer& slow, const Layer& fair) {
  const auto slow_kernels = layer_kernels(slow, work_of(slow)),
             fair_kernels = layer_kernels(fair, work_of(fair));
  double most = 0;
  CliffReason reason{CliffCause::kernel, 0, {}, {}};
  for (std::size_t i = 0; i < slow_kernels.size(); ++i) {
    const KernelRequest &one = slow_kernels[i].request, &other = fair_kernels[i].request;
    if (!std::holds_alternative<GemmShape>(one.shape) && !std::holds_alternative<MoeShape>(one.shape))
      continue;
    const double over = predict_kernel(source, "kernel", one).ms - predict_kernel(source, "kernel", other).ms;
    if (over <= most) continue;
    most = over;
    reason = kernel_reason(source, one.shape, other.shape);
  }
  return reason;
}

}  // namespace

std::string_view to_string(CliffCause cause) {
  switch (cause) {
    case CliffCause::alignment:
      return "alignment";
    case CliffCause::tile_switch:
      return "tile-switch";
    case CliffCause::wave:
      return "wave";
    case CliffCause::tile:
      return "tile";
    case CliffCause::kernel:
      return "kernel";
    case CliffCause::head_width:
      return "head-width";
    case CliffCause::none:
      break;
  }
  return "none";
}

std::vector<DimensionCliffs> layer_cliffs(const KernelSource& source, const Layer& layer) {
  std::vector<DimensionCliffs> out;
  for (const std::string_view name :
       {"hidden_dim", "ffn_dim", "moe_ffn_dim", "head_dim", "seq_len", "batch_size"}) {
    const LayerField& field = *find_layer_field(name);
    if (field.member == &Layer::batch_size && layer.phase != Phase::decode) continue;
    if (field.member == &Layer::moe_ffn_dim && layer.experts == 0) continue;
    if (field.member == &Layer::hidden_dim && layer.kv_lora_rank > 0) continue;  // only one was measured
    if (follows(layer, field)) continue;
    const auto with = [&](std::int64_t value) {
      Layer other = layer;
      other.*field.member = value;
      settle(other);
      return other;
    };
    Scan scan{std::string(field.name), layer.*field.member, true, false, 1, {}, {}};
    scan.width = field.member != &Layer::seq_len && field.member != &Layer::batch_size;
    scan.only_larger = field.member == &Layer::head_dim || !scan.width;
    if (field.member == &Layer::seq_len) scan.power = 2;  // attention's pairs
    scan.time = [&](std::int64_t value) { return layer_timed(source, value, with(value)); };
    scan.reason = [&](std::int64_t slow, std::int64_t fair) {
      if (field.member == &Layer::head_dim && slow % 32 != 0)
        return CliffReason{CliffCause::head_width, 0, {}, {}};
      return layer_reason(source, with(slow), with(fair));
    };
    if (auto found = scan_dimension(scan)) out.push_back(std::move(*found));
  }
  return out;
}

std::vector<DimensionCliffs> gemm_cliffs(const KernelSource& source, const GemmShape& shape) {
  constexpr std::array<std::pair<const char*, std::int64_t GemmShape::*>, 3> fields{
      {{"m", &GemmShape::m}, {"n", &GemmShape::n}, {"k", &GemmShape::k}}};
  std::vector<DimensionCliffs> out;
  for (const auto& [name, member] : fields) {
    const auto with = [&shape, member = member](std::int64_t value) {
      GemmShape other = shape;
      other.*member = value;
      return other;
    };
    const bool tokens = member == &GemmShape::m;
    Scan scan{name, shape.*member, !tokens, tokens, 1, {}, {}};
    scan.time = [&](std::int64_t value) { return std::optional(gemm_timed(source, value, with(value))); };
    scan.reason = [&](std::int64_t slow, std::int64_t fair) {
      return gemm_reason(source, with(slow), with(fair));
    };
    if (auto found = scan_dimension(scan)) out.push_back(std::move(*found));
  }
  return out;
}

DimensionCliffs vocabulary_cliffs(const KernelSource& source, std::int64_t tokens, std::int64_t hidden_dim,
                                  std::int64_t vocab_size) {
  const auto with = [&](std::int64_t value) { return GemmShape{tokens, value, hidden_dim}; };
  Scan scan{"vocab_size", vocab_size, true, true, 1, {}, {}};
  scan.time = [&](std::int64_t value) { return std::optional(gemm_timed(source, value, with(value))); };
  scan.reason = [&](std::int64_t slow, std::int64_t fair) {
    return gemm_reason(source, with(slow), with(fair));
  };
  return scan_dimension(scan).value();
}

}  // namespace plumbline
