// SPDX-License-Identifier: Apache-2.0
// The step of a loop: preflight, bench, tables, judgement, ledger.
#pragma once

#include <string>

#include "plumbline/cli/banking.h"
#include "plumbline/cli/judge.h"
#include "plumbline/cli/measuring.h"
#include "plumbline/cli/preflight.h"
#include "plumbline/report/iteration_report.h"

namespace plumbline::cli {

/// How a step is made.
struct StepOptions {
  std::string name;  ///< of the run; "" takes the time
  PreflightOptions preflight;
  MeasureOptions measure;
  JudgeOptions judge;  ///< gate, calls and tables; the run's name is the step's
  BankOptions bank;
  bool banks = true;
};

/// One step, whatever it comes to. Progress, and what is said beside the verdict, goes to `io`.
Iteration iterate_once(const Io& io, const Card& card, const StepOptions& options);

}  // namespace plumbline::cli
