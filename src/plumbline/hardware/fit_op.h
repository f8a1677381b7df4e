// SPDX-License-Identifier: Apache-2.0
// Fitting one operation: constants of its formula, then trees on what the formula leaves, judged by folds.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plumbline/hardware/accuracy.h"
#include "plumbline/hardware/booster.h"
#include "plumbline/hardware/calibrate.h"

namespace plumbline {

/// What the same operation's fit of another GPU knows.
struct OpPrior {
  std::vector<double> constants;
  Forest residual;
};

/// The rows of one operation, seen through functions of a row's index.
struct OpProblem {
  std::string name;
  std::vector<double> us;           ///< measured
  std::vector<std::uint64_t> site;  ///< folds never part a site
  std::vector<std::uint64_t>
      strict_site;                   ///< coarser sites that a second set of folds keeps whole; may be empty
  std::vector<std::uint64_t> group;  ///< of pairs, 0: none
  std::size_t features = 0;
  std::vector<std::vector<double>> starts;  ///< constants to begin from: the best of these fits stands
  std::vector<bool> fixed;                  ///< constants that a fit leaves as they began; may be empty
  std::function<double(std::span<const double>, std::size_t)> analytic_us;
  std::function<void(std::span<const double>, std::size_t, std::span<float>)> fill_features;
  std::function<bool(std::span<const double>)> valid;  ///< of constants
  std::function<double(std::size_t)> roofline_us;
  std::function<std::array<double, 3>(std::size_t)> domain;
  BoostOptions boost;
  double soft = 0;  ///< > 0: trees whose errors count linearly beyond it are tried too
  int folds = 10;
  std::shared_ptr<const OpPrior>
      prior;  ///< constants to stay near, and trees that are kept: smaller ones are added to them
  bool each_site = false;  ///< one fold a site: where there are few, a hash would keep back several at once

  std::size_t size() const { return us.size(); }
};

/// A fitted operation with its errors and, row by row, what the folds predicted.
struct OpFit {
  FittedOp op;
  FoldReport report;
  std::vector<Judged> judged;  ///< in row order
};

/// Fits `problem`. Deterministic.
OpFit fit_op(const OpProblem& problem, std::uint64_t seed);

/// Fewest rows, and sites of them, that say how far a GPU is from its sibling.
inline constexpr std::size_t kLeastRowsBeside = 10, kLeastSitesBeside = 4;

/// Fits `problem` beside a sibling GPU's operation: its constants and trees, corrected by rows that may be
/// few. `alone`: there are enough rows for a fit of their own, and the better of the two by folds stands.
/// Without a prior that is of the same formula and features it is fit_op.
OpFit fit_beside(const OpProblem& problem, const OpPrior& prior, bool alone);

/// Minimises mean soft-L1 of log(analytic / measured) over the rows in `use` (at most 3,000 of them are
/// drawn).
std::vector<double> fit_constants(const OpProblem& problem, std::span<const std::size_t> use);

}  // namespace plumbline
