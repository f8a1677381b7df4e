// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/fit_operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "plumbline/base/statistics.h"
#include "plumbline/hardware/fit_curves.h"
#include "plumbline/hardware/fit_op.h"
#include "plumbline/model/operation.h"

namespace plumbline {
namespace {

constexpr std::size_t kLeastRows = 40;
constexpr std::size_t kFewSites = 3;  ///< fewer sites leave folds nothing to say
constexpr std::size_t kManyRows = 4000;
constexpr int kFolds = 6;
constexpr double kStray = 0.05;  ///< of log time: the tables of fp8_block hold strays (accuracy-details.md)
constexpr std::size_t kEachSite = 16;  ///< up to here every site is a fold

using Rows = std::vector<const Measured<KernelRequest>*>;

std::uint64_t mix(std::uint64_t key, std::int64_t value) {
  return counter_random(key, static_cast<std::uint64_t>(value));
}

std::uint64_t site_of(const KernelShape& shape) {
  if (const auto* s = std::get_if<GemmShape>(&shape)) return plumbline::site_of(*s);
  if (const auto* s = std::get_if<AttentionShape>(&shape)) return plumbline::site_of(*s);
  if (const auto* s = std::get_if<MoeShape>(&shape))
    return mix(mix(mix(mix(21, s->hidden), s->inter), s->topk), s->experts);
  if (const auto* s = std::get_if<GroupedGemmShape>(&shape))
    return mix(mix(mix(mix(22, s->hidden), s->inter), s->topk), s->experts);
  if (const auto* s = std::get_if<MlaShape>(&shape)) return mix(mix(23, s->heads), s->batch);
  return mix(24, std::get<CollectiveShape>(shape).elements);
}

/// The names of the rows' kernels, ascending; at most kMaxOperationKernels of the most frequent ones.
std::vector<std::string> kernels_of(const Rows& rows) {
  std::map<std::string, std::size_t> count;
  for (const auto* row : rows) {
    if (!row->shape.kernel.empty()) ++count[row->shape.kernel];
  }
  while (count.size() > kMaxOperationKernels) {
    count.erase(std::min_element(count.begin(), count.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; }));
  }
  std::vector<std::string> out;
  for (const auto& [name, n] : count) out.push_back(name);
  return out;
}

/// The sibling's operation, where it knows every kernel of the rows.
const Operation* sibling_of(const CalibrateOptions& options, const OperationKey& key, const Rows& rows) {
  if (options.sibling == nullptr || key.kind == OperationKind::collective) return nullptr;
  const Operation* other = find_operation(*options.sibling, key);
  if (other == nullptr) return nullptr;
  for (const std::string& kernel : kernels_of(rows)) {
    if (std::find(other->kernels.begin(), other->kernels.end(), kernel) == other->kernels.end())
      return nullptr;
  }
  return other;
}

std::vector<std::size_t> places_of(const Rows& rows, const std::vector<std::string>& kernels) {
  std::vector<std::size_t> out;
  for (const auto* row : rows) {
    const auto at = std::find(kernels.begin(), kernels.end(), row->shape.kernel);
    out.push_back(at == kernels.end() ? 0 : static_cast<std::size_t>(at - kernels.begin()));
  }
  return out;
}

BoostOptions boost_options(OperationKind kind, std::size_t rows, double effort) {
  BoostOptions options;
  const bool experts = kind == OperationKind::moe || kind == OperationKind::grouped_gemm;
  options.column_share = kind == OperationKind::gemm ? 0.3 : kind == OperationKind::decode ? 1.0 : 0.5;
  if (rows < kManyRows || experts) {
    options.trees = 300;
    options.leaves = rows < 1500 ? 16 : 24;
    options.models = experts && rows >= kManyRows ? 1 : 2;
    if (experts) options.min_weight = 10;
  } else {
    options.trees = 400;
    options.leaves = 64;
    options.rate = 0.08;
  }
  options.trees = std::max(10, static_cast<int>(std::lround(options.trees * effort)));
  return options;
}

OpProblem problem_of(const Machine& machine, const OperationKey& key, const Rows& rows,
                     const std::vector<std::size_t>& places, double effort) {
  const OperationFamily& family = family_of(key.kind);
  OpProblem p;
  p.name = name_of(key);
  for (const auto* row : rows) {
    p.us.push_back(row->us);
    p.site.push_back(site_of(row->shape.shape));
    const auto* gemm = std::get_if<GemmShape>(&row->shape.shape);
    p.group.push_back(gemm != nullptr ? pair_group(*gemm) : 0);
  }
  p.features = family.features + 1;
  p.starts = family.starts;
  if (key.kind == OperationKind::prefill) {
    p.fixed.assign(kPrefillConstants.size(), false);
    p.fixed.back() = true;
  } else if (key.kind == OperationKind::decode) {
    p.fixed = {false, true, true};
  }
  p.analytic_us = [machine, &family, &rows](std::span<const double> c, std::size_t i) {
    return family.analytic(machine, c, rows[i]->shape.shape).us;
  };
  p.fill_features = [machine, &family, &rows, &places](std::span<const double> c, std::size_t i,
                                                       std::span<float> out) {
    const KernelShape& shape = rows[i]->shape.shape;
    family.fill(machine, family.analytic(machine, c, shape), shape, out.first(family.features));
    out[family.features] = static_cast<float>(places[i]);
  };
  p.valid = family.valid;
  p.roofline_us = [machine, &family, &rows](std::size_t i) {
    return family.roofline_us(machine, rows[i]->shape.shape);
  };
  p.domain = [&family, &rows](std::size_t i) { return family.domain(rows[i]->shape.shape); };
  p.boost = boost_options(key.kind, p.size(), effort);
  if (key == OperationKey{OperationKind::gemm, Dtype::fp8_block}) p.soft = kStray;
  p.folds = kFolds;
  const std::set<std::uint64_t> sites(p.site.begin(), p.site.end());
  p.each_site = sites.size() >= kFewSites && sites.size() <= kEachSite;
  return p;
}

/// The features without the kernel's place: what a choice is made by.
FeatureTable choice_table(const OpProblem& problem, std::span<const double> constants,
                          std::span<const std::size_t> use) {
  FeatureTable table;
  table.columns = problem.features;
  table.values.resize(use.size() * problem.features);
  for (std::size_t i = 0; i < use.size(); ++i) {
    const std::span<float> row{table.values.data() + i * problem.features, problem.features};
    problem.fill_features(constants, use[i], row);
    row.back() = 0;
  }
  return table;
}

std::vector<Forest> fit_choice(const FeatureTable& table, std::span<const std::size_t> use,
                               const std::vector<std::size_t>& places, std::size_t kernels) {
  BoostOptions options;
  options.trees = 40;
  options.leaves = 16;
  options.rate = 0.2;
  options.column_share = 0.7;
  std::vector<Forest> out;
  for (std::size_t k = 0; k < kernels; ++k) {
    std::vector<double> target;
    for (const std::size_t i : use) target.push_back(places[i] == k ? 1 : 0);
    out.push_back(boost(table, target, {}, options));
  }
  return out;
}

/// How often the kernel of rows at unseen sites is the one that ran, in per cent: one fold of four.
double choice_right_pct(const OpProblem& problem, std::span<const double> constants,
                        const std::vector<std::size_t>& places, std::size_t kernels) {
  std::vector<std::size_t> seen, unseen;
  for (std::size_t i = 0; i < problem.size(); ++i)
    (fold_of(problem.site[i], 4) == 0 ? unseen : seen).push_back(i);
  if (seen.empty() || unseen.empty()) return 0;
  const auto forests = fit_choice(choice_table(problem, constants, seen), seen, places, kernels);
  const FeatureTable table = choice_table(problem, constants, unseen);
  double right = 0;
  for (std::size_t i = 0; i < unseen.size(); ++i) {
    std::size_t best = 0;
    double most = -1e9;
    for (std::size_t k = 0; k < kernels; ++k) {
      const double score = evaluate(forests[k], table.row(i));
      if (score <= most) continue;
      most = score;
      best = k;
    }
    right += best == places[unseen[i]];
  }
  return 100 * right / static_cast<double>(unseen.size());
}

std::shared_ptr<Operation> fit_trees(const Machine& machine, const OperationKey& key, const Rows& rows,
                                     const CalibrateOptions& options, OpFit& fit, OpProblem& problem) {
  auto operation = std::make_shared<Operation>();
  operation->key = key;
  const Operation* other = sibling_of(options, key, rows);
  operation->kernels = other != nullptr ? other->kernels : kernels_of(rows);
  const std::vector<std::size_t> places = places_of(rows, operation->kernels);
  problem = problem_of(machine, key, rows, places, options.effort);
  fit = other != nullptr
            ? fit_beside(problem, {other->constants, other->trees->residual}, rows.size() >= kLeastRows)
            : fit_op(problem, 1);
  auto trees = std::make_shared<OperationTrees>();
  trees->residual = fit.op.residual;
  trees->spread = fit.op.spread;
  if (operation->kernels.size() > 1) {
    std::vector<std::size_t> all(problem.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    trees->choice =
        fit_choice(choice_table(problem, fit.op.constants, all), all, places, operation->kernels.size());
    for (Forest& forest : trees->choice) {
      Forest none = forest;
      drop_unused_cuts(forest, none);
    }
    fit.op.errors.kernel_right_pct =
        choice_right_pct(problem, fit.op.constants, places, operation->kernels.size());
  }
  for (Forest* forest : {&trees->residual, &trees->spread}) prepare(*forest);
  for (Forest& forest : trees->choice) prepare(forest);
  operation->trees = std::move(trees);
  operation->constants = fit.op.constants;
  operation->band = fit.op.band;
  operation->low = fit.op.low;
  operation->high = fit.op.high;
  operation->rows = fit.op.rows;
  operation->sites = fit.op.sites;
  operation->errors = fit.op.errors;
  return operation;
}

void replace(KernelSource& source, std::shared_ptr<const Operation> operation) {
  for (auto& one : source.operations) {
    if (one->key == operation->key) {
      one = std::move(operation);
      return;
    }
  }
  source.operations.push_back(std::move(operation));
}

}  // namespace

std::int64_t fit_operations(const std::vector<Measured<KernelRequest>>& all, const CalibrateOptions& options,
                            KernelSource& source, std::vector<FoldReport>& folds) {
  std::int64_t fitted = 0;
  for (std::size_t kind = 0; kind < kOperationKinds; ++kind) {
    for (std::size_t dtype = 0; dtype < kDtypes; ++dtype) {
      const OperationKey key{static_cast<OperationKind>(kind), static_cast<Dtype>(dtype)};
      Rows rows;
      std::set<std::uint64_t> sites;
      for (const auto& row : all) {
        if (key_of(row.shape.shape) != key) continue;
        rows.push_back(&row);
        sites.insert(site_of(row.shape.shape));
      }
      const bool near = rows.size() >= kLeastRowsBeside && sites.size() >= kLeastSitesBeside &&
                        sibling_of(options, key, rows) != nullptr;
      if (rows.size() < kLeastRows && !near) continue;
      if (options.progress) options.progress(name_of(key), rows.size());
      std::shared_ptr<Operation> operation;
      std::vector<Judged> judged;
      std::vector<std::uint64_t> site;
      if (key.kind == OperationKind::collective) {
        operation = fit_collective(rows, kernels_of(rows), judged);
        for (const auto* row : rows) site.push_back(site_of(row->shape.shape));
      } else {
        OpFit fit;
        OpProblem problem;
        // Fewer sites than folds can be told apart by: the rows' other sizes say how a row is unseen.
        operation = fit_trees(source.machine, key, rows, options, fit, problem);
        judged = fit.judged;
        site = problem.site;
        if (sites.size() < kFewSites) {
          // Errors within known models say nothing of unseen ones: three times the band, and no budget.
          operation->band *= 3;
          operation->errors.sites_too_few = static_cast<double>(sites.size());
        }
      }
      operation->sites = static_cast<std::int64_t>(sites.size());
      if (sites.size() >= kFewSites) source.budgets[name_of(key)] = site_budget_pct(judged, site);
      folds.push_back({name_of(key), operation->rows, operation->sites, operation->errors});
      replace(source, std::move(operation));
      ++fitted;
    }
  }
  return fitted;
}

}  // namespace plumbline
