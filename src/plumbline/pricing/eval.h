// SPDX-License-Identifier: Apache-2.0
// The eval JSON that a bench writes: both sides' readings, workload by workload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/base/json.h"
#include "plumbline/base/statistics.h"

namespace plumbline {

/// One side of one workload. Milliseconds; a reading that was null, missing or 0 is absent.
struct SideReading {
  std::optional<double> pipelined_ms;
  std::optional<double> per_call_ms;
  std::optional<double> host_tax_ms;  ///< may be negative: the difference of two readings
  bool withheld = false;              ///< a reading was written as null or 0
  std::vector<double> samples_ms;     ///< of the window that `performance.window` names
};

/// One workload, both sides.
struct WorkloadReading {
  std::string name;
  bool campaign = false;
  SideReading student;
  SideReading ref;
  std::optional<double> ratio;     ///< as the bench states it
  bool ratio_withheld = false;     ///< the bench wrote null or 0: it gives no ratio, and none is computed
  std::optional<double> aa_ratio;  ///< the reference against itself
  std::optional<bool>
      distinguishable;   ///< the bench's own word: is the ratio beyond its smallest difference?
  std::string throttle;  ///< why the clock dropped in blocks that were kept; "" when it did not
};

/// What the eval says. Parsed, not yet held: see check_eval().
struct EvalReport {
  std::string file;
  std::string op;
  std::string device;                ///< machine.gpu
  std::string window;                ///< "pipelined" or "per_call"
  std::optional<double> student_ms;  ///< of the campaign workload
  std::optional<double> ref_ms;
  std::optional<double> ratio;              ///< performance.ratio, as the bench states it
  bool ratio_withheld = false;              ///< the bench wrote null or 0: it refuses a verdict
  std::vector<std::string> refused;         ///< why, in the bench's words (performance.refused)
  std::optional<std::int64_t> n_workloads;  ///< performance.n_workloads
  std::vector<WorkloadReading> workloads;   ///< file order; empty when the bench lists none
  std::size_t campaign = 0;                 ///< index of the workload that is profiled and priced
  std::shared_ptr<const OrderedJson> prep;  ///< performance.prep, or null
  std::optional<double> prep_ms;            ///< of the campaign workload
  std::shared_ptr<const std::string> text;  ///< of the file, to find the place of a value
  Diagnostics findings;                     ///< what parsed and cannot be held: see check_eval()

  /// The campaign workload, or nullptr when none is listed.
  const WorkloadReading* campaign_workload() const {
    return workloads.empty() ? nullptr : &workloads[campaign];
  }
};

/// The reading of the named window.
std::optional<double> reading_of(const SideReading& side, std::string_view window);

/// The workload's ratio: the stated one, else the reference's reading over the student's. None when withheld.
std::optional<double> ratio_of(const WorkloadReading& workload, std::string_view window);

/// The geometric mean over the workloads, or none when there is none or one has no ratio.
std::optional<double> geometric_ratio(const EvalReport& report);

/// The raw ratio: performance.ratio, or the geometric mean where the bench leaves that out. None when
/// withheld.
std::optional<double> raw_ratio(const EvalReport& report);

/// Reads an eval JSON. Errors (each at its value): json-syntax, eval-not-finite (NaN or Infinity, which
/// Python writes and JSON has not), eval-schema (a part of another type, an unknown schema_version),
/// eval-value (a time or a ratio that is negative or no number).
Parsed<EvalReport> parse_eval(std::string_view text, const std::string& file);

/// Reads and parses a file. Errors as above and those of read_text_file().
Parsed<EvalReport> load_eval(const std::string& path);

/// Holds the report: findings eval-refused, eval-workloads-too-few (not for leaderboard cards),
/// eval-reading-missing, eval-mixed-window, eval-sample-count, eval-ratio-mismatch, eval-workload-count,
/// eval-campaign; warnings eval-aa-spread, eval-throttled, eval-order, eval-workloads-unlisted. Any finding
/// means that the ratio may not pass a gate.
Diagnostics check_eval(const EvalReport& report, bool leaderboard);

}  // namespace plumbline
