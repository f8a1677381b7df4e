// SPDX-License-Identifier: Apache-2.0
// Accuracy: how far predictions are from measurements.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace plumbline {

/// One prediction against its measurement. `group` marks rows whose order matters (equal m and n·k, say);
/// 0 means none.
struct Judged {
  double predicted = 0, measured = 0;
  double low = 0, high = 0;  ///< the band; both 0 when there is none
  std::uint64_t group = 0;
};

/// n, mape_pct, median_pct, p90_pct, bias_pct (mean of predicted/measured − 1), coverage_pct (of the band),
/// pair_pct (pairs of one group whose times differ by more than 5 %: the faster one picked) with pairs,
/// kendall_tau (tau-b over all rows when there are at most 5,000). Keys are absent where nothing can be said.
std::map<std::string, double> accuracy(std::span<const Judged> rows);

/// What a small validation may show, in per cent: the mean error of eight sites is below this 99 times in a
/// hundred, when sites are drawn from these (`site` names each row's).
double site_budget_pct(std::span<const Judged> rows, std::span<const std::uint64_t> site);

}  // namespace plumbline
