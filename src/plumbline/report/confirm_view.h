// SPDX-License-Identifier: Apache-2.0
// The view of a Confirmation: collected once, then only formatted, as text, Markdown or JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plumbline/base/json.h"
#include "plumbline/evidence/confirmation.h"
#include "plumbline/report/text_table.h"

namespace plumbline {

/// One kernel as a line of the view.
struct KernelLine {
  std::string name;           ///< the identity; the full name where two kernels share one
  std::int64_t launches = 0;  ///< of the region
  double launches_shown = 0;  ///< of one call where the calls are known, else of the region
  double us = 0;              ///< likewise
  double share_pct = 0;
  std::optional<double> tensor_pct;
  std::string pays_for;  ///< the priced entries that match it; "" where none
};

/// One side's kernels and window.
struct SideView {
  std::string title;  ///< "student" or "reference"
  bool table = false;
  bool per_call = false;            ///< launches and µs are of one call
  std::vector<KernelLine> kernels;  ///< the longest ones, and every one that pays
  std::size_t left_out = 0;         ///< kernels not listed
  double left_out_us = 0;
  double total_us = 0;
  double priced_pct = 0;  ///< of the kernel time
  std::string priced;     ///< names of the priced entries, joined
  std::optional<WindowShare> window;
};

/// One workload as a line.
struct WorkloadLine {
  std::string name;
  bool campaign = false;
  std::optional<double> ref_ms;
  std::optional<double> student_ms;
  std::optional<double> ratio;
  std::optional<double> per_call_ratio;
  std::optional<double> aa_ratio;
  std::optional<double> credited_ratio;  ///< off the workload's own tables
  std::size_t ref_samples = 0;
  std::size_t student_samples = 0;
};

/// Everything that confirm shows.
struct ConfirmView {
  std::string card;
  std::string run;  ///< "" when the files were named one by one
  std::string device;
  std::string window;
  HarnessFacts harness;
  double gate = 1;
  int digits = 3;  ///< of ratios; more where three would print the raw ratio and the gate alike
  bool passed = false;
  std::optional<double> raw_ratio;
  std::optional<Interval> raw_interval;
  std::optional<double> per_call_ratio;  ///< where the gate holds the pipelined one and both were read
  bool within_noise = false;             ///< the gate cannot be told from the raw ratio
  std::optional<Credit> credit;
  std::optional<CreditedTimes> credited;
  std::optional<CreditInterval> credited_interval;
  std::optional<double> credited_mean;  ///< over all workloads, where each has its tables
  std::string campaign;                 ///< the workload that is profiled and priced
  OneSided one_sided;
  std::optional<Rerun> against;
  Diagnostics reasons;               ///< why not passed, then what is doubted
  std::string verdict;               ///< one sentence: passed or not, and why
  std::vector<std::string> because;  ///< what the credited ratio rests on, a sentence each
  std::vector<WorkloadLine> workloads;
  SideView student;
  SideView reference;
  std::optional<double> prep_ms;
  std::vector<std::string> prep_words;  ///< what the prep step costs, a sentence each
  std::optional<BreakEven> break_even;
  Findings prep_findings;
  Diagnostics failures;
  Diagnostics doubts;
  std::vector<Source> sources;
  std::optional<KernelTable> student_table;  ///< whole, for the JSON document
  std::optional<KernelTable> ref_table;
};

/// Collects the view. `card` and `run` are the names to show.
/// `against`: an earlier run.
ConfirmView collect_confirm(const Confirmation& confirmation, std::string card, std::string run,
                            std::optional<Rerun> against = {});

/// For a terminal, or for a file.
std::string confirm_text(const ConfirmView& view, const Look& look);

/// Compact Markdown, bounded: names cut to 64 characters, at most 25 rows a table.
std::string confirm_markdown(const ConfirmView& view);

/// One JSON document, full precision.
Json confirm_json(const ConfirmView& view);

}  // namespace plumbline
