// SPDX-License-Identifier: Apache-2.0
// What the commands ask of the bench checks, and how findings are shown.
#pragma once

#include <string>

#include "plumbline/bench/report.h"
#include "plumbline/cli/command.h"

namespace plumbline::cli {

/// The request for a bench file where it lies: in CARD/eval/ the card's contract says whether prep is needed
/// (without one it is), and imports are followed inside the card.
BenchRequest bench_request(const std::string& bench, const std::string& ncu_run);

/// Each finding, and what to do about it.
void report_with_fixes(const Io& io, const Findings& findings);

}  // namespace plumbline::cli
