// SPDX-License-Identifier: Apache-2.0
// Giving the room of old documents back.
#pragma once

#include <string>

#include "plumbline/ledger/ledger.h"

namespace plumbline::ledger {

/// What was, or would be, taken.
struct Collected {
  std::int64_t runs = 0;       ///< runs older than the limit
  std::int64_t documents = 0;  ///< evals, tables and machines that only those name
  std::int64_t bytes = 0;      ///< as they are kept, packed
};

/// Takes the content of evals, kernel tables and machine descriptions that no run made at or after `limit`
/// ("2026-12-03T01:02:03Z") names. Rows, numbers, verdicts, code and every hash stay. `dry` counts only.
Parsed<Collected> collect(Ledger& ledger, const std::string& limit, bool dry);

}  // namespace plumbline::ledger
