// SPDX-License-Identifier: Apache-2.0
// How many window calls a profiled region holds, and whether it is a window at all.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace plumbline::profile {

/// What the launches of a region look like.
struct RegionShape {
  std::vector<std::string> names;       ///< kernels
  std::vector<std::int64_t> launches;   ///< of each kernel, all > 0
  std::vector<std::uint32_t> sequence;  ///< indexes into names in launch order; empty: not known
  std::optional<std::int64_t> asked;    ///< --calls
  std::int64_t range_instances = 0;     ///< times the asked range was entered; 0: no range
};

/// What was found.
struct WindowCalls {
  std::optional<std::int64_t> calls;
  std::string refusal;              ///< not empty: "this is not the window", in words
  std::vector<std::string> doubts;  ///< warnings of the same kind where no number of calls was asked for
  std::string note;                 ///< how `calls` was found
};

/// With `asked`, every kernel must have been launched a multiple of it, or the region is not that many calls
/// of one window (an autotuner's trials, set-up kernels, a cut). Without it the calls are the instances of
/// the range, or the largest number of equal repeats of the launch sequence; a set-up prefix is reported.
WindowCalls find_window_calls(const RegionShape& shape);

}  // namespace plumbline::profile
