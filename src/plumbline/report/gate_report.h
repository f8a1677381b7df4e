// SPDX-License-Identifier: Apache-2.0
// The regression gate's answer for people, pull requests and programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plumbline/base/json.h"
#include "plumbline/ledger/gate.h"
#include "plumbline/report/text_table.h"

namespace plumbline {

/// What was held, and what came of it.
struct GateReport {
  std::string card;
  std::int64_t baseline = 0, candidate = 0;  ///< runs
  std::string gpu, window;
  bool same_code = false;
  ledger::GateOptions options;
  ledger::GateResult result;
  std::vector<std::string> notes;  ///< of the confirmation, of runs that were left out
};

/// For a terminal.
std::string gate_text(const GateReport& report, const Look& look);
/// For a pull request: the verdict, what moved or could not be told, and the rest folded.
std::string gate_markdown(const GateReport& report);
/// One document.
Json gate_json(const GateReport& report);

/// The false-alarm rate over a user's own history.
std::string replay_text(const std::string& card, const ledger::Replay& replay);
/// One document.
Json replay_json(const std::string& card, const ledger::Replay& replay);

}  // namespace plumbline
