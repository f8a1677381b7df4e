// SPDX-License-Identifier: Apache-2.0
// Independent pieces of work on several cores. Each piece writes to its own place, so results do not depend
// on how many cores there are.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace plumbline {

/// Calls work(0), …, work(count − 1) on at most `threads` threads at once (0: one a core). `work` must not
/// throw.
template <class Work>
void in_parallel(std::size_t count, const Work& work, unsigned threads = 0) {
  std::atomic<std::size_t> next{0};
  const auto take = [&] {
    for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) work(i);
  };
  const std::size_t most = std::max(1U, threads == 0 ? std::thread::hardware_concurrency() : threads);
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(most, count); ++i) others.emplace_back(take);
  take();
}

inline constexpr std::size_t kLeastPerThread =
    2048;  ///< predictions: below this a thread costs more than it saves

/// Calls work(begin, end) for one piece a thread; the pieces cover [0, count). With `threads` 0 there are as
/// many as there are cores, and fewer where a thread would get less than kLeastPerThread.
template <class Work>
void for_ranges(std::size_t count, unsigned threads, const Work& work) {
  std::size_t pieces = threads;
  if (threads == 0)
    pieces =
        std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), count / kLeastPerThread);
  pieces = std::clamp<std::size_t>(pieces, 1, std::max<std::size_t>(count, 1));
  in_parallel(
      pieces, [&](std::size_t i) { work(count * i / pieces, count * (i + 1) / pieces); },
      static_cast<unsigned>(pieces));
}

}  // namespace plumbline
