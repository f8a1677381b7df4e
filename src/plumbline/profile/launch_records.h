// SPDX-License-Identifier: Apache-2.0
// Which CUDA or HIP calls launched something, and whether what they launched is in the file.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace plumbline::profile {

/// What a call of the runtime or driver does, as far as absence goes.
enum class ApiCall { other, kernel, graph, capture_begin, capture_end };

/// By its name, in every spelling: "cudaLaunchKernelExC_v11060", "cuLaunchKernel_ptsz", "hipExtLaunchKernel".
ApiCall api_call(std::string_view name);

/// Launches and what ran, joined by correlation id. About a byte a launch where ids follow each other.
class LaunchRecords {
 public:
  /// A call on a thread, in the order of the file: launches between a thread's StreamBeginCapture and
  /// StreamEndCapture build a graph and run nothing.
  void take_call(ApiCall call, std::int64_t thread, std::int64_t correlation);
  /// The same, for a caller that knows which launches count.
  void launched(std::int64_t correlation, bool graph);
  /// A kernel, copy or fill that ran. One without a correlation id may be any launch's.
  void ran(std::int64_t correlation);
  void ran_unknown() { ++unknown_; }
  bool is_graph(std::int64_t correlation) const { return graphs_.count(correlation) != 0; }
  bool in_capture(std::int64_t thread) const { return capturing_.count(thread) != 0; }

  struct Absent {
    std::int64_t launches = 0;          ///< calls that launched something, graphs too
    std::int64_t missing = 0;           ///< of these, without anything that ran
    std::int64_t graphs = 0;            ///< graph launches
    std::int64_t missing_graphs = 0;    ///< of these, without anything that ran
    std::int64_t before_recording = 0;  ///< ids that ran and are older than every recorded call
  };
  Absent absent() const;

 private:
  /// 64 ids, one bit each.
  struct Chunk {
    std::uint64_t launched = 0;
    std::uint64_t ran = 0;
  };
  Chunk& chunk(std::int64_t id);

  std::unordered_map<std::int64_t, Chunk> chunks_;
  std::int64_t last_ = std::numeric_limits<std::int64_t>::min();  ///< key of last_chunk_
  Chunk* last_chunk_ = nullptr;
  std::set<std::int64_t> graphs_;     ///< ids of graph launches
  std::set<std::int64_t> capturing_;  ///< threads inside a capture
  std::int64_t first_call_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t unknown_ = 0;
};

/// What `absent` means for a table, in words; "" where nothing is missing.
std::string describe_missing(const LaunchRecords::Absent& absent);
/// The doubt about kernels that were queued before the recording began; "" where there are none.
std::string describe_early(const LaunchRecords::Absent& absent);

}  // namespace plumbline::profile
