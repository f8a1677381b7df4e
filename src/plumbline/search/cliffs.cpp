// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/cliffs.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace plumbline {
namespace {

/// A neighbour is better when it saves more than this; below, predictions cannot tell (docs/accuracy.md).
constexpr double kWorthPct = 3;
/// A size is slow when it costs this much more per unit of work than its neighbourhood.
constexpr double kSlowPct = 8;

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

/// What a scan works with: the time at a value, and why a value may be slow by its own divisibility.
struct Scan {
  std::function<double(std::int64_t)> ms;              ///< negative: no valid shape
  std::function<CliffCause(std::int64_t)> arithmetic;  ///< alignment, head width, or none
  std::function<CliffCause(std::int64_t)> shape;       ///< wave or tile: what explains slowness otherwise
};

/// The fastest time per unit of work nearby: what the value's work should cost.
double fair_rate(const DimensionCliffs& d) {
  double rate = d.ms / static_cast<double>(d.value);
  for (const Neighbour& n : d.neighbours) rate = std::min(rate, n.ms / static_cast<double>(n.value));
  return rate;
}

CliffCause cause_of(const Scan& scan, std::int64_t value, double ms, double fair_ms) {
  if (ms < fair_ms * (1 + kSlowPct / 100)) return CliffCause::none;
  const CliffCause arithmetic = scan.arithmetic(value);
  return arithmetic != CliffCause::none ? arithmetic : scan.shape(value);
}

/// The size to take instead: of those that save enough, the nearest one; a larger one at equal distance.
void find_better(DimensionCliffs& d) {
  d.better = d.value;
  d.better_ms = d.ms;
  double best_score = 0;
  for (const Neighbour& n : d.neighbours) {
    const double saving = 100 * (1 - n.ms / d.ms);
    // a smaller size must save more than the work it drops
    const double free = saving - std::max(0.0, -n.work_change_pct);
    if (free < kWorthPct) continue;
    const double distance = std::abs(static_cast<double>(n.value - d.value)) / static_cast<double>(d.value);
    const double score = free / (1 + 20 * distance) + (n.value > d.value ? 1e-9 : 0);
    if (score <= best_score) continue;
    best_score = score;
    d.better = n.value;
    d.better_ms = n.ms;
    d.saving_pct = saving;
  }
}

DimensionCliffs scan_dimension(std::string dimension, std::int64_t value, const Scan& scan) {
  DimensionCliffs d;
  d.dimension = std::move(dimension);
  d.value = value;
  d.ms = scan.ms(value);
  for (const std::int64_t at : candidates(value)) {
    const double ms = scan.ms(at);
    if (ms <= 0) continue;
    d.neighbours.push_back({at, ms, 100 * (ms / d.ms - 1),
                            100 * (static_cast<double>(at) / static_cast<double>(value) - 1),
                            CliffCause::none});
  }
  const double rate = fair_rate(d);
  for (Neighbour& n : d.neighbours)
    n.cause = cause_of(scan, n.value, n.ms, rate * static_cast<double>(n.value));
  d.cause = cause_of(scan, value, d.ms, rate * static_cast<double>(value));
  find_better(d);
  return d;
}

/// Wave where more tiles than the SMs hold run in a nearly empty last wave, else tile.
CliffCause wave_or_tile(const KernelSource& source, std::int64_t m, std::int64_t n) {
  const double tiles = std::ceil(static_cast<double>(m) / 128) * std::ceil(static_cast<double>(n) / 128);
  const double waves = tiles / source.machine.sms;
  return waves > 1 && waves - std::floor(waves) < 0.25 && waves != std::floor(waves) ? CliffCause::wave
                                                                                     : CliffCause::tile;
}

CliffCause multiple_of_8(std::int64_t value) {
  return value % 8 == 0 ? CliffCause::none : CliffCause::alignment;
}

struct Field {
  const char* name;
  std::int64_t Layer::*member;
};

}  // namespace

std::string_view to_string(CliffCause cause) {
  switch (cause) {
    case CliffCause::alignment:
      return "alignment";
    case CliffCause::wave:
      return "wave";
    case CliffCause::tile:
      return "tile";
    case CliffCause::head_width:
      return "head-width";
    case CliffCause::none:
      break;
  }
  return "none";
}

std::vector<DimensionCliffs> layer_cliffs(const KernelSource& source, const Layer& layer) {
  constexpr std::array<Field, 4> fields{{{"hidden_dim", &Layer::hidden_dim},
                                         {"ffn_dim", &Layer::ffn_dim},
                                         {"head_dim", &Layer::head_dim},
                                         {"seq_len", &Layer::seq_len}}};
  std::vector<DimensionCliffs> out;
  for (const Field& field : fields) {
    const auto with = [&](std::int64_t value) {
      Layer other = layer;
      other.*field.member = value;
      return other;
    };
    const bool tokens = field.member == &Layer::seq_len;
    const bool heads = field.member == &Layer::head_dim;
    Scan scan;
    scan.ms = [&](std::int64_t value) {
      const Layer other = with(value);
      return validate(other).empty() ? predict_measured(source, other).total_ms : -1.0;
    };
    scan.arithmetic = [&](std::int64_t value) {
      if (tokens) return CliffCause::none;
      if (!heads) return multiple_of_8(value);
      return multiple_of_8(value) == CliffCause::alignment ? CliffCause::alignment
             : value % 32 != 0                             ? CliffCause::head_width
                                                           : CliffCause::none;
    };
    scan.shape = [&](std::int64_t value) {
      const Layer other = with(value);
      const std::int64_t m = other.batch_size * (other.phase == Phase::decode ? 1 : other.seq_len);
      return wave_or_tile(source, m, field.member == &Layer::ffn_dim ? 2 * other.ffn_dim : other.hidden_dim);
    };
    out.push_back(scan_dimension(field.name, layer.*field.member, scan));
  }
  return out;
}

DimensionCliffs vocabulary_cliffs(const KernelSource& source, std::int64_t tokens, std::int64_t hidden_dim,
                                  std::int64_t vocab_size) {
  Scan scan;
  scan.ms = [&](std::int64_t value) {
    return predict_gemm(source, "lm_head", {tokens, value, hidden_dim}).ms;
  };
  scan.arithmetic = multiple_of_8;
  scan.shape = [&](std::int64_t value) { return wave_or_tile(source, tokens, value); };
  return scan_dimension("vocab_size", vocab_size, scan);
}

}  // namespace plumbline
