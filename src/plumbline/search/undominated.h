// SPDX-License-Identifier: Apache-2.0
// The shapes that nothing dominates at 90 %, where the loss of a front is not exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "plumbline/search/engine.h"
#include "plumbline/search/ranks.h"

namespace plumbline {

/// As many of them are listed; all are counted.
inline constexpr std::size_t kMostUndominated = 1000;

/// Shapes outside the exact front that no shape dominates at 90 %. A shape dominates another at 90 % where it
/// is no worse in every other objective of the front and surely has the lower loss (UncertainLoss).
struct Undominated {
  std::int64_t count = 0;
  std::vector<Candidate> first;  ///< by the space's objective, at most kMostUndominated
};

/// Finds them by two more searches of the whole space: the front of the losses at most, and what it does not
/// cover of the losses at least. `exact`: the finished front. Of a problem whose losses are certainly in
/// order there are none. `how`: prune and stop are taken from it.
SearchEnd find_undominated(const Problem& problem, const Front& exact, const SearchOptions& how,
                           unsigned threads, const SearchRanks& ranks,
                           const std::function<void(std::size_t done, std::size_t all)>& progress,
                           Undominated& out);

}  // namespace plumbline
