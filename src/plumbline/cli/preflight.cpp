// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/preflight.h"

#include <algorithm>
#include <utility>

#include "plumbline/cli/contract_state.h"

namespace plumbline::cli {

int Preflight::status() const {
  if (!errors.empty()) return kExitUsage;
  return refuses(findings) ? kExitRefused : kExitOk;
}

void check_card_contract(const Card& card, const PreflightOptions& options, Preflight& result) {
  ContractState state = load_contract_state({card.contract, true});
  if (options.no_reference) {
    std::erase_if(state.findings, [](const Finding& finding) { return finding.code == "contract-absent"; });
  }
  result.contract = std::move(state.contract);
  result.errors.insert(result.errors.end(), state.errors.begin(), state.errors.end());
  result.findings.insert(result.findings.end(), state.findings.begin(), state.findings.end());
  result.warnings.insert(result.warnings.end(), state.warnings.begin(), state.warnings.end());
}

Preflight preflight(const Card& card, const PreflightOptions& options) {
  Preflight result;
  check_card_contract(card, options, result);
  return result;
}

}  // namespace plumbline::cli
