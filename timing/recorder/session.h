// SPDX-License-Identifier: Apache-2.0
// The recorder of this process: opened and closed by profiler.start/stop or by an NVTX range.
#pragma once

#include <mutex>
#include <string>

#include "recording.h"

namespace plumbline::recorder {

/// The one recorder of a process. Every function may be called from any thread.
class Recorder {
 public:
  static Recorder& get();

  /// Loads CUPTI and listens for profiler.start and stop. Once.
  void attach();
  void open_region();
  void close_region();
  /// An NVTX range of this name began or ended.
  void range_begin(const std::string& name);
  void range_end(const std::string& name);
  /// Writes what was recorded so far.
  void write();

  /// Guards `recording`; CUPTI hands records over on its own thread.
  std::mutex mutex;
  Recording recording;

 private:
  Recorder();
  std::mutex region_mutex_;
  std::string path_;
  std::string launches_path_;
  std::string range_;
  bool attached_ = false;
  bool usable_ = false;
  int depth_ = 0;
};

/// CUPTI's part (cupti.cpp). Each returns an empty text, or what failed.
std::string cupti_attach(Recorder& recorder, bool listen_for_profiler);
std::string cupti_enable();
std::string cupti_disable_and_flush();

}  // namespace plumbline::recorder
