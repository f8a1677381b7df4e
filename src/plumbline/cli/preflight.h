// SPDX-License-Identifier: Apache-2.0
// Everything that must hold before a run. The contract's half is in preflight.cpp; each further half is one
// function of the same form that adds to the same value.
#pragma once

#include <optional>

#include "plumbline/base/diagnostics.h"
#include "plumbline/cli/card.h"
#include "plumbline/contract/contract.h"
#include "plumbline/contract/finding.h"

namespace plumbline::cli {

/// What the caller says of the card.
struct PreflightOptions {
  bool no_reference = false;  ///< there is nothing to compare with: a missing contract is fine
};

/// What was found. Errors make exit status 2, findings 13.
struct Preflight {
  std::optional<WindowContract> contract;
  Diagnostics errors;
  Findings findings;
  Findings warnings;

  int status() const;
};

/// All checks of a card, the contract's first.
Preflight preflight(const Card& card, const PreflightOptions& options = {});

/// The contract's checks alone.
void check_card_contract(const Card& card, const PreflightOptions& options, Preflight& result);

}  // namespace plumbline::cli
