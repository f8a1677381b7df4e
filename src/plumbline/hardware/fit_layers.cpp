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

/// How far a measuring session lies from the middle of them all, relative: cards differ, and clocks follow
/// heat.
constexpr double kSessionSpread = 0.03;
/// The next session is one more draw, and its middle is known no better than the few before say.
double widen_for(std::size_t sessions) { return std::sqrt(1 + 1.0 / static_cast<double>(sessions)); }

double sum_of(const Terms& terms, const Terms& columns) {
  double us = 0;
  for (std::size_t i = 0; i < kLayerTermCount; ++i) us += terms[i] * columns[i];
  return us;
}

/// What a fit of fusion terms works on: the rows, their columns, and which session (file) each is of.
struct LayerProblem {
  LayerRows rows;
  std::vector<Terms> columns;
  std::vector<std::size_t> session;
  std::size_t sessions = 0;
};

/// How one session differs from their middle: its clock, in the kernels that work on the tensor cores, and
/// how much of it a long kernel loses.
constexpr std::size_t kSessionTerms = 2;
using SessionTerms = std::array<double, kSessionTerms>;

SessionTerms session_columns(const Terms& columns) {  // gemm, flash and cudnn; throttle
  return {columns[0] + columns[2] + columns[3], columns[1]};
}

/// Terms of the middle session, and how each session differs from it.
struct LayerFit {
  Terms terms{};
  std::vector<SessionTerms> offset;

  double predict(const LayerProblem& problem, std::size_t row) const {
    return sum_of(terms, problem.columns[row]);
  }
  /// The same on the card of the row's own session.
  double predict_within(const LayerProblem& problem, std::size_t row) const {
    const SessionTerms of = session_columns(problem.columns[row]);
    const SessionTerms& mine = offset[problem.session[row]];
    return predict(problem, row) + of[0] * mine[0] + of[1] * mine[1];
  }
};

/// Adds one row's equation, (columns·terms + its session's) / us = 1, to the normal equations.
void add_row(const Terms& columns, double us, std::size_t session, double w,
             std::vector<std::vector<double>>& a, std::vector<double>& b) {
  std::vector<double> x(b.size(), 0.0);
  for (std::size_t i = 0; i < kLayerTermCount; ++i) x[i] = columns[i] / us;
  const SessionTerms of = session_columns(columns);
  const std::size_t at = kLayerTermCount + session * kSessionTerms;
  for (std::size_t i = 0; i < kSessionTerms && at < x.size(); ++i) x[at + i] = of[i] / us;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == 0) continue;
    b[i] += w * x[i];
    for (std::size_t j = 0; j < x.size(); ++j) a[i][j] += w * x[i] * x[j];
  }
}

/// Iteratively reweighted least squares; a term that would fall below 0 is held there. Each session has terms
/// of its own around the middle, so that a hotter or cooler card does not bend the fusion terms.
LayerFit fit_terms(const LayerProblem& problem, const std::vector<std::size_t>& use) {
  LayerFit fit;
  fit.terms = kGenericLayer;
  // one session alone is its own middle
  const std::size_t unknowns =
      kLayerTermCount + (problem.sessions > 1 ? problem.sessions * kSessionTerms : 0);
  fit.offset.assign(problem.sessions, SessionTerms{});
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
      const double us = problem.rows[r]->us;
      const double error = (fit.predict_within(problem, r) / us - 1) / kSoftLayer;
      add_row(problem.columns[r], us, problem.session[r],
              1 / std::sqrt(1 + error * error) / (kNoise * kNoise), a, b);
    }
    const std::vector<double> next = solve_symmetric(std::move(a), std::move(b));
    for (std::size_t i = 0; i < kLayerTermCount; ++i) {
      if (next[i] < 0) held[i] = true;
      fit.terms[i] = std::max(0.0, next[i]);
    }
    for (std::size_t i = kLayerTermCount; i < unknowns; ++i) {
      const std::size_t at = i - kLayerTermCount;
      fit.offset[at / kSessionTerms][at % kSessionTerms] = next[i];
    }
  }
  return fit;
}

/// Numbers the files in the order they were given.
void number_sessions(LayerProblem& problem) {
  std::map<int, std::size_t> number;
  for (const auto* row : problem.rows) number[row->file];
  for (auto& [file, session] : number) session = problem.sessions++;
  for (const auto* row : problem.rows) problem.session.push_back(number[row->file]);
}

Judged judge_row(const LayerProblem& problem, std::size_t row, double us) {
  return {us, problem.rows[row]->us, 0, 0, 0};
}

/// Every row as a fit of the other sessions predicts it; where there is one session, as folds of layers do.
std::vector<Judged> by_unseen_session(const LayerProblem& problem, const std::vector<Judged>& by_folds) {
  std::vector<Judged> out = by_folds;
  if (problem.sessions < 2) return out;
  for (std::size_t session = 0; session < problem.sessions; ++session) {
    std::vector<std::size_t> use;
    for (std::size_t i = 0; i < problem.rows.size(); ++i) {
      if (problem.session[i] != session) use.push_back(i);
    }
    const LayerFit fit = fit_terms(problem, use);
    for (std::size_t i = 0; i < problem.rows.size(); ++i) {
      if (problem.session[i] == session) out[i] = judge_row(problem, i, fit.predict(problem, i));
    }
  }
  return out;
}

/// The band's half-width for a session that none of these rows is of: 90 % of the errors, each session as
/// much as another, wider for how few there are. `without`: leave that session's rows out.
double across_sessions(const LayerProblem& problem, const std::vector<Judged>& judged, std::size_t without) {
  std::map<std::size_t, std::vector<double>> errors;
  for (std::size_t i = 0; i < judged.size(); ++i) {
    if (problem.session[i] == without) continue;
    errors[problem.session[i]].push_back(std::abs(std::log(judged[i].measured / judged[i].predicted)));
  }
  std::vector<double> drawn;  // as many of each session, at even ranks
  for (const auto& [session, of] : errors) {
    for (int rank = 0; rank < 100; ++rank) drawn.push_back(*quantile(of, (rank + 0.5) / 100));
  }
  const double widen = problem.sessions > 1 ? widen_for(errors.size()) : 1;
  return widen * quantile(drawn, 0.9).value_or(kGenericHalfWidth);
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
  std::vector<Judged> within(n), before(n);
  for (int fold = 0; fold <= kFolds; ++fold) {
    std::vector<std::size_t> use, left_out;
    for (std::size_t i = 0; i < n; ++i) {
      (fold_of(site_of(problem.rows[i]->shape), kFolds) == fold ? left_out : use).push_back(i);
    }
    const LayerFit fit = fit_terms(problem, use);
    if (fold == kFolds) fitted.terms = fit.terms;
    for (const std::size_t i : left_out) {
      within[i] = judge_row(problem, i, fit.predict_within(problem, i));
      before[i] = judge_row(problem, i, sum_of(kGenericLayer, problem.columns[i]));
    }
  }
  std::vector<Judged> judged = by_unseen_session(problem, within);
  fitted.within_half_width = half_width(within, 1);
  fitted.half_width = std::max(fitted.within_half_width, across_sessions(problem, judged, problem.sessions));
  for (std::size_t i = 0; i < n; ++i) {  // the band that a fit without the row's session claims
    const double half =
        problem.sessions > 2 ? across_sessions(problem, judged, problem.session[i]) : fitted.half_width;
    judged[i].low = judged[i].predicted * std::exp(-half);
    judged[i].high = judged[i].predicted * std::exp(half);
  }
  fitted.rows = static_cast<std::int64_t>(n);
  fitted.sites = static_cast<std::int64_t>(sites.size());
  fitted.sessions = static_cast<std::int64_t>(problem.sessions);
  fitted.errors = accuracy(judged);
  fitted.errors.within_card_mape_pct = accuracy(within).mape_pct;
  fitted.errors.formula_mape_pct = accuracy(before).mape_pct;
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
