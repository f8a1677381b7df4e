// SPDX-License-Identifier: Apache-2.0
// The runs of a series as the gate takes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plumbline/ledger/gate.h"
#include "plumbline/ledger/ledger.h"

namespace plumbline::ledger {

/// The last `most` readings of a card in a series, oldest first: each workload by its ratio, each kernel of
/// the student's table by its time, over the reference's kernels of the same run where every run has them.
/// Two runs are of one code where student, bench, reference and contract are.
Parsed<std::vector<GateRun>> gate_runs(Ledger& ledger, const std::string& card, std::int64_t series,
                                       std::size_t most);

/// The two arms in a history: runs of the baseline's code, and what is held against them.
struct GateArms {
  std::vector<GateRun> before;
  std::vector<GateRun> after;
};
/// `baseline` and `candidates` are runs of `history`. Where both ran the same code, the candidates stand
/// alone against the other runs of it; else every run of the first candidate's code counts. At most `most` a
/// side, the newest.
GateArms gate_arms(const std::vector<GateRun>& history, std::int64_t baseline,
                   const std::vector<std::int64_t>& candidates, std::size_t most);

/// The runs of `history` with these numbers.
std::vector<GateRun> chosen_runs(const std::vector<GateRun>& history, const std::vector<std::int64_t>& ids);

}  // namespace plumbline::ledger
