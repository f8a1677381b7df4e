// SPDX-License-Identifier: Apache-2.0
// Everything that is said of a bench: the rules that refuse it, then what only warns.
#pragma once

#include <optional>
#include <string>

#include "plumbline/base/json.h"
#include "plumbline/contract/contract.h"
#include "plumbline/contract/finding.h"

namespace plumbline {

/// What to check. Paths may name files that are absent: then there is nothing to say of them.
struct BenchRequest {
  std::string bench;       ///< bench.py
  std::string ncu_run;     ///< the profiler's launch script, or empty
  std::string problem;     ///< the leaderboard's problem.json, or empty
  std::string folder;      ///< the card's folder, inside which imports are followed; or empty
  bool needs_prep = true;  ///< the contract has entries that a prep step must make
  const WindowContract* contract = nullptr;  ///< held to what the bench makes, where it is given
  std::optional<std::string> prep;           ///< the prep step's name, where the caller knows it
};

/// What was found. A finding refuses the run (exit status 13); warnings do so only where the caller is
/// strict.
struct BenchReport {
  std::optional<std::string> prep;      ///< the name that the bench passes as prep=
  std::optional<bool> times_workloads;  ///< none when the bench is absent or does not parse
  Findings findings;
  Findings warnings;
};

/// Reads the files and applies every rule: prep, launch script and workloads, in this order.
BenchReport check_bench(const BenchRequest& request);

/// `{"prep","times_workloads","findings","warnings"}`.
Json to_json(const BenchReport& report);

}  // namespace plumbline
