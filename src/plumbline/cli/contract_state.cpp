// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/contract_state.h"

#include <utility>

#include "plumbline/contract/check.h"
#include "plumbline/contract/parse.h"

namespace plumbline::cli {

ContractState load_contract_state(const ContractPath& path) {
  ContractState state;
  Parsed<WindowContract> parsed = load_contract(path.path);
  for (Diagnostic& diagnostic : parsed.diagnostics) {
    if (path.of_card && diagnostic.code == "file-missing") {
      state.findings.push_back(contract_absent(path.path));
    } else if (diagnostic.severity == Severity::error) {
      state.errors.push_back(std::move(diagnostic));
    } else {
      state.warnings.push_back({std::move(diagnostic)});
    }
  }
  if (!parsed.ok()) return state;
  ContractVerdict verdict = check_contract(*parsed.value);
  state.contract = std::move(parsed.value);
  state.findings = std::move(verdict.findings);
  state.warnings.insert(state.warnings.end(), verdict.warnings.begin(), verdict.warnings.end());
  return state;
}

std::string malformed_code(const ContractState& state) {
  return state.errors.empty() ? std::string() : state.errors.front().code;
}

}  // namespace plumbline::cli
