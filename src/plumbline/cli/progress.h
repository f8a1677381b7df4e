// SPDX-License-Identifier: Apache-2.0
// A line on a terminal while something takes longer than two seconds.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "plumbline/cli/command.h"

namespace plumbline::cli {

/// From the third second on: what is being done, how far it is, its rate, and about how long is left. Only
/// where standard error is a terminal and --quiet is absent; the line is erased at the end. One at a time.
class Progress {
 public:
  /// "ranking"; `unit` is what is counted: "layers", or "bytes" for MB.
  Progress(const Io& io, std::string what, std::string unit);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// From any thread. `all` is 0 where it is not known.
  void update(std::uint64_t done, std::uint64_t all);
  void say(const std::string& what);

 private:
  using Clock = std::chrono::steady_clock;
  void paint_until_the_end();
  std::string line() const;

  std::string what_, unit_;
  std::size_t width_;
  std::atomic<std::uint64_t> done_{0}, all_{0};
  Clock::time_point begin_ = Clock::now();
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::thread painter_;
};

}  // namespace plumbline::cli
