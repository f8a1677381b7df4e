// SPDX-License-Identifier: Apache-2.0
// Where importers put what they read: launches by process and device, then one table of the wanted ones.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/profile/import.h"
#include "plumbline/table/kernel_table.h"

namespace plumbline::profile {

inline constexpr std::int64_t kUnknownId = -1;  ///< a process or a device that the file does not name

/// The sums of one kernel name in one group. Times are picoseconds: integers, so their sums do not depend on
/// the order of the rows.
struct NameSums {
  std::int64_t launches = 0;
  std::int64_t time_ps = 0;
  std::int64_t min_ps = 0;
  std::int64_t max_ps = 0;
  double tensor_weight = 0;          ///< Σ pct · ps
  std::int64_t tensor_launches = 0;  ///< launches that gave a tensor figure
  bool extremes = true;              ///< min_ps and max_ps are of single launches
};

/// One launch on the clock of the trace.
struct TimedLaunch {
  std::int64_t start_ns = 0;
  std::uint32_t duration_ns = 0;  ///< kLong: see Group::long_launches
  std::uint32_t name = 0;
};
inline constexpr std::uint32_t kLong = 0xFFFFFFFF;

/// Durations over 100 days are damage, not a kernel; sums of shorter ones do not overflow unseen.
inline constexpr std::int64_t kLongestNs = 8'640'000'000'000'000;

/// Copies or fills of one group.
struct CopySums {
  std::int64_t count = 0;
  std::int64_t time_ps = 0;
};

/// One more copy of 0 to kLongestNs. A sum that overflows is 0: copies are information, no row is lost.
void add_copy(CopySums& sums, std::int64_t duration_ns);

/// What one process launched on one device.
struct Group {
  std::vector<NameSums> names;        ///< by name id; may be shorter than the name table
  std::vector<TimedLaunch> timeline;  ///< where the source has timestamps
  std::map<std::pair<std::int64_t, std::uint32_t>, std::int64_t> long_launches;  ///< durations over 4.29 s
  std::vector<std::uint32_t> sequence;  ///< name ids in launch order, where there are no timestamps
  std::set<std::int64_t> streams;
  std::int64_t last_stream = INT64_MIN;  ///< the stream added last: rows of one stream follow each other
  CopySums memcpy;
  CopySums memset;
  std::int64_t kept_rows = 0;
  std::int64_t launches = 0;
  std::int64_t first_copy_ns = INT64_MAX;  ///< start of the first memset, for the set-up check
};

/// One launch (or, from a summary, several of one kernel).
struct Launch {
  std::uint32_t name = 0;
  std::int64_t launches = 1;
  std::int64_t time_ps = 0;  ///< summed over `launches`
  std::optional<std::int64_t> min_ps;
  std::optional<std::int64_t> max_ps;
  std::optional<double> tensor_pct;
  std::optional<std::int64_t> stream;
  bool extremes = true;  ///< false: a summary that does not give the shortest and the longest
};

/// Can the launches of a summary's row, the shortest and the longest among them, sum to its total? Rounding
/// is allowed for: 2 % and a nanosecond a launch. Where they can, ends that rounding put outside the total
/// are moved onto it.
bool fit_extremes(Launch& launch);

/// Collects launches, then builds the table.
class Collector {
 public:
  Collector(std::string source, std::string path, const ImportOptions& options);

  /// The id of a kernel's name (made valid UTF-8, demangled).
  std::uint32_t name_id(std::string_view name);
  /// All names so far, by id.
  std::span<const std::string* const> names() const { return names_; }

  Group& group(std::int64_t process, std::int64_t device);
  /// Whether any launch of this process was added.
  bool has_process(std::int64_t process) const;

  /// Processes that launched kernels.
  std::size_t processes() const;

  /// False when a sum would overflow: the caller drops the row.
  bool add(Group& group, const Launch& launch);

  /// A launch with a place on the clock. `duration_ns` >= 0.
  bool add_timed(Group& group, const Launch& launch, std::int64_t start_ns, std::int64_t duration_ns);

  void set_device_name(std::int64_t device, std::string name) { device_names_[device] = std::move(name); }
  void note(std::string text) { notes_.push_back(std::move(text)); }
  /// A row that ought to count and cannot: counted as dropped. The first 20 are reported one by one.
  void drop(Diagnostic why);
  /// The profiler says that records are missing: the table is lossy.
  void lost(const std::string& what, Location at = {});
  RowAccount& account() { return account_; }
  void set_region(std::string region) { region_ = std::move(region); }
  /// A doubt about the region: a warning, and a note of the table.
  void doubt(std::string text) { doubts_.push_back(std::move(text)); }
  /// Number of times a process (kUnknownId: any) entered the asked range.
  void set_range_instances(std::int64_t instances, std::int64_t process = kUnknownId) {
    range_instances_[process] = instances;
  }
  /// How a process is called that the file names by a text. Its id is negative, from -2 down.
  std::int64_t process_by_name(std::string_view name);
  /// For sources whose process ids are the devices' where there is one process: processes that share no
  /// device are one process.
  void join_processes_of_own_devices();
  /// False for a source that gives one row a kernel: the order of launches is not known.
  void set_has_order(bool has_order) { has_order_ = has_order; }
  /// True when the source counts memcpy and memset (a trace does; a kernel profiler does not see them).
  void set_sees_copies(bool sees) { sees_copies_ = sees; }

  /// Starts are rounded to so many nanoseconds: their order is known, busy time and gaps are not.
  void set_clock_step(std::int64_t ns) { clock_step_ns_ = ns; }

  /// Chooses the process and the device, finds the calls, and builds the table. Errors: import-no-kernels,
  /// import-no-time, import-several-devices, import-several-processes, import-no-such-device,
  /// import-no-such-process, import-not-the-window, import-account, import-rows-twice.
  Parsed<KernelTable> finish();

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;  ///< process, device
  bool choose(std::vector<Key>& chosen);
  std::string list_processes(const std::set<std::int64_t>& ids) const;
  void check_account();
  KernelTable build(const Key& key, Group& group);
  void add_times(KernelTable& table, Group& group);
  void check_twins(const Group& group);
  void find_window(KernelTable& table, std::int64_t process, Group& group);

  std::string source_;
  std::string path_;
  const ImportOptions& options_;
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, std::uint32_t> name_ids_;
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> raw_ids_;  ///< before cleaning
  std::vector<const std::string*> names_;
  std::map<Key, Group> groups_;
  std::map<std::int64_t, std::string> device_names_;
  std::vector<std::string> notes_;
  Diagnostics diagnostics_;
  RowAccount account_;
  std::string region_ = "file";
  std::map<std::int64_t, std::int64_t> range_instances_;  ///< by process
  std::map<std::string, std::int64_t, std::less<>> process_names_;
  std::vector<std::string> doubts_;
  std::int64_t clock_step_ns_ = 1;
  bool has_order_ = true;
  bool sees_copies_ = false;
  bool lossy_ = false;
};

}  // namespace plumbline::profile
