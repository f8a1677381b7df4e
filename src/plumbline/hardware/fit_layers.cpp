// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/fit_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "plumbline/base/statistics.h"
#include "plumbline/base/symmetric_solve.h"
#include "plumbline/hardware/accuracy.h"
#include "plumbline/hardware/minimise.h"
#include "plumbline/hardware/source_layout.h"
#include "plumbline/model/measured_generic.h"

namespace plumbline {
namespace {

constexpr std::size_t kLeast = 12;      ///< rows of a kind of layer
constexpr std::size_t kLeastPlain = 8;  ///< rows of an element-wise operation
constexpr int kFolds = 20;
/// Folds of few rows of one element-wise operation give a quantile that is too narrow on average: a little is
/// added.
constexpr double kWiden = 1.15;

double half_width(const std::vector<Judged>& judged, double widen) {
  std::vector<double> errors;
  for (const Judged& row : judged) errors.push_back(std::abs(std::log(row.measured / row.predicted)));
  return widen * quantile(errors, 0.9).value_or(kGenericHalfWidth);
}

void set_bands(std::vector<Judged>& judged, double half) {
  for (Judged& row : judged) {
    row.low = row.predicted * std::exp(-half);
    row.high = row.predicted * std::exp(half);
  }
}

using ElementwiseRows = std::vector<Measured<ElementwiseShape>>;

std::array<double, 5> fit_constants(const Machine& machine, const ElementwiseRows& rows) {
  const auto cost = [&](std::span<const double> logs) {
    std::array<double, 5> c{};
    double prior = 0;
    for (std::size_t i = 0; i < c.size(); ++i) {
      c[i] = kGenericElementwise[i] * std::exp(logs[i]);
      prior += logs[i] * logs[i];
    }
    if (c[4] > 12) return 1e9;
    double sum = 0;
    for (const auto& row : rows) {
      const double e = std::log(elementwise_us(machine, c, row.shape) / row.us) / 0.05;
      sum += std::sqrt(1 + e * e) - 1;
    }
    return sum / static_cast<double>(rows.size()) + 0.002 * prior;
  };
  const std::vector<double> logs =
      minimise(cost, std::vector<double>(5, 0.0), std::vector<double>(5, 0.3), 1200);
  std::array<double, 5> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = kGenericElementwise[i] * std::exp(logs[i]);
  return out;
}

std::uint64_t site_of(const ElementwiseShape& s) {
  return counter_random(counter_random(17, static_cast<std::uint64_t>(s.rows)),
                        static_cast<std::uint64_t>(s.cols));
}

// ---- layers

using LayerRows = std::vector<const Measured<Layer>*>;
using Terms = std::array<double, kLayerTermCount>;

/// How far each term may plausibly lie from the generic one, in the order of kLayerTerms.
constexpr Terms kTermSpread{.03, .03, .10, .10, 1.5, .4, 1.5, 1.0, .5, .5, .5, 1.0, .1};
constexpr double kNoise = 0.03;      ///< relative scatter of one layer's time
constexpr double kSoftLayer = 0.02;  ///< relative errors beyond this count linearly

/// How far apart two measuring sessions of one card lie, relative: clocks follow heat.
constexpr double kSessionSpread = 0.03;
/// What a row of another session counts for beside one of the reference.
constexpr double kOtherSessions = 0.5;

double sum_of(const Terms& terms, const Terms& columns) {
  double us = 0;
  for (std::size_t i = 0; i < kLayerTermCount; ++i) us += terms[i] * columns[i];
  return us;
}

/// What a fit of fusion terms works on: the rows, their columns, and which session (file) each is of.
struct LayerProblem {
  LayerRows rows;
  std::vector<Terms> columns;
  std::vector<std::size_t> session;  ///< 0 is the reference: the first file
  std::size_t sessions = 0;
};

/// How one session differs from the reference: its clock, in the kernels that work on the tensor cores, and
/// how much of it a long kernel loses.
constexpr std::size_t kSessionTerms = 2;
using SessionTerms = std::array<double, kSessionTerms>;

SessionTerms session_columns(const Terms& columns) {  // gemm, flash and cudnn; throttle
  return {columns[0] + columns[2] + columns[3], columns[1]};
}

/// Adds one row's equation, (columns·terms − its session's) / us = 1, to the normal equations.
void add_row(const Terms& columns, double us, std::size_t session, double w,
             std::vector<std::vector<double>>& a, std::vector<double>& b) {
  std::vector<double> x(b.size(), 0.0);
  for (std::size_t i = 0; i < kLayerTermCount; ++i) x[i] = columns[i] / us;
  if (session > 0) {
    const SessionTerms of = session_columns(columns);
    for (std::size_t i = 0; i < kSessionTerms; ++i)
      x[kLayerTermCount + (session - 1) * kSessionTerms + i] = -of[i] / us;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == 0) continue;
    b[i] += w * x[i];
    for (std::size_t j = 0; j < x.size(); ++j) a[i][j] += w * x[i] * x[j];
  }
}

/// Iteratively reweighted least squares; a term that would fall below 0 is held there. Each session but the
/// reference has terms of its own, so that a hotter or cooler card does not bend the fusion terms.
Terms fit_terms(const LayerProblem& problem, const std::vector<std::size_t>& use) {
  Terms terms = kGenericLayer;
  const std::size_t unknowns = kLayerTermCount + (problem.sessions - 1) * kSessionTerms;
  std::vector<SessionTerms> offset(problem.sessions, SessionTerms{});
  std::array<bool, kLayerTermCount> held{};
  for (int round = 0; round < 25; ++round) {
    std::vector<std::vector<double>> a(unknowns, std::vector<double>(unknowns, 0.0));
    std::vector<double> b(unknowns, 0.0);
    for (std::size_t i = 0; i < kLayerTermCount; ++i) {
      a[i][i] = held[i] ? 1e12 : 1 / (kTermSpread[i] * kTermSpread[i]);
      b[i] = a[i][i] * (held[i] ? 0.0 : kGenericLayer[i]);
    }
    for (std::size_t i = kLayerTermCount; i < unknowns; ++i) a[i][i] = 1 / (kSessionSpread * kSessionSpread);
    for (const std::size_t r : use) {
      const Terms& columns = problem.columns[r];
      const double us = problem.rows[r]->us;
      const std::size_t session = problem.session[r];
      const SessionTerms of = session_columns(columns);
      const double shift = of[0] * offset[session][0] + of[1] * offset[session][1];
      const double error = ((sum_of(terms, columns) - shift) / us - 1) / kSoftLayer;
      add_row(columns, us, session,
              (session > 0 ? kOtherSessions : 1) / std::sqrt(1 + error * error) / (kNoise * kNoise), a, b);
    }
    const std::vector<double> next = solve_symmetric(std::move(a), std::move(b));
    for (std::size_t i = 0; i < kLayerTermCount; ++i) {
      if (next[i] < 0) held[i] = true;
      terms[i] = std::max(0.0, next[i]);
    }
    for (std::size_t i = kLayerTermCount; i < unknowns; ++i) {
      const std::size_t at = i - kLayerTermCount;
      offset[at / kSessionTerms + 1][at % kSessionTerms] = next[i];
    }
  }
  return terms;
}

/// Numbers the files in the order they were given: the first is the reference.
void number_sessions(LayerProblem& problem) {
  std::map<int, std::size_t> number;
  for (const auto* row : problem.rows) number[row->file];
  for (auto& [file, session] : number) session = problem.sessions++;
  for (const auto* row : problem.rows) problem.session.push_back(number[row->file]);
}

bool fit_kind(LayerKind kind, const std::vector<Measured<Layer>>& all, KernelSource& source,
              std::vector<FoldReport>& folds) {
  LayerProblem problem;
  std::set<std::uint64_t> sites;
  for (const auto& row : all) {
    if (layer_kind(row.shape) != kind) continue;
    problem.rows.push_back(&row);
    problem.columns.push_back(layer_columns(source, row.shape));
    sites.insert(site_of(row.shape));
  }
  const std::size_t n = problem.rows.size();
  if (n < kLeast || sites.size() < 4) return false;
  number_sessions(problem);
  FittedLayer& fitted = source.layers[static_cast<std::size_t>(kind)];
  std::vector<Judged> judged(n), before(n);
  for (int fold = 0; fold <= kFolds; ++fold) {
    std::vector<std::size_t> use, left_out;
    for (std::size_t i = 0; i < n; ++i) {
      (fold_of(site_of(problem.rows[i]->shape), kFolds) == fold ? left_out : use).push_back(i);
    }
    const Terms terms = fit_terms(problem, use);
    if (fold == kFolds) fitted.terms = terms;
    for (const std::size_t i : left_out) {
      judged[i] = {sum_of(terms, problem.columns[i]), problem.rows[i]->us, 0, 0, 0};
      before[i] = {sum_of(kGenericLayer, problem.columns[i]), problem.rows[i]->us, 0, 0, 0};
    }
  }
  // Errors and band are of the reference session, which the terms describe: how far sessions lie apart is no
  // matter of shapes.
  std::vector<Judged> reference, reference_before;
  for (std::size_t i = 0; i < n; ++i) {
    if (problem.session[i] > 0) continue;
    reference.push_back(judged[i]);
    reference_before.push_back(before[i]);
  }
  fitted.half_width = half_width(reference, 1);
  set_bands(reference, fitted.half_width);
  fitted.rows = static_cast<std::int64_t>(n);
  fitted.sites = static_cast<std::int64_t>(sites.size());
  fitted.errors = accuracy(reference);
  fitted.errors.all_sessions_mape_pct = accuracy(judged).mape_pct;
  fitted.errors.formula_mape_pct = accuracy(reference_before).mape_pct;
  const std::string name(kLayerTables[static_cast<std::size_t>(kind)]);
  std::vector<std::uint64_t> site;
  for (const auto* row : problem.rows) site.push_back(site_of(row->shape));
  source.budgets[name] = site_budget_pct(judged, site);
  folds.push_back({name, fitted.rows, fitted.sites, fitted.errors});
  return true;
}

}  // namespace

std::int64_t fit_elementwise(const ElementwiseRows& rows, KernelSource& source,
                             std::vector<FoldReport>& folds) {
  std::int64_t fitted = 0;
  for (std::size_t op = 0; op < kElementwiseOps; ++op) {
    ElementwiseRows mine;
    for (const auto& row : rows) {
      if (static_cast<std::size_t>(row.shape.op) == op) mine.push_back(row);
    }
    if (mine.size() < kLeastPlain) continue;
    std::vector<Judged> judged;
    std::vector<std::uint64_t> site;
    for (int fold = 0; fold < 5; ++fold) {
      ElementwiseRows seen;
      for (const auto& row : mine) {
        if (fold_of(site_of(row.shape), 5) != fold) seen.push_back(row);
      }
      const auto constants = fit_constants(source.machine, seen);
      for (const auto& row : mine) {
        if (fold_of(site_of(row.shape), 5) != fold) continue;
        judged.push_back({elementwise_us(source.machine, constants, row.shape), row.us, 0, 0, 0});
        site.push_back(site_of(row.shape));
      }
    }
    FittedElementwise& out = source.elementwise[op];
    out.constants = fit_constants(source.machine, mine);
    out.half_width = half_width(judged, kWiden);
    set_bands(judged, out.half_width);
    out.rows = static_cast<std::int64_t>(mine.size());
    out.errors = accuracy(judged);
    out.errors.kendall_tau.reset();
    const std::string name(to_string(static_cast<ElementwiseOp>(op)));
    source.budgets[name] = site_budget_pct(judged, site);
    folds.push_back({name, out.rows, out.rows, out.errors});
    ++fitted;
  }
  const auto borrow = [&](ElementwiseOp to, ElementwiseOp from) {
    FittedElementwise& mine = source.elementwise[static_cast<std::size_t>(to)];
    const FittedElementwise& other = source.elementwise[static_cast<std::size_t>(from)];
    if (mine.rows == 0 && other.rows > 0) mine.constants = other.constants;
  };
  borrow(ElementwiseOp::fused_rmsnorm, ElementwiseOp::rmsnorm);
  borrow(ElementwiseOp::rmsnorm, ElementwiseOp::fused_rmsnorm);
  borrow(ElementwiseOp::add_rmsnorm, ElementwiseOp::fused_rmsnorm);
  borrow(ElementwiseOp::add_rmsnorm, ElementwiseOp::rmsnorm);
  borrow(ElementwiseOp::geglu, ElementwiseOp::swiglu);
  borrow(ElementwiseOp::swiglu, ElementwiseOp::geglu);
  borrow(ElementwiseOp::qk_norm_rope, ElementwiseOp::rope);
  borrow(ElementwiseOp::rope, ElementwiseOp::qk_norm_rope);
  return fitted;
}

std::int64_t fit_layers(const std::vector<Measured<Layer>>& rows, KernelSource& source,
                        std::vector<FoldReport>& folds) {
  std::int64_t fitted = 0;
  for (const LayerKind kind : {LayerKind::prefill, LayerKind::window, LayerKind::decode}) {
    fitted += fit_kind(kind, rows, source, folds);
  }
  return fitted;
}

}  // namespace plumbline
