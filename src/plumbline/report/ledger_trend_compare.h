// SPDX-License-Identifier: Apache-2.0
// Runs of a trend beside each other: what a reader may choose two of.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "plumbline/report/ledger_trend_report.h"

namespace plumbline {

/// The values of a trend's runs by name: ratios and times, then kernels (the same names for every run).
struct RunValues {
  struct Run {
    std::string label;                                   ///< "run 3, 2026-01-05T10:00, passed"
    std::vector<std::pair<std::size_t, double>> values;  ///< place of the name, value as it is shown
  };
  std::vector<std::string> names;
  std::vector<int> digits;  ///< behind the point, of each name
  std::size_t totals = 0;   ///< so many names come before the kernels
  std::vector<Run> runs;
};

inline constexpr std::size_t kMostRunsCompared = 200;    ///< the last ones
inline constexpr std::size_t kMostKernelsCompared = 40;  ///< of each run: its longest

/// Values of the last runs, oldest first.
RunValues run_values(const Trend& trend);

/// Two of those runs: totals first, then kernels, the most moved first; at most kMostKernelsCompared rows.
/// The page's script builds the same table from the same values.
TextTable compare_runs(const RunValues& values, std::size_t before, std::size_t after);

/// The values as data.
Json run_values_json(const RunValues& values);

}  // namespace plumbline
