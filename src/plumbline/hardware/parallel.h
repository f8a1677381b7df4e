// SPDX-License-Identifier: Apache-2.0
// Independent pieces of work on every core. Each piece writes to its own place, so results do not depend on
// how many cores there are.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace plumbline {

/// Calls work(0), …, work(count − 1), several at once. `work` must not throw.
template <class Work>
void in_parallel(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next{0};
  const auto take = [&] {
    for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) work(i);
  };
  const std::size_t cores = std::max<std::size_t>(1, std::thread::hardware_concurrency());
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(cores, count); ++i) others.emplace_back(take);
  take();
}

}  // namespace plumbline
