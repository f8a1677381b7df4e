// SPDX-License-Identifier: Apache-2.0
// Several processes on one search: who searches which slabs, and what they tell each other after a round.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plumbline/search/engine.h"

namespace plumbline {

/// Processes that search together. All have the same problem and the same state after every round.
struct SearchRanks {
  int rank = 0;  ///< this one, from 0
  int size = 1;
  /// Hands `mine` to every process; the texts of all, by rank. Nothing: a process does not answer any more.
  std::function<std::optional<std::vector<std::string>>(const std::string& mine)> exchange;
};

/// Results of the slabs rank, rank + size, … of a round as bytes (of this machine's kind), `stopped` first.
std::string pack_results(const std::vector<SlabResult>& results, const SearchRanks& ranks, bool stopped);

/// Whether the bytes are those of a process that was stopped.
bool says_stopped(const std::string& bytes);

/// Puts the results of process `rank` in their places. False: that process stopped, or the bytes are not its
/// results.
bool unpack_results(const std::string& bytes, int rank, int size, std::vector<SlabResult>& results);

}  // namespace plumbline
