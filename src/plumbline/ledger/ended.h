// SPDX-License-Identifier: Apache-2.0
// What a bench came to that handed over no readings: whose doing it was.
#pragma once

#include <string>
#include <string_view>

#include "plumbline/base/diagnostics.h"

namespace plumbline::ledger {

/// How a bench ended.
struct BenchEnd {
  enum class Limit { none, time, memory, processes, written, output };
  Limit limit = Limit::none;  ///< it was ended for this one
  std::string limit_words;    ///< "more than 900 s", "3.1 GiB of memory, 2.0 allowed"
  std::string phase;          ///< whose turn it was, in its own word: see docs/measuring.md
  std::string start_failure;  ///< why it did not start; "" when it did
  int signal = 0;             ///< that ended it; 0 for none
  int status = 0;             ///< exit status
  bool interrupted = false;   ///< this process was asked to end meanwhile
  bool memory_kills = false;  ///< the kernel killed for want of memory meanwhile
  std::string eval_trouble;   ///< it ended by itself and its eval is none: why; "" where there is one
};

/// An outcome of kOutcomes without a reading, and the reason.
struct Unmeasured {
  std::string_view outcome;
  Diagnostic reason;
};

/// Judges the end. The student's fault is only what happened in the student's turn; what the machine, the GPU
/// or another user did is "infrastructure"; everything else is the bench's.
Unmeasured judge_end(const BenchEnd& end);

}  // namespace plumbline::ledger
