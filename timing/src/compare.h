// SPDX-License-Identifier: Apache-2.0
// A comparison of two sides: A/A first, then A B B A rounds, until the noise asked for or the time limit.
#pragma once

#include <functional>
#include <vector>

#include "device.h"

namespace plumbline::timing {

/// Takes one window of a side (PL_SIDE_*) in a phase (PL_PHASE_*).
using WindowSource = std::function<pl_reading(int side, int phase, int round)>;

/// One A B B A round: both windows of both sides.
struct Round {
  double reference_ms[2];
  double student_ms[2];
  bool throttled = false;
  bool dropped = false;
};

struct Outcome {
  pl_comparison summary;
  std::vector<Round> rounds;
};

pl_options default_options();
/// Options that the rules accept: throws Failure(PL_USAGE) naming the one that is out of range.
void check_options(const pl_options& options);

/// Runs the comparison; `now_s` is a monotonic clock in seconds.
Outcome compare(const WindowSource& window, const pl_options& options, const std::function<double()>& now_s);

}  // namespace plumbline::timing
