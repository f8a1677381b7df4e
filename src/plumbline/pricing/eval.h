// SPDX-License-Identifier: Apache-2.0
// The eval JSON that a bench writes: both sides' readings, workload by workload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/base/json.h"
#include "plumbline/base/statistics.h"

namespace plumbline {

/// How calls were timed: many enqueued behind one opening mark, or each alone with what the host adds.
enum class WindowKind { pipelined, per_call };
/// "pipelined" or "per_call", as evals write it.
std::string_view to_string(WindowKind window);
/// The kind of that name.
std::optional<WindowKind> window_named(std::string_view name);

/// One side of one workload. Milliseconds; a reading that was null, missing or 0 is absent.
struct SideReading {
  std::optional<double> pipelined_ms;
  std::optional<double> per_call_ms;
  std::optional<double> host_tax_ms;  ///< may be negative: the difference of two readings
  bool withheld = false;              ///< a reading was written as null or 0
  std::vector<double> samples_ms;     ///< of the window that `performance.window` names
  std::vector<double> per_call_samples_ms;
  std::optional<double> median_ms;                   ///< as the bench states it
  std::optional<Interval> interval_ms;               ///< likewise: 95 % of the median
  std::optional<double> sm_mhz;                      ///< the SM clock while this side ran
  std::optional<double> temperature_c;               ///< of the GPU
  std::optional<double> parent_ms;                   ///< the parent process's own clock around the same call
  std::optional<double> output_error;                ///< relative norm error against fp64
  std::optional<bool> graph_captured;                ///< the calls were replayed out of a CUDA graph
  std::optional<std::vector<std::string>> receives;  ///< names of what the timed call was handed
};

/// What the harness itself found and did not like.
struct HarnessFinding {
  std::string code;
  std::string message;
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
  std::string window;    ///< of this workload; "" where it does not say
  std::string shape;     ///< the `shape` object as one line of JSON; "" where there is none
  bool draws = false;    ///< the input sets are fixed by a board
  std::vector<HarnessFinding> findings;
  std::optional<Interval> ratio_interval;
  std::optional<double> smallest_difference;  ///< |ratio - 1| under this may not be claimed
  std::optional<double> relative_error;       ///< of the ratio
  std::string stop;                           ///< "noise", "time limit" or "rounds"
  std::string l2;                             ///< how a window finds L2: "cold", "hot", …
  std::optional<std::int64_t> outputs_checked;
  std::optional<std::int64_t> rounds;                    ///< A B B A rounds that were measured
  std::optional<std::int64_t> rounds_dropped_throttled;  ///< of these, dropped for the clock
  std::optional<std::int64_t> rounds_kept_throttled;
  std::optional<std::int64_t> calls_per_window;
  std::optional<double> set_bytes;        ///< of one set of inputs
  std::optional<double> drained_us;       ///< from the closing event until the device was idle
  std::vector<double> sealed_ms;          ///< the student's windows on inputs that nobody had seen
  std::optional<double> quiet_before_ms;  ///< the reference alone, before the student lived
  std::optional<double> quiet_after_ms;   ///< and after it had gone
};

/// How the eval was made.
struct HarnessFacts {
  std::string name;  ///< "plumbline", or another's
  std::string version;
  std::string isolation;                  ///< "process" or "none"
  std::string l2;                         ///< of harnesses that say it once
  std::string order;                      ///< of the sides: "ABBA"
  std::optional<bool> cold;               ///< was a cold L2 asked for?
  std::optional<double> noise;            ///< the relative error to stop at
  std::optional<double> launch_floor_us;  ///< what an empty kernel reads
  std::optional<double> drain_us;         ///< what draining an idle device reads

  bool ours() const { return name == "plumbline"; }  ///< then what it always writes cannot be missing
};

/// A failure that the document reports outside a workload's `findings`.
struct SaidFailure {
  std::string pointer;
  std::string words;
};

/// What the eval says it was made from.
struct EvalOrigin {
  std::string card;
  std::string harness_version;
  std::map<std::string, std::string> files;          ///< SHA-256 by path, relative to the card
  std::map<std::string, std::string> ref_precision;  ///< switch → value, while the side was called
  std::map<std::string, std::string> student_precision;
};

/// What the eval says. Parsed, not yet held: see check_eval().
struct EvalReport {
  std::string file;
  std::string op;
  std::string device;                        ///< machine.gpu
  std::string driver;                        ///< machine.driver
  std::string window;                        ///< as it is written
  WindowKind timed = WindowKind::pipelined;  ///< what it names; pipelined where that is neither
  std::optional<double> student_ms;          ///< of the campaign workload
  std::optional<double> ref_ms;
  std::optional<double> ratio;              ///< performance.ratio, as the bench states it
  bool ratio_withheld = false;              ///< the bench wrote null or 0: it refuses a verdict
  std::vector<std::string> refused;         ///< why, in the bench's words (performance.refused)
  std::optional<std::int64_t> n_workloads;  ///< performance.n_workloads
  std::vector<WorkloadReading> workloads;   ///< file order; empty when the bench lists none
  std::size_t campaign = 0;                 ///< index of the workload that is profiled and priced
  bool workloads_listed = false;            ///< there is a list, be it empty
  HarnessFacts harness;
  std::optional<EvalOrigin> origin;         ///< the `evidence` block
  std::shared_ptr<const OrderedJson> prep;  ///< performance.prep, or null
  std::optional<double> prep_ms;            ///< of the campaign workload
  std::shared_ptr<const std::string> text;  ///< of the file, to find the place of a value
  Diagnostics findings;                     ///< what parsed and cannot be held: see check_eval()
  std::vector<SaidFailure> failures;        ///< "errors", "correct": false and the like, anywhere
  std::vector<std::string> unread;          ///< pointers of facts that are of another type than they must be
  std::vector<std::string> absent;  ///< pointers of facts that our harness always writes and that lack

  /// The campaign workload, or nullptr when none is listed.
  const WorkloadReading* campaign_workload() const {
    return workloads.empty() ? nullptr : &workloads[campaign];
  }
};

/// The reading of the named window.
std::optional<double> reading_of(const SideReading& side, WindowKind window);

/// The workload's ratio: the stated one, else the reference's reading over the student's. None when withheld.
std::optional<double> ratio_of(const WorkloadReading& workload, WindowKind window);

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

/// Fills what the document says beside its readings: harness, origin, and of each workload how it was read.
/// What is absent, or of another type, stays absent.
void read_facts(const OrderedJson& root, EvalReport& report);
/// Fills `failures`, `unread` and `absent`: what read_facts() would pass over without a word.
void audit_facts(const OrderedJson& root, EvalReport& report);

/// Where a value of the report stands: "/performance/ratio".
Location place_in(const EvalReport& report, std::string_view pointer);
/// The same below one of its workloads: "/student/samples_ms".
Location place_in(const EvalReport& report, const WorkloadReading& workload, std::string_view pointer = "");

/// Half a unit of the last digit with which the number at `pointer` is written: 0.005 for 1.38. 0 without
/// the text.
double written_half(const EvalReport& report, const std::string& pointer);
/// "/performance/workloads/2" and what follows.
std::string pointer_of(const EvalReport& report, const WorkloadReading& workload, std::string_view below);

}  // namespace plumbline
