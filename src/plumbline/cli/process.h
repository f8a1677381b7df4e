// SPDX-License-Identifier: Apache-2.0
// A child process with limits.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plumbline/base/diagnostics.h"

namespace plumbline::cli {

/// What a child and everything that it starts may use together. 0 sets no limit.
struct ProcessLimits {
  std::int64_t memory_bytes = 0;
  std::int64_t processes = 0;
  std::int64_t written_bytes = 0;  ///< to disks; a single file may not grow beyond it either
  std::int64_t output_bytes = 0;   ///< on standard output and error
};

/// A limit that was exceeded.
enum class Exceeded { nothing, time, memory, processes, written, output };

/// How a child is run.
struct ProcessOptions {
  std::vector<std::string> command;                              ///< looked up on PATH
  std::vector<std::pair<std::string, std::string>> environment;  ///< set on top of the caller's own
  std::string directory;                                         ///< "" keeps the current one
  double limit_s = 600;                                          ///< it and its children are ended then
  /// With limits its output is captured, the first and the last of it; without, it goes to standard error.
  std::optional<ProcessLimits> limits;
};

/// How a child ended.
struct ProcessEnd {
  bool timed_out = false;
  int status = 0;             ///< exit status; 128 + the signal when one ended it
  std::string start_failure;  ///< why it did not start, else ""
  bool interrupted = false;   ///< a signal ended it and plumbline is to end too
  int signal = 0;             ///< that ended it; 0 for none
  double seconds = 0;
  // Of a child with limits:
  Exceeded exceeded = Exceeded::nothing;  ///< it was ended for this one; also for the time
  bool memory_kills = false;              ///< the kernel killed for want of memory meanwhile
  std::int64_t most_memory = 0;           ///< as far as was seen, ten times a second
  std::int64_t most_processes = 0;
  std::int64_t written_bytes = 0;
  std::int64_t output_bytes = 0;
  std::string output;  ///< valid UTF-8; the middle of a long one is left out

  bool ok() const {
    return !timed_out && !interrupted && status == 0 && start_failure.empty() &&
           exceeded == Exceeded::nothing;
  }
};

/// Runs the child to its end. Its standard output goes to standard error, or is captured: what plumbline
/// itself prints stays apart. SIGINT, SIGTERM and SIGHUP end the child and all of its descendants, however
/// they detached; when this process is killed the child is too.
ProcessEnd run_process(const ProcessOptions& options);

/// While it lives, SIGINT, SIGTERM and SIGHUP are noted and end nothing but a child that runs.
class WatchedSignals {
 public:
  WatchedSignals();
  ~WatchedSignals();
  WatchedSignals(const WatchedSignals&) = delete;
  WatchedSignals& operator=(const WatchedSignals&) = delete;

 private:
  std::array<struct sigaction, 3> before_;
};

/// True once SIGINT, SIGTERM or SIGHUP came while they were noted.
bool was_interrupted();

/// A folder under $TMPDIR that is removed with everything in it at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }  ///< "" when none could be made

 private:
  std::string path_;
};

}  // namespace plumbline::cli
