// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "plumbline/base/statistics.h"
#include "plumbline/hardware/fit_layers.h"
#include "plumbline/hardware/fit_op.h"
#include "plumbline/hardware/fit_operation.h"
#include "plumbline/model/measured_generic.h"

namespace plumbline {
namespace {

constexpr std::size_t kLeastRows = 40;
constexpr std::size_t kLeastSites = 8;
constexpr double kClockFromUs = 50;      ///< shorter kernels are over before the clock has settled
constexpr std::size_t kManyRows = 4000;  ///< from here on trees are as large as they ever are

std::uint64_t mix(std::uint64_t key, std::int64_t value) {
  return counter_random(key, static_cast<std::uint64_t>(value));
}

bool enough(const OpProblem& problem, std::size_t rows, std::size_t sites) {
  return problem.size() >= rows && std::set(problem.site.begin(), problem.site.end()).size() >= sites;
}

/// Few rows take smaller trees; many take as many as still help sites that were not seen (docs/accuracy.md).
BoostOptions boost_options(std::size_t rows, double effort, double columns) {
  BoostOptions options;
  options.column_share = columns;
  if (rows < kManyRows) {
    options.trees = 300;
    options.leaves = rows < 1500 ? 16 : 24;
    options.models = 2;
  } else {
    options.trees = 400;
    options.leaves = 64;
    options.rate = 0.08;
  }
  options.trees = std::max(10, static_cast<int>(std::lround(options.trees * effort)));
  return options;
}

/// Constants of three GPUs' GEMM kernels as fits of a first round found them: Hopper's pay little for a
/// started wave, Ampere's much, and a fit that begins at the one does not always find the other.
const std::vector<std::vector<double>> kGemmStarts{
    {2.65, .85, 2.4, .94, .01, .35, 202, 2.3, 1.1, .036, -.11},
    {3.45, .78, 2.4, 1.05, .20, .75, 271, 1.2, .28, .056, -.32}};

OpProblem gemm_problem(const Machine& machine, const std::vector<Measured<GemmShape>>& rows, bool aligned,
                       double effort) {
  OpProblem p;
  p.name = aligned ? "gemm" : "gemm_misaligned";
  std::vector<GemmShape> shapes;
  for (const auto& row : rows) {
    if (is_aligned(row.shape) != aligned) continue;
    shapes.push_back(row.shape);
    p.us.push_back(row.us);
    p.site.push_back(site_of(row.shape));
    p.group.push_back(pair_group(row.shape));
  }
  p.features = kGemmFeatures;
  if (aligned) {
    p.starts = {kGenericGemm};
    p.starts.insert(p.starts.end(), kGemmStarts.begin(), kGemmStarts.end());
  } else {
    p.starts = {kGenericMisaligned};
  }
  p.analytic_us = [machine, shapes](std::span<const double> c, std::size_t i) {
    return gemm_analytic(machine, c, shapes[i]).us;
  };
  p.fill_features = [machine, shapes](std::span<const double> c, std::size_t i, std::span<float> out) {
    gemm_features(machine, gemm_analytic(machine, c, shapes[i]), shapes[i], out);
  };
  p.valid = [](std::span<const double> c) {
    // launch, bandwidth, p, efficiency and k_ramp over 0; p at least 1; a wave's share at most 1
    return c[0] > 0.1 && c[1] > 0.05 && c[2] >= 1 && c[2] < 20 && c[3] > 0.01 && c[4] >= 0 && c[5] >= 0 &&
           c[5] <= 1 && c[6] > 0 && c[7] >= 0 && c[8] >= 0 && c[9] >= 0 && std::abs(c[10]) < 2;
  };
  p.roofline_us = [machine, shapes](std::size_t i) {
    const auto m = static_cast<double>(shapes[i].m), n = static_cast<double>(shapes[i].n),
               k = static_cast<double>(shapes[i].k);
    return std::max(2 * m * n * k / machine.flops_per_us, 2 * (m * k + n * k + m * n) / machine.bytes_per_us);
  };
  p.domain = [shapes](std::size_t i) { return domain_of(shapes[i]); };
  p.boost = boost_options(p.size(), effort, p.size() < kManyRows ? 0.5 : 0.3);
  return p;
}

/// Prefill begins from each way of tiling. Decode's trees do best on a plain denominator: where rows are
/// many, only the launch is fitted.
void set_starts(OpProblem& p, bool decode) {
  if (decode) {
    p.starts = {kGenericDecode};
    if (p.size() >= kManyRows) p.fixed = {false, true, true};
    return;
  }
  for (int tiling = 0; tiling < kTilings; ++tiling) {
    p.starts.push_back({9.4, 1.3, 250, 1.7, 1.1, 2.3, .8, .15, 2.3, static_cast<double>(tiling)});
  }
  p.fixed.assign(kPrefillConstants.size(), false);
  p.fixed.back() = true;
}

OpProblem attention_problem(const Machine& machine, const std::vector<Measured<AttentionShape>>& rows,
                            bool decode, AttentionBackend backend, double effort) {
  OpProblem p;
  p.name = fmt::format("{}{}", decode ? "decode" : "prefill", kBackendSuffix[measured_place(backend)]);
  std::vector<AttentionShape> shapes;
  for (const auto& row : rows) {
    if (row.shape.backend != backend || is_decode(row.shape) != decode) continue;
    shapes.push_back(row.shape);
    p.us.push_back(row.us);
    p.site.push_back(site_of(row.shape));
    p.strict_site.push_back(heads_of(row.shape));
    p.group.push_back(0);
  }
  p.features = decode ? kDecodeFeatures : kPrefillFeatures;
  set_starts(p, decode);
  const auto analytic = [machine, decode](std::span<const double> c, const AttentionShape& s) {
    return decode ? decode_analytic(machine, c, s) : prefill_analytic(machine, c, s);
  };
  p.analytic_us = [analytic, shapes](std::span<const double> c, std::size_t i) {
    return analytic(c, shapes[i]).us;
  };
  p.fill_features = [machine, analytic, shapes, decode](std::span<const double> c, std::size_t i,
                                                        std::span<float> out) {
    const AttentionAnalytic a = analytic(c, shapes[i]);
    decode ? decode_features(machine, a, shapes[i], out) : prefill_features(machine, a, shapes[i], out);
  };
  p.valid = [decode](std::span<const double> c) {
    if (decode) return c[0] > 0.1 && c[1] > 0.05 && c[2] >= 0;
    return c[0] > 0.1 && c[1] > 0.05 && c[1] < 2 && c[2] >= 0 && c[3] >= 0 && c[4] >= 0 && c[5] >= 0 &&
           c[6] > 0.05 && c[7] >= 0 && c[8] >= 1;
  };
  p.roofline_us = [machine, shapes](std::size_t i) { return attention_roofline_us(machine, shapes[i]); };
  p.domain = [shapes](std::size_t i) { return domain_of(shapes[i]); };
  p.boost = boost_options(p.size(), effort, decode ? 1.0 : 0.5);
  return p;
}

/// Large weights apart: where the public bars are set.
FoldReport large_gemms(const OpFit& fit, const std::vector<Measured<GemmShape>>& rows) {
  std::vector<Judged> large;
  std::size_t at = 0;
  const auto usual = [](std::int64_t v) { return v >= 1024 && v <= 32768; };
  for (const auto& row : rows) {
    if (!is_aligned(row.shape)) continue;
    if (usual(row.shape.n) && usual(row.shape.k)) large.push_back(fit.judged[at]);
    ++at;
  }
  FoldReport report{"gemm, n and k in 1024..32768", static_cast<std::int64_t>(large.size()), 0,
                    accuracy(large)};
  report.errors.kendall_tau.reset();
  return report;
}

/// The SM clock at which the source's times hold: of long GEMMs that the tensor cores bind and whose rows say
/// their clock, the clock times how much longer than predicted each took. 0: too few say it.
double clock_of(const KernelSource& source, const std::vector<Measured<GemmShape>>& rows) {
  std::vector<double> clocks;
  for (const auto& row : rows) {
    if (row.sm_mhz <= 0 || row.us < kClockFromUs || !is_aligned(row.shape)) continue;
    const KernelTime time = predict_gemm(source, "", row.shape);
    if (time.bound == Bound::tensor) clocks.push_back(row.sm_mhz * row.us / (time.ms * 1e3));
  }
  return clocks.size() < kLeastSites ? 0 : std::round(*median(clocks));
}

/// What nobody measured here is taken from the sibling, on this GPU's data sheet: constants and fusion terms
/// are shares of its figures. Nothing was measured, so it counts no rows, and layers' bands are twice as
/// wide.
void take_from_sibling(const KernelSource& sibling, KernelSource& source) {
  const auto take = [](const FittedOp& from, FittedOp& into) {
    if (into.rows == 0 && from.rows > 0) into.constants = from.constants;
  };
  take(sibling.gemm, source.gemm);
  take(sibling.misaligned, source.misaligned);
  for (std::size_t i = 0; i < source.prefill.size(); ++i) {
    if (source.prefill[i].known()) take(sibling.prefill[i], source.prefill[i]);
    if (source.decode[i].known()) take(sibling.decode[i], source.decode[i]);
  }
  for (std::size_t i = 0; i < source.elementwise.size(); ++i) {
    FittedElementwise& op = source.elementwise[i];
    const FittedElementwise& from = sibling.elementwise[i];
    if (op.rows > 0 || from.rows == 0) continue;
    op.constants = from.constants;
    op.half_width = 2 * from.half_width;
  }
  for (std::size_t i = 0; i < source.layers.size(); ++i) {
    FittedLayer& layer = source.layers[i];
    const FittedLayer& from = sibling.layers[i];
    if (layer.rows > 0 || from.rows == 0) continue;
    layer.terms = from.terms;
    layer.half_width = 2 * from.half_width;
  }
}

void keep_rows(const MeasuredRows& rows, KernelSource& source) {
  std::map<std::uint64_t, float> kept;  // the last measurement of a shape stands
  for (const auto& row : rows.gemm) kept[shape_key(row.shape)] = static_cast<float>(row.us * 1e-3);
  for (const auto& row : rows.attention) kept[shape_key(row.shape)] = static_cast<float>(row.us * 1e-3);
  for (const auto& [key, ms] : kept) source.kept.push_back({key, ms});
  std::vector<std::pair<std::uint64_t, std::string>> kernels;
  for (const NamedGemm& row : rows.kernels) kernels.emplace_back(shape_key(row.shape), row.kernel);
  source.kernels = make_kernel_names(std::move(kernels));
}

}  // namespace

std::uint64_t pair_group(const GemmShape& s) {
  const auto usual = [](std::int64_t v) { return v >= 512 && v <= 32768; };
  return usual(s.n) && usual(s.k) ? mix(mix(3, s.m), s.n * s.k) | 1 : 0;
}

std::uint64_t site_of(const GemmShape& shape) { return mix(mix(11, shape.n), shape.k); }
std::uint64_t heads_of(const AttentionShape& s) { return mix(mix(mix(12, s.heads), s.kv_heads), s.head_dim); }
std::uint64_t site_of(const AttentionShape& s) {
  return mix(heads_of(s), std::max<std::int64_t>(s.window, 0));
}
std::uint64_t site_of(const Layer& layer) {
  std::uint64_t key = 13;
  for (const char c : layer.name) key = mix(key, c);
  if (!layer.name.empty()) return key;
  for (const std::int64_t v :
       {layer.hidden_dim, layer.num_heads, layer.num_kv_heads, layer.head_dim, layer.ffn_dim}) {
    key = mix(key, v);
  }
  return key;
}

Parsed<Calibration> calibrate(const DataSheet& sheet, const MeasuredRows& rows,
                              const CalibrateOptions& options) {
  Calibration out;
  KernelSource& source = out.source;
  if (options.merge_into != nullptr) {
    source = *options.merge_into;  // what these rows do not say stays as it was fitted
  } else {
    source = *specification_source(sheet);  // operations without rows keep generic constants
  }
  source.name = options.source;
  source.framework = options.framework;
  source.specification_only = false;
  for (const RowFile& file : rows.files) {
    std::erase_if(source.rows, [&file](const RowFile& one) { return one.name == file.name; });
    source.rows.push_back(file);
  }
  std::int64_t fitted = 0;
  const KernelSource* sibling = options.sibling;
  const auto fit = [&](const OpProblem& problem, FittedOp& into,
                       const FittedOp* other) -> std::optional<OpFit> {
    const bool alone = enough(problem, kLeastRows, kLeastSites);
    const bool near =
        other != nullptr && other->rows > 0 && enough(problem, kLeastRowsBeside, kLeastSitesBeside);
    if (!alone && !near) return std::nullopt;
    if (options.progress) options.progress(problem.name, problem.size());
    OpFit result =
        near ? fit_beside(problem, {other->constants, other->residual}, alone) : fit_op(problem, 1);
    into = result.op;
    source.budgets[problem.name] = site_budget_pct(result.judged, problem.site);
    out.folds.push_back(result.report);
    ++fitted;
    return result;
  };
  const Machine& machine = source.machine;
  if (const auto result = fit(gemm_problem(machine, rows.gemm, true, options.effort), source.gemm,
                              sibling != nullptr ? &sibling->gemm : nullptr)) {
    out.folds.push_back(large_gemms(*result, rows.gemm));
  }
  fit(gemm_problem(machine, rows.gemm, false, options.effort), source.misaligned,
      sibling != nullptr ? &sibling->misaligned : nullptr);
  for (const bool decode : {false, true}) {
    auto& ops = decode ? source.decode : source.prefill;
    bool named = false;
    for (const AttentionBackend backend : kMeasuredBackends) {
      if (decode && backend == AttentionBackend::flex) continue;  // windows of prompts only
      FittedOp& op = ops[measured_place(backend)];
      const FittedOp* other = sibling == nullptr
                                  ? nullptr
                                  : &(decode ? sibling->decode : sibling->prefill)[measured_place(backend)];
      const bool done =
          fit(attention_problem(machine, rows.attention, decode, backend, options.effort), op, other)
              .has_value();
      named = named || (done && backend != AttentionBackend::best);
    }
    if (named && ops[0].rows == 0 && options.merge_into == nullptr)
      ops[0] = {};  // rows say which backend they are: the unnamed one is unknown
  }
  fitted += fit_elementwise(rows.elementwise, source, out.folds);
  fitted += fit_layers(rows.layers, source, out.folds);
  fitted += fit_operations(rows.operations, options, source, out.folds);
  if (sibling != nullptr) take_from_sibling(*sibling, source);
  const auto& clocked = options.clock_rows != nullptr ? options.clock_rows->gemm : rows.gemm;
  if (const double mhz = clock_of(source, clocked); mhz > 0) source.sm_mhz = mhz;
  if (options.keep_rows) keep_rows(rows, source);
  if (fitted == 0) {
    return failed<Calibration>(
        diagnose("rows-none-usable",
                 fmt::format("no operation has {} usable rows at {} sites", kLeastRows, kLeastSites)));
  }
  return {std::move(out), {}};
}

}  // namespace plumbline
