// SPDX-License-Identifier: Apache-2.0
// Everything that must hold before a run. The contract's half is in preflight.cpp; each further half is one
// function of the same form that adds to the same value.
#pragma once

#include <optional>
#include <string>

#include "plumbline/base/diagnostics.h"
#include "plumbline/cli/card.h"
#include "plumbline/contract/contract.h"
#include "plumbline/contract/finding.h"

namespace plumbline::cli {

/// What the caller says of the card.
struct PreflightOptions {
  bool no_reference = false;  ///< there is nothing to compare with: a missing contract is fine
  bool strict = false;        ///< warnings refuse too
};

/// What was found. Errors make exit status 2, findings 13.
struct Preflight {
  std::optional<WindowContract> contract;
  Diagnostics errors;
  Findings findings;
  Findings warnings;
  std::optional<std::string> prep;      ///< the prep step that the bench passes
  std::optional<bool> times_workloads;  ///< none when there is no bench that parses
  bool strict = false;

  int status() const;
};

/// All checks of a card, the contract's first.
Preflight preflight(const Card& card, const PreflightOptions& options = {});

/// The contract's checks alone.
void check_card_contract(const Card& card, const PreflightOptions& options, Preflight& result);

/// The checks of eval/bench.py and eval/ncu_run.py. Prep is asked for where the contract, if there is one,
/// has entries that a prep step makes.
void check_card_bench(const Card& card, Preflight& result);

}  // namespace plumbline::cli
