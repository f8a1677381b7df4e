// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/fit_op.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "plumbline/base/parallel.h"
#include "plumbline/base/statistics.h"
#include "plumbline/hardware/minimise.h"

namespace plumbline {
namespace {

constexpr std::size_t kConstantRows = 1500;  ///< rows that the constants are fitted to: more changes nothing
constexpr std::size_t kTrialRows = 600;      ///< rows that tell a good start from a bad one
constexpr int kTrialSteps = 40;              ///< evaluations for each constant of a start on trial
constexpr double kSoft = 0.05;               ///< log errors beyond this count linearly

FeatureTable table_of(const OpProblem& problem, std::span<const double> constants,
                      std::span<const std::size_t> use) {
  FeatureTable table;
  table.columns = problem.features;
  table.values.resize(use.size() * problem.features);
  for (std::size_t i = 0; i < use.size(); ++i) {
    problem.fill_features(constants, use[i], {table.values.data() + i * problem.features, problem.features});
  }
  return table;
}

struct Model {
  std::vector<double> constants;
  Forest residual;
};

Model fit_model(const OpProblem& problem, std::span<const std::size_t> use, std::uint64_t seed) {
  Model model;
  model.constants = fit_constants(problem, use);
  const FeatureTable table = table_of(problem, model.constants, use);
  std::vector<double> target;
  for (std::size_t i = 0; i < use.size(); ++i) {
    target.push_back(std::log(problem.us[use[i]] / problem.analytic_us(model.constants, use[i])));
    if (problem.prior) target.back() -= evaluate(problem.prior->residual, table.row(i));
  }
  BoostOptions options = problem.boost;
  options.seed = seed;
  if (problem.prior) options.like = &problem.prior->residual;
  model.residual = boost(table, target, {}, options);
  if (problem.prior) model.residual = sum_of(problem.prior->residual, model.residual);
  return model;
}

using Sites = std::vector<std::uint64_t>;

/// The fold of each row, and how many folds there are.
struct Folds {
  std::vector<int> of;
  int count = 0;
};

Folds folds_of(const OpProblem& problem, const Sites& site) {
  Folds out{{}, problem.folds};
  const std::set<std::uint64_t> distinct(site.begin(), site.end());
  if (problem.each_site) out.count = static_cast<int>(distinct.size());
  for (const std::uint64_t one : site) {
    out.of.push_back(problem.each_site ? static_cast<int>(std::distance(distinct.begin(), distinct.find(one)))
                                       : fold_of(one, problem.folds));
  }
  return out;
}

std::vector<std::size_t> rows_where(const Folds& folds, int fold, bool equal) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < folds.of.size(); ++i) {
    if ((folds.of[i] == fold) == equal) out.push_back(i);
  }
  return out;
}

BoostOptions spread_options(std::size_t rows) {
  BoostOptions options;
  options.trees = 60;
  options.leaves = 8;
  options.rate = 0.08;
  options.min_weight = std::clamp(static_cast<double>(rows) / 20, 10.0, 60.0);
  options.seed = 77;
  return options;
}

/// The expected size of an error, fitted to the folds' errors; and, row by row, as folds of it predict it.
struct Spread {
  Forest forest;
  std::vector<double> unseen;
};

Spread fit_spread(const OpProblem& problem, const std::vector<double>& constants,
                  const std::vector<double>& errors) {
  const auto options_of = [&](std::size_t rows) {
    BoostOptions options = spread_options(rows);
    if (problem.prior) options.like = &problem.prior->residual;
    return options;
  };
  const auto target_of = [&](std::size_t i) { return std::log(std::abs(errors[i]) + 0.003); };
  Spread out;
  out.unseen.resize(problem.size());
  const Folds folds = folds_of(problem, problem.site);
  const auto rounds = static_cast<std::size_t>(folds.count) + 1;
  in_parallel(rounds, [&](std::size_t round) {  // the last round sees every row
    const auto fold = static_cast<int>(round);
    const std::vector<std::size_t> use = rows_where(folds, fold, false);
    std::vector<double> target;
    for (const std::size_t i : use) target.push_back(target_of(i));
    Forest forest = boost(table_of(problem, constants, use), target, {}, options_of(use.size()));
    std::vector<float> row(problem.features);
    for (const std::size_t i : rows_where(folds, fold, true)) {
      problem.fill_features(constants, i, row);
      out.unseen[i] = std::exp(evaluate(forest, row));
    }
    if (fold == folds.count) out.forest = std::move(forest);
  });
  return out;
}

double mape(const OpProblem& problem, const std::vector<double>& predicted) {
  double sum = 0;
  for (std::size_t i = 0; i < problem.size(); ++i) sum += std::abs(predicted[i] / problem.us[i] - 1);
  return 100 * sum / static_cast<double>(problem.size());
}

void set_domain(const OpProblem& problem, FittedOp& op) {
  op.low = op.high = problem.domain(0);
  for (std::size_t i = 1; i < problem.size(); ++i) {
    const auto at = problem.domain(i);
    for (std::size_t d = 0; d < at.size(); ++d) {
      op.low[d] = std::min(op.low[d], at[d]);
      op.high[d] = std::max(op.high[d], at[d]);
    }
  }
}

}  // namespace

int fold_of(std::uint64_t site, int folds) {
  return static_cast<int>(counter_random(99, site) % static_cast<std::uint64_t>(folds));
}

namespace {

std::vector<std::size_t> draw_rows(std::span<const std::size_t> use, std::size_t about) {
  std::vector<std::size_t> drawn;
  const std::size_t stride = std::max<std::size_t>(1, use.size() / about);
  for (const std::size_t i : use) {
    if (counter_random(5, i) % stride == 0) drawn.push_back(i);
  }
  return drawn;
}

/// How far a constant moves at first.
double step_of(double constant) { return std::max(std::abs(constant) * 0.15, 0.02); }

/// What a sibling's constant moved by one step costs, in rows that are 5 % off.
constexpr double kNearSibling = 2;

/// Mean soft-L1 error on log time; a wall where constants make no sense.
double cost_of(const OpProblem& problem, std::span<const std::size_t> rows,
               std::span<const double> constants) {
  if (!problem.valid(constants)) return 1e9;
  double sum = 0;
  for (const std::size_t i : rows) {
    const double e = std::log(problem.analytic_us(constants, i) / problem.us[i]) / kSoft;
    sum += std::sqrt(1 + e * e) - 1;
  }
  const double n = static_cast<double>(rows.size());
  if (!problem.prior) return sum / n;
  double apart = 0;  // few rows leave the sibling's constants where they were
  for (std::size_t i = 0; i < constants.size(); ++i) {
    const double from = problem.prior->constants[i];
    const double steps = (constants[i] - from) / step_of(from);
    apart += steps * steps;
  }
  return (sum + kNearSibling * apart) / n;
}

std::vector<double> improve(const OpProblem& problem, std::span<const std::size_t> rows,
                            const std::vector<double>& start, int steps) {
  std::vector<double> step;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const bool fixed = !problem.fixed.empty() && problem.fixed[i];
    step.push_back(fixed ? 0 : step_of(start[i]));
  }
  const auto cost = [&](std::span<const double> constants) { return cost_of(problem, rows, constants); };
  return minimise(cost, start, step, steps * static_cast<int>(start.size()));
}

}  // namespace

std::vector<double> fit_constants(const OpProblem& problem, std::span<const std::size_t> use) {
  std::vector<double> best = problem.starts.front();
  if (problem.starts.size() > 1) {
    const std::vector<std::size_t> trial = draw_rows(use, kTrialRows);
    double least = std::numeric_limits<double>::infinity();
    for (const auto& start : problem.starts) {
      std::vector<double> found = improve(problem, trial, start, kTrialSteps);
      const double cost = cost_of(problem, trial, found);
      if (cost >= least) continue;
      least = cost;
      best = std::move(found);
    }
  }
  return improve(problem, draw_rows(use, kConstantRows), best, 120);
}

namespace {

/// What a model says of rows that it did not see.
struct Unseen {
  std::vector<double> predicted, formula;
};

/// One round of folds over `site`; the model of every row comes as `whole` where it is asked for.
Unseen predict_unseen(const OpProblem& problem, const Sites& site, std::uint64_t seed, Model* whole) {
  Unseen out{std::vector<double>(problem.size()), std::vector<double>(problem.size())};
  const Folds folds = folds_of(problem, site);
  const auto rounds = static_cast<std::size_t>(folds.count) + (whole != nullptr ? 1 : 0);
  in_parallel(rounds, [&](std::size_t round) {
    const auto fold = static_cast<int>(round);
    Model model = fit_model(problem, rows_where(folds, fold, false), seed);
    std::vector<float> row(problem.features);
    for (const std::size_t i : rows_where(folds, fold, true)) {
      out.formula[i] = problem.analytic_us(model.constants, i);
      problem.fill_features(model.constants, i, row);
      out.predicted[i] = out.formula[i] * std::exp(evaluate(model.residual, row));
    }
    if (fold == folds.count) *whole = std::move(model);
  });
  return out;
}

}  // namespace

namespace {

/// Errors by their squares, or linearly beyond problem.soft where that is asked for: whichever the folds say.
Unseen predict_better(const OpProblem& problem, std::uint64_t seed, Model& model) {
  Unseen out = predict_unseen(problem, problem.site, seed, &model);
  if (problem.soft <= 0 || problem.prior) return out;
  OpProblem other = problem;
  other.boost.soft = problem.soft;
  Model soft;
  Unseen unseen = predict_unseen(other, problem.site, seed, &soft);
  if (mape(problem, unseen.predicted) >= mape(problem, out.predicted)) return out;
  model = std::move(soft);
  return unseen;
}

/// `problem` as a fit beside a sibling sees it: from the sibling's constants, with trees that suit few rows.
OpProblem beside(OpProblem problem, std::shared_ptr<const OpPrior> prior) {
  const std::size_t rows = problem.size();
  problem.starts = {prior->constants};
  problem.prior = std::move(prior);
  BoostOptions& boost = problem.boost;
  boost.models = 1;
  boost.trees = rows < 300 ? 80 : rows < 4000 ? 200 : boost.trees;
  boost.leaves = rows < 300 ? 4 : rows < 1500 ? 8 : rows < 4000 ? 24 : boost.leaves;
  boost.min_weight = rows < 1500 ? 8 : 4;
  return problem;
}

}  // namespace

OpFit fit_beside(const OpProblem& problem, const OpPrior& prior, bool alone) {
  if (prior.residual.features() != problem.features ||
      prior.constants.size() != problem.starts.front().size())
    return fit_op(problem, 1);
  auto kept = std::make_shared<OpPrior>(prior);
  kept->residual.walk = nullptr;  // laid out for other trees than the sum's
  OpFit near = fit_op(beside(problem, std::move(kept)), 1);
  if (!alone) return near;
  OpFit own = fit_op(problem, 1);
  return own.op.errors.mape_pct <= near.op.errors.mape_pct ? own : near;
}

OpFit fit_op(const OpProblem& problem, std::uint64_t seed) {
  OpFit out;
  const std::size_t n = problem.size();
  Model model;
  const auto [predicted, formula] = predict_better(problem, seed, model);
  std::vector<double> roofline(n), errors(n);
  for (std::size_t i = 0; i < n; ++i) {
    errors[i] = std::log(problem.us[i] / predicted[i]);
    roofline[i] = problem.roofline_us(i);
  }
  Spread spread = fit_spread(problem, model.constants, errors);
  std::vector<double> in_spreads(n);
  for (std::size_t i = 0; i < n; ++i) in_spreads[i] = std::abs(errors[i]) / spread.unseen[i];
  out.op.band = *quantile(in_spreads, 0.9);
  for (std::size_t i = 0; i < n; ++i) {
    const double half = std::clamp(out.op.band * spread.unseen[i], 0.005, 1.0);
    out.judged.push_back({predicted[i], problem.us[i], predicted[i] * std::exp(-half),
                          predicted[i] * std::exp(half), problem.group[i]});
  }
  out.op.constants = std::move(model.constants);
  out.op.residual = std::move(model.residual);
  out.op.spread = std::move(spread.forest);
  drop_unused_cuts(out.op.residual, out.op.spread);
  set_domain(problem, out.op);
  out.op.rows = static_cast<std::int64_t>(n);
  out.op.sites = static_cast<std::int64_t>(std::set(problem.site.begin(), problem.site.end()).size());
  out.op.errors = accuracy(out.judged);
  out.op.errors.kendall_tau.reset();  // says little of kernels that differ a thousandfold
  out.op.errors.roofline_mape_pct = mape(problem, roofline);
  out.op.errors.formula_mape_pct = mape(problem, formula);
  if (!problem.strict_site.empty()) {
    const Unseen strict = predict_unseen(problem, problem.strict_site, seed, nullptr);
    out.op.errors.unseen_heads_mape_pct = std::round(100 * mape(problem, strict.predicted)) / 100;
  }
  out.report = {problem.name, out.op.rows, out.op.sites, out.op.errors};
  return out;
}

}  // namespace plumbline
