// SPDX-License-Identifier: Apache-2.0
// A card's contract as every command needs it: read, parsed and checked.
#pragma once

#include <optional>
#include <string>

#include "plumbline/base/diagnostics.h"
#include "plumbline/cli/card.h"
#include "plumbline/contract/contract.h"
#include "plumbline/contract/finding.h"

namespace plumbline::cli {

/// A contract and everything said of it. Without `contract` there are errors (malformed or unreadable, exit
/// 2) or the finding contract-absent (exit 13).
struct ContractState {
  std::optional<WindowContract> contract;
  Diagnostics errors;
  Findings findings;
  Findings warnings;  ///< unknown keys first, then what the checks warn of
};

/// Reads and checks the contract at `path`. A card without the file has the finding contract-absent.
ContractState load_contract_state(const ContractPath& path);

/// The code of the first load error when the file was read and is malformed, else "".
std::string malformed_code(const ContractState& state);

}  // namespace plumbline::cli
