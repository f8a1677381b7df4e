// SPDX-License-Identifier: Apache-2.0
// What a judged comparison came to, and the row that it becomes.
#pragma once

#include <string>
#include <string_view>

#include "plumbline/evidence/confirmation.h"
#include "plumbline/ledger/record.h"

namespace plumbline::ledger {

/// Whose doing a finding of the harness is: "tampering", "fail-correctness", "fail-prep", "infrastructure" or
/// "bench-defect".
std::string_view outcome_of_finding(std::string_view code);

/// The outcome of a comparison, one of kOutcomes. What the student did comes first (tampering, then wrong
/// results, then prep), what only another measurement can settle next, then what only the bench's author can
/// fix; the gate comes last. A gate that cannot be told from the ratio is "within-noise" on either side.
std::string classify(const Confirmation& confirmation);

/// What each side receives and makes, as one hash: runs with another boundary timed other work.
std::string boundary_of(const WindowContract& contract);

/// The numbers, series and readings of a judged comparison. Ident, time, name, code and parts are the
/// caller's to fill. Numbers only where the outcome may carry them.
RunRecord record_of(const Confirmation& confirmation, const std::string& card);

}  // namespace plumbline::ledger
