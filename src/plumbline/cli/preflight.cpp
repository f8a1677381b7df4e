// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/preflight.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "plumbline/bench/report.h"
#include "plumbline/cli/contract_state.h"

namespace plumbline::cli {
namespace {

/// What to say of a card without eval/bench.py: where one lies that looks like it.
std::string bench_absent(const Card& card) {
  for (const char* other : {"bench.py", "eval.py", "benchmark.py", "eval/benchmark.py", "bench/bench.py"}) {
    std::error_code error;
    if (std::filesystem::exists(std::filesystem::path(card.folder) / other, error)) {
      return fmt::format("the card has no eval/bench.py; {} lies elsewhere and is not read", other);
    }
  }
  return "the card has no eval/bench.py";
}

}  // namespace

int Preflight::status() const {
  if (!errors.empty()) return kExitUsage;
  return refuses(findings) || (strict && !warnings.empty()) ? kExitRefused : kExitOk;
}

void check_card_contract(const Card& card, const PreflightOptions& options, Preflight& result) {
  ContractState state = load_contract_state({card.contract, true});
  if (options.no_reference) {
    std::erase_if(state.findings,
                  [](const Finding& finding) { return finding.diagnostic.code == "contract-absent"; });
  }
  result.contract = std::move(state.contract);
  result.errors.insert(result.errors.end(), state.errors.begin(), state.errors.end());
  result.findings.insert(result.findings.end(), state.findings.begin(), state.findings.end());
  result.warnings.insert(result.warnings.end(), state.warnings.begin(), state.warnings.end());
}

void check_card_bench(const Card& card, Preflight& result) {
  BenchRequest request;
  request.bench = card.bench;
  request.ncu_run = card.ncu_run;
  request.problem = card.problem;
  request.folder = card.folder;
  request.needs_prep = result.contract && !prep_entries(*result.contract).empty();
  request.contract = result.contract ? &*result.contract : nullptr;
  BenchReport report = check_bench(request);
  // Without a bench there is nothing to hold to the contract: a run that cannot be read is not let through.
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(card.bench, error))) {
    result.findings.push_back({diagnose("bench-absent", bench_absent(card), {card.bench})});
  }
  result.prep = std::move(report.prep);
  result.times_workloads = report.times_workloads;
  std::move(report.findings.begin(), report.findings.end(), std::back_inserter(result.findings));
  std::move(report.warnings.begin(), report.warnings.end(), std::back_inserter(result.warnings));
}

Preflight preflight(const Card& card, const PreflightOptions& options) {
  Preflight result;
  result.strict = options.strict;
  check_card_contract(card, options, result);
  if (result.errors.empty()) check_card_bench(card, result);
  return result;
}

}  // namespace plumbline::cli
