// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/launch_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace plumbline::profile {

ApiCall api_call(std::string_view name) {
  const auto has = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  if (!name.starts_with("cu") && !name.starts_with("hip")) return ApiCall::other;
  if (has("StreamBeginCapture")) return ApiCall::capture_begin;
  if (has("StreamEndCapture")) return ApiCall::capture_end;
  if (has("GraphLaunch")) return ApiCall::graph;
  if (has("LaunchHostFunc") || has("LaunchAttribute")) return ApiCall::other;
  if (has("LaunchKernel") || has("LaunchCooperativeKernel") || has("LaunchGrid") || name == "cudaLaunch" ||
      name.starts_with("cudaLaunch_v") || name == "cuLaunch") {
    return ApiCall::kernel;
  }
  return ApiCall::other;
}

LaunchRecords::Chunk& LaunchRecords::chunk(std::int64_t id) {
  const std::int64_t key = id >> 6;
  if (key != last_ || last_chunk_ == nullptr) {
    last_ = key;
    last_chunk_ = &chunks_[key];
  }
  return *last_chunk_;
}

void LaunchRecords::take_call(ApiCall call, std::int64_t thread, std::int64_t correlation) {
  first_call_ = std::min(first_call_, correlation);
  if (call == ApiCall::capture_begin) {
    capturing_.insert(thread);
  } else if (call == ApiCall::capture_end) {
    capturing_.erase(thread);
  } else if (call == ApiCall::graph || (call == ApiCall::kernel && !in_capture(thread))) {
    launched(correlation, call == ApiCall::graph);
  }
}

void LaunchRecords::launched(std::int64_t correlation, bool graph) {
  first_call_ = std::min(first_call_, correlation);
  chunk(correlation).launched |= std::uint64_t{1} << (correlation & 63);
  if (graph) graphs_.insert(correlation);
}

void LaunchRecords::ran(std::int64_t correlation) {
  chunk(correlation).ran |= std::uint64_t{1} << (correlation & 63);
}

LaunchRecords::Absent LaunchRecords::absent() const {
  Absent out;
  bool joined = false;  // some launch found its kernel: the ids mean something
  for (const auto& [key, chunk] : chunks_) {
    out.launches += std::popcount(chunk.launched);
    out.missing += std::popcount(chunk.launched & ~chunk.ran);
    joined = joined || (chunk.launched & chunk.ran) != 0;
    if (key * 64 >= first_call_) continue;
    std::uint64_t early = chunk.ran;
    if (first_call_ - key * 64 < 64) early &= (std::uint64_t{1} << (first_call_ - key * 64)) - 1;
    out.before_recording +=
        std::popcount(early & ~std::uint64_t{key == 0 ? 1U : 0U});  // id 0: none was given
  }
  const auto zero = chunks_.find(0);
  std::int64_t unknown = unknown_;
  if (zero != chunks_.end() && (zero->second.ran & 1) != 0 && (zero->second.launched & 1) == 0) ++unknown;
  out.graphs = static_cast<std::int64_t>(graphs_.size());
  for (const std::int64_t id : graphs_) {
    const auto at = chunks_.find(id >> 6);
    if ((at->second.ran >> (id & 63) & 1) == 0) ++out.missing_graphs;
  }
  out.missing = std::max<std::int64_t>(0, out.missing - unknown);
  out.missing_graphs = std::min(out.missing_graphs, out.missing);
  if (!joined) out.before_recording = 0;
  return out;
}

std::string describe_missing(const LaunchRecords::Absent& absent) {
  if (absent.missing == 0) return {};
  const std::int64_t kernels = absent.missing - absent.missing_graphs;
  std::string what;
  if (kernels > 0) {
    what = fmt::format("{} of {} kernel launches have no kernel in the file", kernels,
                       absent.launches - absent.graphs);
  }
  if (absent.missing_graphs > 0) {
    what += fmt::format("{}{} of {} graph launches have no kernel in the file", what.empty() ? "" : ", ",
                        absent.missing_graphs, absent.graphs);
  }
  return what;
}

std::string describe_early(const LaunchRecords::Absent& absent) {
  if (absent.before_recording == 0) return {};
  return fmt::format(
      "this is not the window: {} launches that ran were made before the recording began: the region starts "
      "inside a call",
      absent.before_recording);
}

}  // namespace plumbline::profile
