// SPDX-License-Identifier: Apache-2.0
// Is everything in the ledger what it was when it was banked?
#pragma once

#include <functional>

#include "plumbline/ledger/ledger.h"

namespace plumbline::ledger {

/// What was looked at and what was found.
struct Verified {
  std::int64_t runs = 0;
  std::int64_t documents = 0;
  std::int64_t collected = 0;  ///< documents whose content gc has taken
  Diagnostics problems;        ///< findings, and warnings of contracts that are now judged otherwise
};

/// Every document against its hash, every run against its digest, each run's contract checked again, the
/// ratio of each run against its eval. Findings: ledger-part-damaged, ledger-row-damaged,
/// ledger-contract-refuses, ledger-ratio-differs. Errors are those of the connection.
/// `progress` hears of every document and run.
Parsed<Verified> verify(Ledger& ledger,
                        const std::function<void(std::uint64_t done, std::uint64_t all)>& progress = {});

}  // namespace plumbline::ledger
