// SPDX-License-Identifier: Apache-2.0
// How far predictions are from measurements.
#pragma once

#include <cstdint>
#include <span>

#include "plumbline/model/accuracy.h"

namespace plumbline {

/// One prediction against its measurement. `group` marks rows whose order matters (equal m and n·k, say);
/// 0 means none.
struct Judged {
  double predicted = 0, measured = 0;
  double low = 0, high = 0;  ///< the band; both 0 when there is none
  std::uint64_t group = 0;
};

/// n, mape_pct, median_pct, p90_pct, bias_pct, coverage_pct, pair_pct and pairs (of one group whose times
/// differ by more than 5 %), and kendall_tau where there are at most 5,000 rows.
Accuracy accuracy(std::span<const Judged> rows);

/// What a small validation may show, in per cent: the mean error of eight sites is below this 99 times in a
/// hundred, when sites are drawn from these (`site` names each row's).
double site_budget_pct(std::span<const Judged> rows, std::span<const std::uint64_t> site);

}  // namespace plumbline
