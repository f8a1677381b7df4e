// SPDX-License-Identifier: Apache-2.0
// Which launches of a Nsight Systems export count: those in an NVTX range, or between cudaProfilerStart and
// cudaProfilerStop.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plumbline/profile/collect.h"
#include "plumbline/profile/database.h"
#include "plumbline/profile/launch_records.h"
#include "plumbline/profile/range_index.h"

namespace plumbline::profile {

/// The process of a serialized id: bits 24 to 47; the thread is below.
inline std::int64_t nsys_process(std::int64_t global_id) { return global_id / 0x1000000 % 0x1000000; }

/// The asked stretches of an export and the launches inside them. Kernels belong to the range in which they
/// were launched; they run later. A push/pop range is its thread's alone.
class NsysRanges {
 public:
  NsysRanges(const std::string& path, const ImportOptions& options) : path_(path), asked_(options.range) {}

  /// Finds the ranges and their launches, and tells `collector` the region. Without an asked range the calls
  /// of the profiler's own API decide, where there are any: a whole program may have been recorded. Errors:
  /// import-no-ranges, import-no-such-range, nsys-schema, sqlite-broken.
  std::optional<Diagnostic> read(Database& db, Collector& collector);

  /// Whether the activity of this correlation id counts; its range is then entered.
  bool counts(std::int64_t process, std::int64_t correlation);

  /// The launches that count and whether something ran for them, by process; empty where the export holds no
  /// calls.
  std::map<std::int64_t, LaunchRecords>& records() { return records_; }
  /// Something of this correlation id ran, wherever it lies.
  void ran(std::int64_t process, std::int64_t correlation) {
    if (const auto at = records_.find(process); at != records_.end()) at->second.ran(correlation);
  }

  /// Once every kernel was asked for: how often the range was entered, and what stayed outside.
  void describe(Collector& collector) const;

 private:
  /// A stretch in which launches count.
  struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t process = kUnknownId;
    std::int64_t thread = kUnknownId;  ///< global id of a push/pop range's thread; kUnknownId: any thread
  };
  /// What the NVTX events hold.
  struct Nvtx {
    std::vector<Range> ranges;    ///< those asked for
    std::set<std::string> known;  ///< names of all, for the message
    std::int64_t open_ended = 0;  ///< asked for, and still open when the recording stopped
  };
  /// A launch inside a range.
  struct InRange {
    std::int64_t process;
    std::int64_t correlation;
    std::size_t range;  ///< its number
    bool operator<(const InRange& other) const {
      return process != other.process ? process < other.process : correlation < other.correlation;
    }
  };

  static std::vector<Range> profiler_calls(Database& db);
  Nvtx nvtx_events(Rows& rows) const;
  std::optional<Diagnostic> read_nvtx(Database& db, Collector& collector);
  std::optional<Diagnostic> read_launches(Database& db);
  void read_records(Database& db);
  bool in_ranges(std::int64_t process, std::int64_t correlation) const;

  const std::string& path_;
  const std::string& asked_;
  RangeIndex<Range> ranges_;
  std::vector<InRange> in_range_;
  std::map<std::int64_t, LaunchRecords> records_;
  bool profiler_region_ = false;
  std::int64_t other_threads_ = 0;  ///< CUDA calls of other threads while a push/pop range was open
};

}  // namespace plumbline::profile
