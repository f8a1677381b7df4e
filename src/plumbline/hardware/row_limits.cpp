// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/row_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "plumbline/base/numbers.h"
#include "plumbline/hardware/rows.h"

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

/// What a roofline of expected loads, or of a ring, overstates: a drawn power law wakes fewer experts,
/// experts may have no gate, and a switch that reduces sends each byte once.
double roofline_share(OperationKind kind) {
  return kind == OperationKind::moe ? 0.5 : kind == OperationKind::collective ? 0.45 : 1 / kBoost;
}

std::optional<Doubt> implausible(const KernelSource& generic, const KernelRequest& request, double us) {
  const OperationKind kind = key_of(request.shape).kind;
  const double roof = family_of(kind).roofline_us(generic.machine, request.shape);
  const double cached =
      kind == OperationKind::collective ? 0 : generic.machine.l2_bytes / generic.machine.bytes_per_us;
  const double least = roof * roofline_share(kind) - cached;
  if (us < least) {
    return Doubt{"row-impossible", fmt::format("{} ms is faster than the GPU's peaks allow ({} ms)",
                                               format_fixed(us / 1e3, 6), format_fixed(least / 1e3, 6))};
  }
  if (us < kLeastUs)
    return Doubt{"row-impossible", fmt::format("{} ms is shorter than any launch", format_double(us / 1e3))};
  const double plain = predict_kernel(generic, "", request).ms * 1e3;
  if (us > 200 * plain) {
    return Doubt{"row-unit-slip", fmt::format("{} ms where about {} is plausible: it reads like another unit",
                                              format_fixed(us / 1e3, 6), format_fixed(plain / 1e3, 6))};
  }
  return std::nullopt;
}

namespace {

/// Floors beyond which no table of honest kernels begins, in microseconds: the slowest known ones start at 17
/// (attention), 6 (GEMM), 90 (experts), 300 (latent attention in Triton).
double greatest_floor_us(OperationKind kind) {
  switch (kind) {
    case OperationKind::gemm:
      return 25;
    case OperationKind::prefill:
    case OperationKind::decode:
      return 45;
    case OperationKind::grouped_gemm:
      return 60;
    case OperationKind::moe:
      return 250;
    default:
      return 1000;
  }
}

/// Least time of a file's rows, and of a plain estimate of them.
struct Floors {
  double us = 1e18, plain_us = 1e18;
  std::size_t rows = 0;
  void add(double measured, double plain) {
    us = std::min(us, measured);
    plain_us = std::min(plain_us, plain);
    ++rows;
  }
};

}  // namespace

std::optional<Diagnostic> measured_something_else(const RowFile& account, std::int64_t impossible,
                                                  const std::string& file) {
  if (impossible < 10 || impossible * 50 < account.rows + account.rejected) return std::nullopt;
  return diagnose("rows-not-this",
                  fmt::format("{} of {} rows cannot be what the columns say", format_grouped(impossible),
                              format_grouped(account.rows + account.rejected)),
                  {file, 0, 0});
}

std::optional<Diagnostic> host_time(const KernelSource& generic, const MeasuredRows& rows, int index,
                                    const std::string& file) {
  std::array<Floors, kOperationKinds> floors{};
  const auto at = [&](OperationKind kind) -> Floors& { return floors[static_cast<std::size_t>(kind)]; };
  for (const auto& row : rows.gemm) {
    if (row.file == index) at(OperationKind::gemm).add(row.us, predict_gemm(generic, "", row.shape).ms * 1e3);
  }
  for (const auto& row : rows.attention) {
    if (row.file != index) continue;
    at(is_decode(row.shape) ? OperationKind::decode : OperationKind::prefill)
        .add(row.us, predict_attention(generic, "", row.shape).ms * 1e3);
  }
  for (const auto& row : rows.operations) {
    if (row.file == index)
      at(key_of(row.shape.shape).kind).add(row.us, predict_kernel(generic, "", row.shape).ms * 1e3);
  }
  for (std::size_t kind = 0; kind < kOperationKinds; ++kind) {
    const Floors& one = floors[kind];
    const double most = greatest_floor_us(static_cast<OperationKind>(kind));
    if (one.rows < 8 || one.us <= most || one.us < 3 * one.plain_us) continue;
    return diagnose(
        "rows-host-time",
        fmt::format("no row takes less than {} us, where the smallest shape's kernel takes about {}: the "
                    "host's time is in the window",
                    format_fixed(one.us, 1), format_fixed(one.plain_us, 1)),
        {file, 0, 0});
  }
  return std::nullopt;
}

}  // namespace plumbline
