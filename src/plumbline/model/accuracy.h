// SPDX-License-Identifier: Apache-2.0
// Accuracy: how far predictions were from measurements, as calibration found it and hardware files keep it.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace plumbline {

/// Figures in per cent unless said otherwise; absent where nothing can be said.
struct Accuracy {
  std::optional<double> bias_pct;               ///< mean of predicted / measured − 1
  std::optional<double> coverage_pct;           ///< measurements inside the 90 % band
  std::optional<double> formula_mape_pct;       ///< of the formula, without the trees on its residual
  std::optional<double> kendall_tau;            ///< tau-b over all rows, −1 to 1
  std::optional<double> kernel_right_pct;       ///< rows whose kernel was predicted right
  std::optional<double> mape_pct;               ///< mean |predicted / measured − 1|
  std::optional<double> median_pct;             ///< its median
  std::optional<double> n;                      ///< rows, a count
  std::optional<double> p90_pct;                ///< its 90th percentile
  std::optional<double> pair_pct;               ///< pairs of one group of which the faster one was picked
  std::optional<double> pairs;                  ///< such pairs, a count
  std::optional<double> roofline_mape_pct;      ///< of a plain roofline on the same rows
  std::optional<double> sites_too_few;          ///< sites, a count, where there were too few for folds
  std::optional<double> unseen_heads_mape_pct;  ///< folds that keep back whole head counts
  std::optional<double> within_card_mape_pct;   ///< layers: where rows of the same session are known

  bool operator==(const Accuracy&) const = default;
};

/// A figure by the name that files and documents give it.
struct AccuracyFigure {
  std::string_view name;
  std::optional<double> Accuracy::*member;
};

/// All of them, by name.
inline constexpr std::array<AccuracyFigure, 15> kAccuracyFigures{
    {{"bias_pct", &Accuracy::bias_pct},
     {"coverage_pct", &Accuracy::coverage_pct},
     {"formula_mape_pct", &Accuracy::formula_mape_pct},
     {"kendall_tau", &Accuracy::kendall_tau},
     {"kernel_right_pct", &Accuracy::kernel_right_pct},
     {"mape_pct", &Accuracy::mape_pct},
     {"median_pct", &Accuracy::median_pct},
     {"n", &Accuracy::n},
     {"p90_pct", &Accuracy::p90_pct},
     {"pair_pct", &Accuracy::pair_pct},
     {"pairs", &Accuracy::pairs},
     {"roofline_mape_pct", &Accuracy::roofline_mape_pct},
     {"sites_too_few", &Accuracy::sites_too_few},
     {"unseen_heads_mape_pct", &Accuracy::unseen_heads_mape_pct},
     {"within_card_mape_pct", &Accuracy::within_card_mape_pct}}};

}  // namespace plumbline
