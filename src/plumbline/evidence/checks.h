// SPDX-License-Identifier: Apache-2.0
// Evidence: every document of a comparison held against every other. One function a kind; each is pure and
// adds findings (the run does not hold) and warnings (a doubt, with its figure) whose codes stand in the
// table.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/base/statistics.h"
#include "plumbline/contract/contract.h"
#include "plumbline/pricing/credit.h"
#include "plumbline/pricing/eval.h"
#include "plumbline/table/kernel_table.h"

namespace plumbline {

/// What a hardware file knows of the GPU that was timed.
struct GpuFacts {
  std::string product;
  double memory_gbps = 0;  ///< 10⁹ bytes/s, the data sheet's
  std::int64_t l2_bytes = 0;
};

/// What stands in the card's folder now.
struct CardFacts {
  std::string name;
  std::vector<std::string> siblings;         ///< cards beside it
  std::map<std::string, std::string> files;  ///< SHA-256 by path, of those that the eval names; "" when gone
  std::vector<std::string> workloads;        ///< names that the bench spells out
};

/// All that the checks may look at. The pointers outlive the call; a table may be null.
struct Documents {
  const WindowContract* contract = nullptr;
  const EvalReport* eval = nullptr;
  const KernelTable* student = nullptr;
  const KernelTable* reference = nullptr;
  const WorkloadReading* workload = nullptr;  ///< whose tables they are; null: the campaign's
  const Credit* credit = nullptr;             ///< null: the contract prices nothing
  const GpuFacts* gpu = nullptr;              ///< null: no hardware file is of that GPU
  const CardFacts* card = nullptr;
  bool leaderboard = false;
  double gate = 1.0;
  std::optional<Interval> raw_interval;

  const KernelTable* table(Payer side) const { return side == Payer::student ? student : reference; }
  /// The reading that a side's table is held against; none where it was not read.
  std::optional<double> reading_ms(Payer side) const;
};

/// Holds the report's own form: findings eval-refused, eval-workloads-too-few (not for leaderboard cards),
/// eval-reading-missing, eval-mixed-window, eval-sample-count, eval-ratio-mismatch, eval-workload-count,
/// eval-campaign; warnings eval-aa-spread, eval-throttled, eval-order, eval-workloads-unlisted. Any finding
/// means that the ratio may not pass a gate.
Diagnostics check_eval(const EvalReport& report, bool leaderboard);

/// An eval that agrees with itself: readings within their samples, workloads that differ, one window, the
/// harness's findings inside, the mean on the side of the gate where its readings put it.
void check_follows(const Documents& in, Diagnostics& out);
/// An eval that can be true: launch floor, memory bandwidth.
void check_limits(const Documents& in, Diagnostics& out);
/// Samples as a clock gives them: not constant, rising, two-peaked, or one side's a multiple of the other's.
void check_samples(const Documents& in, Diagnostics& out);
/// How it was read: clocks, temperature, L2, isolation, outputs, stop, drained work, A/A, throttling, sealed
/// windows, the parent's clock.
void check_conditions(const Documents& in, Diagnostics& out);
/// The pipelined and the per-call window on opposite sides of the gate.
void check_windows(const Documents& in, Diagnostics& out);
/// Eval, card, contract and files belong together, and both sides ran under the same switches.
void check_chain(const Documents& in, Diagnostics& out);
/// Tables against windows, against each other, and against what is priced off them.
void check_tables(const Documents& in, Diagnostics& out);

/// All of the above except check_eval, in this order.
Diagnostics check_evidence(const Documents& in);

/// The noise of a workload's ratio, relative: its smallest difference where the bench states one, else twice
/// the standard error of the samples' medians. None where neither is known.
std::optional<double> ratio_noise(const WorkloadReading& workload);

/// How far the raw ratio may be off, relative: the workloads' noise, put together as independent. None when
/// any is unknown.
std::optional<double> mean_noise(const EvalReport& report);

/// The geometric mean of ref / student per call, where both were read in every workload.
std::optional<double> per_call_ratio(const EvalReport& report);

/// Kernels (identities) that only one side launches, by falling time.
struct OneSided {
  std::vector<std::string> student;
  std::vector<std::string> reference;
};
/// Empty unless both tables are there.
OneSided one_sided_kernels(const KernelTable* student, const KernelTable* reference);

}  // namespace plumbline
