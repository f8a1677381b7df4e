// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/bench_request.h"

#include <fmt/format.h>

#include <filesystem>

#include "plumbline/base/codes.h"
#include "plumbline/cli/contract_state.h"
#include "plumbline/contract/contract.h"

namespace plumbline::cli {

BenchRequest bench_request(const std::string& bench, const std::string& ncu_run) {
  const std::filesystem::path folder = std::filesystem::path(bench).parent_path();
  BenchRequest request;
  request.bench = bench;
  request.ncu_run = ncu_run;
  request.problem = (folder / "leaderboard" / "problem.json").string();
  const bool in_card = folder.filename() == "eval";
  const std::filesystem::path card = in_card ? folder.parent_path() : folder;
  request.folder = card.empty() ? "." : card.string();
  if (!in_card) return request;
  const ContractState state = load_contract_state({(card / "window.toml").string(), true});
  request.needs_prep = state.contract && !prep_entries(*state.contract).empty();
  return request;
}

void report_with_fixes(const Io& io, const Findings& findings) {
  for (const Finding& finding : findings) {
    io.report({finding.diagnostic});
    if (const CodeInfo* info = find_code(finding.diagnostic.code))
      io.message(fmt::format("  fix: {}", info->fix));
  }
}

}  // namespace plumbline::cli
