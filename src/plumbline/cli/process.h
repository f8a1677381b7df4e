// SPDX-License-Identifier: Apache-2.0
// A child process with limits.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plumbline/base/diagnostics.h"

namespace plumbline::cli {

/// How a child is run.
struct ProcessOptions {
  std::vector<std::string> command;                              ///< looked up on PATH
  std::vector<std::pair<std::string, std::string>> environment;  ///< set on top of the caller's own
  std::string directory;                                         ///< "" keeps the current one
  double limit_s = 600;                                          ///< it and its children are ended then
};

/// How a child ended.
struct ProcessEnd {
  bool timed_out = false;
  int status = 0;             ///< exit status; 128 + the signal when one ended it
  std::string start_failure;  ///< why it did not start, else ""
  bool interrupted = false;   ///< a signal ended it and plumbline is to end too

  bool ok() const { return !timed_out && !interrupted && status == 0 && start_failure.empty(); }
};

/// Runs the child to its end. Its standard output goes to standard error: what plumbline itself prints stays
/// apart. SIGINT, SIGTERM and SIGHUP end the child and all of its descendants, however they
/// detached; when this process is killed the child is too.
ProcessEnd run_process(const ProcessOptions& options);

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
