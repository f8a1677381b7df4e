// SPDX-License-Identifier: Apache-2.0
// How far a credited ratio can be trusted: the noise of the readings, and what becomes of the gaps between
// kernels when the priced work is taken out.
#pragma once

#include <optional>
#include <span>

#include "plumbline/base/statistics.h"
#include "plumbline/pricing/credit.h"
#include "plumbline/pricing/eval.h"

namespace plumbline {

/// What one side's window holds besides kernels.
struct WindowShare {
  double window_ms = 0;
  double busy_ms = 0;      ///< kernel time of one call
  double coverage = 0;     ///< busy / window; slightly above 1 is normal (another run, other clocks)
  double gaps_ms = 0;      ///< max(0, window − busy)
  double unaccounted = 0;  ///< gaps / window: what no kernel explains
};

/// None when the reading or the kernel time of a call is not known.
std::optional<WindowShare> window_share(const SideInput& side);

/// What happens to the gaps when the priced kernels leave.
enum class Gaps {
  scale,  ///< they shrink with the window: time × (1 − fraction), the formula of the credit
  stay,   ///< they remain: the matched time of one call alone is subtracted
};

/// The credited ratio under one assumption for each side.
struct CreditCorner {
  Gaps student = Gaps::scale;
  Gaps reference = Gaps::scale;
  double ratio = 0;
  std::optional<Interval> interval;  ///< bootstrap over the samples, 95 %
};

/// The interval beside the credited ratio.
struct CreditInterval {
  Interval interval;          ///< the hull of every corner and its samples
  CreditCorner least;         ///< the corner that reaches the low end: the less favourable one to the student
  CreditCorner most;          ///< the one that reaches the high end
  bool from_samples = false;  ///< both sides have at least two samples
  bool gaps_known = false;    ///< the kernel time of one call is known for each side that is priced
};

/// None exactly when credited_times() is none. `campaign` may be null (no samples).
std::optional<CreditInterval> credit_interval(const Credit& credit, const SideInput& student,
                                              const SideInput& reference, const WorkloadReading* campaign);

/// The 95 % bootstrap interval of the raw ratio: of the geometric mean over all workloads when every one has
/// samples. None otherwise.
std::optional<Interval> raw_interval(const EvalReport& report);

/// A prep step that one side alone needs, and after how many calls it has paid for itself.
struct BreakEven {
  Payer side = Payer::student;  ///< who needs the prep
  double prep_ms = 0;
  bool also_shared = false;     ///< prep_ms also covers tensors that both sides receive: an upper bound
  std::optional<double> calls;  ///< prep / (other side − this side); none when it gains nothing
  std::optional<double> calls_credited;  ///< against the credited times; none when not credited or no gain
};

/// The side that alone receives a tensor made by a prep step (a price or accept entry with produced_by
/// "prep"), or none when there is none or both do.
std::optional<Payer> one_sided_prep(const WindowContract& contract);

/// None when no side alone needs a prep, or prep_ms or a reading is missing.
std::optional<BreakEven> break_even(const WindowContract& contract, std::optional<double> prep_ms,
                                    std::optional<double> student_ms, std::optional<double> ref_ms,
                                    const std::optional<CreditedTimes>& credited);

}  // namespace plumbline
