// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/row_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "plumbline/base/numbers.h"

namespace plumbline {
namespace {

/// Operations and least bytes of a row, and a plain estimate of its time.
struct Expectation {
  double flops = 0, bytes = 0, us = 0;
};

Expectation expect(const KernelSource& generic, const GemmShape& s) {
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  return {2 * m * n * k, 2 * (m * k + n * k + m * n), predict_gemm(generic, "", s).ms * 1e3};
}
Expectation expect(const KernelSource& generic, const AttentionShape& s) {
  const auto b = static_cast<double>(s.batch), d = static_cast<double>(s.head_dim);
  const auto q = static_cast<double>(s.q_len) * static_cast<double>(s.heads);
  const double keys =
      static_cast<double>(s.window > 0 ? std::min(s.kv_len, s.window + s.q_len - 1) : s.kv_len);
  return {4 * b * static_cast<double>(s.heads) * d * attention_pairs(s),
          4 * b * d * (q + static_cast<double>(s.kv_heads) * keys),
          predict_attention(generic, "", s).ms * 1e3};
}
Expectation expect(const KernelSource& generic, const ElementwiseShape& s) {
  return {0, 4 * static_cast<double>(s.rows) * static_cast<double>(s.cols),
          predict_elementwise(generic, "", s).ms * 1e3};
}
Expectation expect(const KernelSource& generic, const Layer& layer) {
  Layer best = layer;
  best.backend = AttentionBackend::best;
  const auto m = static_cast<double>(layer.batch_size) *
                 (layer.phase == Phase::decode ? 1.0 : static_cast<double>(layer.seq_len));
  const auto hidden = static_cast<double>(layer.hidden_dim);
  const double weights = hidden * static_cast<double>(layer.head_dim) *
                             static_cast<double>(2 * layer.num_heads + 2 * layer.num_kv_heads) +
                         3 * hidden * static_cast<double>(layer.ffn_dim);
  return {2 * m * weights, 2 * weights, predict_measured(generic, best).total_ms * 1e3};
}

/// Clocks above the one that the data sheet's peak is computed with: an H200 boosts from 1830 to 1980 MHz.
constexpr double kBoost = 1.10;
/// A launch takes longer than this on every GPU so far.
constexpr double kLeastUs = 0.5;

std::optional<Doubt> judge(const Machine& machine, const Expectation& e, double us) {
  const double ratio = us / e.us;
  if (ratio > 200 && ratio < 20000) {
    return Doubt{"row-unit-slip", fmt::format("{} ms where about {} is plausible: it reads like microseconds",
                                              format_fixed(us / 1e3, 6), format_fixed(e.us / 1e3, 6))};
  }
  if (ratio >= 20000) {
    return Doubt{"row-unit-slip", fmt::format("{} ms where about {} is plausible: it reads like nanoseconds",
                                              format_fixed(us / 1e3, 6), format_fixed(e.us / 1e3, 6))};
  }
  if (ratio < 1.0 / 200) {
    return Doubt{"row-unit-slip", fmt::format("{} ms where about {} is plausible: it reads like seconds",
                                              format_double(us / 1e3), format_fixed(e.us / 1e3, 6))};
  }
  const double tensor = e.flops / (machine.flops_per_us * kBoost);
  if (us < tensor) {
    return Doubt{"row-impossible", fmt::format("{} ms is faster than the tensor peak allows ({} ms)",
                                               format_fixed(us / 1e3, 6), format_fixed(tensor / 1e3, 6))};
  }
  const double memory = std::max(0.0, e.bytes - machine.l2_bytes) / machine.bytes_per_us;
  if (us < memory) {
    return Doubt{"row-impossible", fmt::format("{} ms is faster than HBM brings what L2 cannot hold ({} ms)",
                                               format_fixed(us / 1e3, 6), format_fixed(memory / 1e3, 6))};
  }
  if (us < kLeastUs) {
    return Doubt{"row-impossible", fmt::format("{} ms is shorter than any launch", format_double(us / 1e3))};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Doubt> implausible(const KernelSource& generic, const GemmShape& shape, double us) {
  return judge(generic.machine, expect(generic, shape), us);
}
std::optional<Doubt> implausible(const KernelSource& generic, const AttentionShape& shape, double us) {
  return judge(generic.machine, expect(generic, shape), us);
}
std::optional<Doubt> implausible(const KernelSource& generic, const ElementwiseShape& shape, double us) {
  return judge(generic.machine, expect(generic, shape), us);
}
std::optional<Doubt> implausible(const KernelSource& generic, const Layer& layer, double us) {
  return judge(generic.machine, expect(generic, layer), us);
}

}  // namespace plumbline
