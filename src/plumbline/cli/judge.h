// SPDX-License-Identifier: Apache-2.0
// A recorded comparison read and judged: what confirm shows and the ledger keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plumbline/cli/card.h"
#include "plumbline/cli/command.h"
#include "plumbline/cli/contract_state.h"
#include "plumbline/cli/recorded_run.h"
#include "plumbline/evidence/confirmation.h"
#include "plumbline/report/confirm_view.h"

namespace plumbline::cli {

/// What is judged.
struct JudgeOptions {
  std::string card;
  RunFiles files;
  std::optional<double> gate;
  std::optional<std::int64_t> calls;
  std::string against;
};

/// What came of it. Without `confirmation` nothing was judged: `status` and `sentence` say why.
struct Judged {
  int status = kExitUsage;
  std::optional<Card> card;
  RunFiles files;
  double gate = 1.0;
  std::optional<Confirmation> confirmation;
  std::optional<ConfirmView> view;
  std::string sentence;  ///< why nothing was judged, where nothing was
  Diagnostics reasons;   ///< likewise
  Findings refused;      ///< what the contract is refused for
  Findings refused_warnings;
};

/// Reads the card, its contract and its run, and judges them. Notes and warnings go to `io`; why nothing was
/// judged does not.
Judged judge(const Io& io, const JudgeOptions& options);

/// The document of a Judged, judged or not.
Json judged_json(const Judged& judged, const std::string& card);

}  // namespace plumbline::cli
