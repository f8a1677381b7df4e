// SPDX-License-Identifier: Apache-2.0
// Confirmation: everything that is known of one recorded comparison, and whether it passes its gate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plumbline/contract/contract.h"
#include "plumbline/contract/finding.h"
#include "plumbline/pricing/credit.h"
#include "plumbline/pricing/eval.h"
#include "plumbline/pricing/interval.h"

namespace plumbline {

/// Which file a number came from.
struct Source {
  std::string what;  ///< "readings", "student kernels", "reference kernels", "contract"
  std::string file;
  std::string detail;  ///< how it was read: "ncu-csv, 2 calls, NVIDIA H200"
};

/// Everything that confirm() judges. The contract has been checked: a refused one never gets here.
struct ConfirmInputs {
  WindowContract contract;
  Findings contract_warnings;
  EvalReport eval;
  bool leaderboard = false;  ///< the card is a leaderboard card: its board decides what is timed
  std::optional<KernelTable> student_table;
  std::optional<KernelTable> ref_table;
  std::string student_table_file;
  std::string ref_table_file;
  double gate = 1.0;
};

/// The verdict and everything beside it. `passed` looks at the raw ratio and at what was held; never at the
/// credit.
struct Confirmation {
  ConfirmInputs in;
  std::optional<double> raw_ratio;        ///< performance.ratio: the geometric mean over the workloads
  std::optional<Interval> raw_interval;   ///< from the samples
  bool passed = false;                    ///< raw_ratio >= gate and nothing in `failures`
  std::optional<Credit> credit;           ///< none: the contract prices nothing
  std::optional<CreditedTimes> credited;  ///< of the campaign workload
  std::optional<CreditInterval> credited_interval;
  std::vector<std::string> student_marks;  ///< for each row of the table, the entries that it pays for
  std::vector<std::string> ref_marks;
  std::optional<WindowShare> student_window;
  std::optional<WindowShare> ref_window;
  std::optional<BreakEven> break_even;
  Findings prep_findings;  ///< the prep report held to the contract
  Diagnostics failures;    ///< findings of the eval and of the prep report: the run does not hold
  Diagnostics doubts;      ///< warnings: what could not be trusted, and why
  std::vector<Source> sources;
};

/// Judges a recorded comparison. Pure: no file is read.
Confirmation confirm(ConfirmInputs inputs);

}  // namespace plumbline
