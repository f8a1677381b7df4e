// SPDX-License-Identifier: Apache-2.0
// What was recorded, and its JSON. Knows nothing of CUPTI, so that it is tested without a GPU.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace plumbline::recorder {

/// One kernel launch or node of a graph.
struct Launch {
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t kernel = 0;  ///< index into names()
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  std::uint32_t graph = 0;  ///< 0: launched by itself
};

/// Sum of the launches of a kind of transfer.
struct Transfer {
  std::int64_t count = 0;
  std::uint64_t bytes = 0;
  double time_ns = 0;
};

/// Busy time (union of intervals) and span of a set of launches.
struct Coverage {
  double busy_ns = 0;
  double span_ns = 0;
};
Coverage cover(std::vector<std::pair<std::uint64_t, std::uint64_t>> intervals);

/// Everything of one process.
class Recording {
 public:
  std::uint32_t intern(const char* name);
  void add(const Launch& launch);
  void begin_region() { ++regions; }

  /// The document plumbline-recording/1.
  std::string json() const;
  /// One row a launch: region,kernel,device,stream,graph,start_ns,end_ns.
  std::string launches_csv() const;

  std::string region = "profiler";
  int regions = 0;
  std::int64_t calls = 0;    ///< 0: not said
  std::int64_t dropped = 0;  ///< records that the profiler lost
  std::int64_t broken = 0;   ///< launches without a time
  unsigned cupti_version = 0;
  std::string error;  ///< why nothing could be recorded
  Transfer copies;
  Transfer fills;
  std::map<std::uint32_t, std::string> devices;
  const std::deque<std::string>& names() const { return names_; }

 private:
  std::deque<std::string> names_;  // full, demangled
  std::unordered_map<std::string, std::uint32_t> by_name_;
  const char* last_ = nullptr;
  std::string last_text_;
  std::uint32_t last_index_ = 0;
  struct Placed {
    Launch launch;
    int region;
  };
  std::vector<Placed> launches_;
};

/// A C++ name as people write it; other names as they are.
std::string demangle(const char* name);

}  // namespace plumbline::recorder
