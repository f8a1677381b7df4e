// SPDX-License-Identifier: Apache-2.0
// The runs of a card over time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plumbline/base/json.h"
#include "plumbline/ledger/change_points.h"
#include "plumbline/ledger/ledger.h"
#include "plumbline/report/text_table.h"

namespace plumbline {

/// Runs of another series, which are not in the same line.
struct OtherSeries {
  std::int64_t series = 0;
  std::int64_t runs = 0;
  std::vector<std::string> apart;  ///< what differs, in words
};

/// One series of a card, oldest run first.
struct Trend {
  std::string card;
  std::int64_t series = 0;
  ledger::Series about;
  std::vector<ledger::RunLine> runs;
  std::vector<std::vector<ledger::BankedKernel>> kernels;  ///< of each run's student; empty without a table
  std::vector<std::string> longest;                        ///< the kernels that took most, over all runs
  std::vector<ledger::ChangePoint> changes;                ///< of the raw ratio
  std::vector<OtherSeries> others;
};

/// Fills `longest` (at most `most`) and `changes`.
void finish_trend(Trend& trend, std::size_t most);

/// The runs, oldest first; the last column marks where the ratio moved.
TextTable trend_table(const Trend& trend);
/// As a document.
Json trend_json(const Trend& trend);
/// For people.
std::string trend_text(const Trend& trend, const Look& look);

}  // namespace plumbline
