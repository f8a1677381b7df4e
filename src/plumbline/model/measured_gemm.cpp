// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/measured_gemm.h"

#include <limits>

namespace plumbline {
namespace {

struct Tile {
  double m, n;
};
constexpr std::array<Tile, 7> kAnalyticTiles{
    {{64, 64}, {64, 128}, {128, 64}, {128, 128}, {64, 256}, {128, 256}, {256, 128}}};
constexpr std::array<double, 4> kAnalyticSplits{1, 2, 4, 8};

enum Constant : std::size_t {
  kT0,
  kBandwidth,
  kP,
  kEfficiency,
  kAreaPower,
  kWave,
  kKRamp,
  kSplitUs,
  kReduce,
  kThrottle,
  kShortK
};

constexpr std::array<Tile, 6> kWaveTiles{
    {{64, 64}, {128, 64}, {128, 128}, {64, 256}, {128, 256}, {256, 128}}};
constexpr std::array<Tile, 10> kTimeTiles{{{64, 64},
                                           {128, 64},
                                           {128, 128},
                                           {64, 256},
                                           {128, 256},
                                           {256, 128},
                                           {64, 128},
                                           {256, 64},
                                           {128, 192},
                                           {192, 128}}};
constexpr std::array<double, 5> kTimeSplits{1, 2, 4, 8, 16};

double bytes_of(const GemmShape& s) {
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const DtypeCost& cost = cost_of(s.dtype);
  return cost.activation_bytes * (m * k) + cost.weight_bytes * (n * k) + 2 * (m * n);
}

struct Sizes {
  double m, n, k, flops, bytes;
};

Sizes sizes_of(const GemmShape& s) {
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  return {m, n, k, 2 * m * n * k, bytes_of(s)};
}

/// Efficiency of a tile of the feature times, relative to peak: 0.82·(area/32768)^0.12, at most 1.
double feature_efficiency(const Tile& tile) {
  return std::min(1.0, 0.82 * std::pow(tile.m * tile.n / 32768, 0.12));
}

const std::array<double, kTimeTiles.size()>& feature_efficiencies() {
  static const auto values = [] {
    std::array<double, kTimeTiles.size()> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = feature_efficiency(kTimeTiles[i]);
    return out;
  }();
  return values;
}

struct TileTime {
  double alone = 0;  ///< without split-K
  double best = 0;   ///< with the best split
  double split = 1;
  double fill = 1;  ///< of the last wave, at the best split
};

/// Microseconds of one tile shape by a plain model of waves, tensor time, L2 loads and split-K.
TileTime tile_time(const Machine& machine, const Tile& tile, double efficiency, const Sizes& s) {
  TileTime out;
  const double tiles = ceil_div(s.m, tile.m) * ceil_div(s.n, tile.n);
  const double tensor = 2 * tile.m * tile.n / (machine.flops_per_us / machine.sms * efficiency);
  const double load = 2 * (tile.m + tile.n) / (machine.l2_bytes_per_us / machine.sms);
  const double a_step = std::max(tensor, load);
  for (const double split : kTimeSplits) {
    if (split > 1 && s.k / split < 128) break;
    const double depth = 64 * std::ceil(s.k / split / 64);
    const double items = tiles * split;
    const double waves = std::ceil(items / machine.sms);
    double us = waves * (a_step * depth + 1.2);
    if (split > 1) us += 8 * split * s.m * s.n / machine.l2_bytes_per_us + 2;
    if (split == 1) out.alone = us;
    if (split == 1 || us < out.best) {
      out.best = us;
      out.split = split;
      out.fill = items / machine.sms / waves;
    }
  }
  return out;
}

}  // namespace

GemmAnalytic gemm_analytic(const Machine& machine, std::span<const double> c, const GemmShape& shape) {
  const Sizes s = sizes_of(shape);
  GemmAnalytic out;
  out.launch_us = c[kT0];
  out.memory_us = s.bytes / (machine.bytes_per_us * c[kBandwidth]);
  const double sm_rate = machine.flops_per_us / machine.sms;
  double best = std::numeric_limits<double>::infinity();
  for (const Tile& tile : kAnalyticTiles) {
    const double tiles = ceil_div(s.m, tile.m) * ceil_div(s.n, tile.n);
    const double area = tile.m * tile.n;
    const double rate =
        sm_rate * c[kEfficiency] * (c[kAreaPower] > 0 ? std::pow(area / 32768, c[kAreaPower]) : 1.0);
    for (const double split : kAnalyticSplits) {
      if (split > 1 && s.k / split < 128) break;
      const double waves = tiles * split / machine.sms;
      const double paid = waves <= 1 ? 1 : (1 - c[kWave]) * waves + c[kWave] * std::ceil(waves);
      double us = paid * 2 * area * (64 * std::ceil(s.k / split / 64) + c[kKRamp]) / rate;
      if (split > 1)
        us += c[kSplitUs] + c[kReduce] * 8 * split * s.m * s.n / (machine.bytes_per_us * c[kBandwidth]);
      if (us < best) {
        best = us;
        out.split = split;
        out.waves = waves;
      }
    }
  }
  const double roof = s.flops / machine.flops_per_us;
  best *= 1 + c[kThrottle] * (roof > 20 ? std::min(std::log(roof / 20), 4.0) : 0.0);
  out.tensor_us = best;
  const double p = c[kP];
  const double larger = std::max(out.memory_us, best);
  const double ratio = std::min(out.memory_us, best) / larger;
  const double joined = larger * std::pow(1 + std::pow(ratio, p), 1 / p);
  out.us = (c[kT0] + joined) * std::exp(c[kShortK] * std::exp(-s.k / 256));
  return out;
}

OperationAnalytic low_gemm_analytic(const Machine& machine, std::span<const double> c, const GemmShape& s) {
  const GemmAnalytic gemm = gemm_analytic(machine_for(machine, s.dtype), c, s);
  OperationAnalytic out;
  out.launch_us = gemm.launch_us + c[11];
  out.memory_us = gemm.memory_us;
  out.tensor_us = gemm.tensor_us;
  out.split = gemm.split;
  out.waves = gemm.waves;
  out.moved_us = c[11] + c[12] * static_cast<double>(s.m) * static_cast<double>(s.k) / machine.bytes_per_us;
  out.us = gemm.us + out.moved_us;
  return out;
}

void low_gemm_features(const Machine& machine, const OperationAnalytic& analytic, const GemmShape& s,
                       std::span<float> out) {
  GemmAnalytic gemm;
  gemm.us = analytic.us;
  gemm.split = analytic.split;
  gemm.waves = analytic.waves;
  gemm_features(machine_for(machine, s.dtype), gemm, s, out.first(kGemmFeatures));
  const double activations = static_cast<double>(s.m) * static_cast<double>(s.k);
  std::size_t at = kGemmFeatures;
  for (const double v : {analytic.moved_us / analytic.us, 2 * activations / machine.l2_bytes, analytic.us,
                         static_cast<double>(s.m) * static_cast<double>(s.n) / machine.l2_bytes})
    out[at++] = static_cast<float>(v);
}

int alignment_class(std::int64_t width) {
  for (const int c : {8, 4, 2}) {
    if (width % c == 0) return c;
  }
  return 1;
}

std::array<double, 3> domain_of(const GemmShape& s) {
  return {static_cast<double>(s.m), static_cast<double>(s.n) * static_cast<double>(s.k),
          static_cast<double>(s.k)};
}

bool is_aligned(const GemmShape& shape) { return shape.n % 8 == 0 && shape.k % 8 == 0; }

void gemm_features(const Machine& machine, const GemmAnalytic& analytic, const GemmShape& shape,
                   std::span<float> out) {
  std::size_t at = 0;
  const auto put = [&](double v) { out[at++] = static_cast<float>(v); };
  const Sizes s = sizes_of(shape);
  const double tensor = s.flops / machine.flops_per_us;
  const double memory = s.bytes / machine.bytes_per_us;
  const double roof = std::max(tensor, memory);
  for (const double v : {s.m, s.n, s.k, s.m * s.n, s.m * s.k, s.flops, s.bytes, s.flops / s.bytes, s.n / s.k,
                         tensor / memory, roof, 2 * s.n * s.k / machine.l2_bytes}) {
    put(v);
  }
  for (const Tile& tile : kWaveTiles) {
    const double rows = ceil_div(s.m, tile.m);
    const double columns = ceil_div(s.n, tile.n);
    const double waves = rows * columns / machine.sms;
    put(rows * columns);
    put(std::ceil(waves) / waves);
    put(s.m / (tile.m * rows));
    put(s.n / (tile.n * columns));
    put(std::ceil(waves) * s.k);
  }
  double best = std::numeric_limits<double>::infinity(), second = best, best_area = 0;
  TileTime chosen;
  for (std::size_t i = 0; i < kTimeTiles.size(); ++i) {
    const TileTime time = tile_time(machine, kTimeTiles[i], feature_efficiencies()[i], s);
    put(time.alone / roof);
    put(time.best / roof);
    if (time.best < best) {
      second = best;
      best = time.best;
      best_area = kTimeTiles[i].m * kTimeTiles[i].n;
      chosen = time;
    } else {
      second = std::min(second, time.best);
    }
  }
  for (const double v : {best / roof, second / best, best_area, chosen.split, chosen.fill, analytic.us / roof,
                         analytic.split, analytic.waves}) {
    put(v);
  }
  put(alignment_class(shape.n));
  put(alignment_class(shape.k));
}

}  // namespace plumbline
