// SPDX-License-Identifier: Apache-2.0
// Running a command with the recorder injected.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/table/kernel_table.h"

namespace plumbline::cli {

/// What is recorded and how.
struct RecordOptions {
  std::vector<std::string> command;
  std::string directory;                                         ///< "" keeps the current one
  std::vector<std::pair<std::string, std::string>> environment;  ///< on top of the recorder's own
  std::string range;                                             ///< NVTX range; "" is profiler.start/stop
  std::optional<std::int64_t> calls;
  std::optional<std::int64_t> device;
  double limit_s = 600;
  std::string launches;  ///< a CSV with one row a launch is written here; "" writes none
};

/// Is there a CUDA driver on this machine?
bool has_cuda_driver();

/// Whether a command can be recorded here: record-unavailable or record-no-cuda, or nothing.
Diagnostics recorder_trouble();

/// The table of the recorded region. Errors: the record-… codes.
Parsed<KernelTable> record_command(const RecordOptions& options);

/// A card's launch script and what is recorded of it.
struct LaunchOptions {
  std::string python;
  std::string script;
  std::string directory;
  std::vector<std::pair<std::string, std::string>> environment;
  double limit_s = 600;                                            ///< of one launch
  std::vector<std::pair<std::string, std::string>> launches = {};  ///< side, and workload or ""
};

/// A table for each launch, in their order, from processes that share the start of Python and PyTorch. After
/// a launch that failed, those of the same side are not made: record-command-failed. Errors: the record-…
/// codes.
std::vector<Parsed<KernelTable>> record_launches(const LaunchOptions& options);

/// Folders for PYTHONPATH in which the package `plumbline` of this build or installation lies, "" where there
/// is none.
std::string python_package_path();

}  // namespace plumbline::cli
