// SPDX-License-Identifier: Apache-2.0
// The header of a table in Nsight Compute's CSV: which page it is, and where the columns stand.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "plumbline/base/diagnostics.h"
#include "plumbline/profile/cells.h"

namespace plumbline::profile {

inline constexpr std::size_t kNoColumn = std::numeric_limits<std::size_t>::max();

/// Metrics that are a launch's duration, best first. The section's "Duration" is gpu__time_duration.sum.
inline constexpr auto kTimeMetrics =
    std::to_array<std::string_view>({"gpu__time_duration.sum", "Duration", "gpu__time_duration.avg",
                                     "gpu__time_duration.max", "gpu__time_duration"});

/// Metrics that are the tensor pipe's activity in percent, best first (names differ between chips and
/// versions).
inline constexpr auto kTensorMetrics = std::to_array<std::string_view>({
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
    "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active",
    "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed",
});

/// How good a metric is among `names`: the best has the highest rank, 0 is none of them.
template <std::size_t N>
int metric_rank(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<int>(N - i);
  }
  return 0;
}

/// What a row of the table is.
enum class NcuPage {
  details,  ///< one metric of one launch
  raw,      ///< one launch, a column a metric
  summary,  ///< one metric of all launches of a kernel (--print-summary per-kernel)
};

/// Where the columns stand; kNoColumn for what the table lacks.
struct NcuHeader {
  NcuPage page = NcuPage::details;
  bool quoted = true;
  std::size_t count = 0;
  std::size_t id = kNoColumn, process = kNoColumn, name = kNoColumn, device = kNoColumn, cc = kNoColumn,
              stream = kNoColumn;
  std::size_t push_pop = kNoColumn, start_stop = kNoColumn;                               // NVTX
  std::size_t metric = kNoColumn, unit = kNoColumn, value = kNoColumn, rule = kNoColumn;  // details, summary
  std::size_t invocations = kNoColumn, low = kNoColumn, high = kNoColumn, average = kNoColumn;  // summary
  std::size_t time = kNoColumn, tensor = kNoColumn, display_name = kNoColumn;                   // raw
  std::size_t first_metric = kNoColumn;  // raw: where numbers begin
  bool has_units = false;                // raw: the row of units is read
  std::optional<Unit> time_unit;         // raw: from the row of units

  bool has_ranges() const { return push_pop != kNoColumn || start_stop != kNoColumn; }
};

/// Whether a line opens a table. A file may hold several: one a process, or one a run.
bool is_ncu_header_line(std::string_view line);

/// The header that these fields are; `quoted` tells whether its line began with a quote, `at` where it
/// stands. Errors: csv-header (columns of its page are missing), ncu-no-duration (a raw page without one).
Parsed<NcuHeader> read_ncu_header(std::span<const std::string_view> fields, bool quoted, const Location& at);

}  // namespace plumbline::profile
