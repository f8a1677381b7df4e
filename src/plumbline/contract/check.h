// SPDX-License-Identifier: Apache-2.0
// Every check of a window contract, in the order in which they are reported.
#pragma once

#include <string>

#include "plumbline/contract/contract.h"
#include "plumbline/contract/finding.h"

namespace plumbline {

/// What the checks found. Any finding refuses the run (exit status 13); warnings never do.
struct ContractVerdict {
  Findings findings;
  Findings warnings;
};

/// All checks: empty lists (then nothing else), then the entries in file order, then what one side alone has
/// and no entry declares (reference inputs, student inputs, reference outputs, student outputs).
ContractVerdict check_contract(const WindowContract& contract);

/// The finding for a card without a window.toml at `path`.
Finding contract_absent(const std::string& path);

}  // namespace plumbline
