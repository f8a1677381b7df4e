// SPDX-License-Identifier: Apache-2.0
// One step of a loop as the document that the loop reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plumbline/base/json.h"
#include "plumbline/report/confirm_view.h"

namespace plumbline {

/// What the bench and its children took.
struct StepUse {
  double seconds = 0;
  std::int64_t most_memory = 0;
  std::int64_t most_processes = 0;
  std::int64_t written_bytes = 0;
  std::int64_t output_bytes = 0;
};

/// The last reading of the card before this one, of the same series.
struct EarlierReading {
  std::int64_t run = 0;
  std::string made_at;
  double raw_ratio = 0;
};

/// Where to read on.
struct ReadNext {
  std::string what;  ///< a file, a file and a line, or a command
  std::string why;
};

/// A step that is over.
struct Iteration {
  std::string card;
  std::string run;      ///< the run's name; "" where nothing was kept
  std::string folder;   ///< the run's folder; "" likewise
  std::string outcome;  ///< one of ledger::kOutcomes: the document's "class"
  std::string verdict;  ///< a sentence
  double gate = 1;
  Diagnostics reasons;
  std::optional<ConfirmView> view;  ///< where the run was judged
  std::optional<EarlierReading> earlier;
  std::optional<StepUse> use;  ///< where the bench was started
  std::string output;          ///< of the bench, where it failed
  std::vector<ReadNext> read_next;
  Json banked;  ///< null where it was not
};

/// No document is longer, in bytes.
inline constexpr std::size_t kLongestIteration = 32'768;

/// 0 for "pass", 13 for "refused", 2 for what the student cannot fix, else 1.
int iteration_status(const std::string& outcome);

/// The document, on one line and never over kLongestIteration bytes: of what is too much the last is left
/// out, and said so. `score` and every ratio are null unless the outcome is a reading.
Json iteration_json(const Iteration& iteration);

}  // namespace plumbline
