// SPDX-License-Identifier: Apache-2.0
// Confirmation: everything that is known of one recorded comparison, and whether it passes its gate.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plumbline/contract/contract.h"
#include "plumbline/contract/finding.h"
#include "plumbline/evidence/checks.h"
#include "plumbline/pricing/credit.h"
#include "plumbline/pricing/eval.h"
#include "plumbline/pricing/interval.h"

namespace plumbline {

/// Which file a number came from.
struct Source {
  std::string what;  ///< "readings", "student kernels", "reference kernels", "contract"
  std::string file;
  std::string detail;  ///< how it was read: "ncu-csv, 2 calls, NVIDIA H200"
  std::string sha256;  ///< of the profiler's file, where the table knows it
};

/// The kernel tables of one workload beside the campaign's.
struct WorkloadTables {
  std::optional<KernelTable> student;
  std::optional<KernelTable> reference;
};

/// Everything that confirm() judges. The contract has been checked: a refused one never gets here.
struct ConfirmInputs {
  WindowContract contract;
  Findings contract_warnings;
  Diagnostics read_warnings;  ///< of the importers: what a table lacks
  EvalReport eval;
  bool leaderboard = false;  ///< the card is a leaderboard card: its board decides what is timed
  std::optional<KernelTable> student_table;
  std::optional<KernelTable> ref_table;
  std::string student_table_file;
  std::string ref_table_file;
  std::map<std::string, WorkloadTables> workload_tables;  ///< by name, of the other workloads
  std::optional<GpuFacts> gpu;
  std::optional<CardFacts> card;
  double gate = 1.0;
};

/// The credit of one workload.
struct WorkloadCredit {
  std::string name;
  std::optional<CreditedTimes> credited;  ///< none: no tables, or a credit that cannot be used
};

/// The verdict and everything beside it. `passed` looks at the raw ratio and at what was held; never at the
/// credit.
struct Confirmation {
  ConfirmInputs in;
  std::optional<double> raw_ratio;        ///< performance.ratio: the geometric mean over the workloads
  std::optional<Interval> raw_interval;   ///< from the samples
  std::optional<double> per_call_ratio;   ///< the same mean over the per-call readings
  bool passed = false;                    ///< raw_ratio >= gate and nothing in `failures`
  bool within_noise = false;              ///< the gate cannot be told from the raw ratio
  std::optional<Credit> credit;           ///< none: the contract prices nothing
  std::optional<CreditedTimes> credited;  ///< of the campaign workload
  std::optional<CreditInterval> credited_interval;
  std::vector<WorkloadCredit>
      workload_credits;                    ///< one a workload, where others than the campaign have tables
  std::optional<double> credited_mean;     ///< the geometric mean, when every workload is credited
  std::vector<std::string> student_marks;  ///< for each row of the table, the entries that it pays for
  std::vector<std::string> ref_marks;
  OneSided one_sided;  ///< kernels without a counterpart
  std::optional<WindowShare> student_window;
  std::optional<WindowShare> ref_window;
  std::optional<BreakEven> break_even;
  Findings prep_findings;  ///< the prep report held to the contract
  Diagnostics failures;    ///< findings of the eval and of the prep report: the run does not hold
  Diagnostics doubts;      ///< warnings: what could not be trusted, and why
  std::vector<Source> sources;
};

/// "plumbline 0.1.0", "hand-written script"; "" where the eval names no harness.
std::string harness_words(const EvalReport& eval);

/// Judges a recorded comparison. Pure: no file is read.
Confirmation confirm(ConfirmInputs inputs);

/// One workload in two runs.
struct RerunLine {
  std::string name;
  std::optional<double> before;  ///< its ratio
  std::optional<double> now;
  std::optional<double> noise;  ///< relative, of both runs together
};

/// Two runs of a card beside each other.
struct Rerun {
  std::string run;                 ///< the earlier one's name
  std::vector<std::string> apart;  ///< why they cannot be compared: harness, GPU, driver, window
  std::optional<double> before;    ///< the raw ratio
  std::optional<double> now;
  std::optional<double> noise;  ///< relative, of both together
  std::vector<RerunLine> workloads;

  bool comparable() const { return apart.empty(); }
  /// now / before - 1, where they can be compared.
  std::optional<double> change() const;
  /// The change is larger than the noise; none where either is not known.
  std::optional<bool> moved() const;
};

/// Holds a run against an earlier one of the same card.
Rerun compare_runs(const EvalReport& now, const EvalReport& before, std::string run);

}  // namespace plumbline
