// SPDX-License-Identifier: Apache-2.0
// Entry point of the injected library, and when a region opens and closes.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "session.h"

namespace plumbline::recorder {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

void write_whole(const std::string& path, const std::string& text) {
  const std::string beside = path + ".part";
  std::FILE* file = std::fopen(beside.c_str(), "w");
  if (file == nullptr) {
    std::fprintf(stderr, "plumbline recorder: cannot write %s\n", path.c_str());
    return;
  }
  const bool whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) == 0 && whole) {
    std::rename(beside.c_str(), path.c_str());
  } else {
    std::fprintf(stderr, "plumbline recorder: %s was not written whole\n", path.c_str());
    std::remove(beside.c_str());
  }
}

void at_exit() {
  Recorder::get().close_region();
  Recorder::get().write();
}

}  // namespace

// Never destroyed: CUPTI's thread may outlive the statics of this library.
Recorder& Recorder::get() {
  static Recorder* recorder = new Recorder;
  return *recorder;
}

Recorder::Recorder() {
  const std::string out = environment("PLUMBLINE_RECORD_OUT");
  if (!out.empty()) path_ = out + "." + std::to_string(getpid());
  if (!environment("PLUMBLINE_RECORD_LAUNCHES").empty()) launches_path_ = path_ + ".csv";
  range_ = environment("PLUMBLINE_RECORD_RANGE");
  recording.region = range_.empty() ? "profiler" : "nvtx:" + range_;
}

void Recorder::attach() {
  const std::lock_guard<std::mutex> lock(region_mutex_);
  if (attached_ || path_.empty()) return;
  attached_ = true;
  const std::string failure = cupti_attach(*this, range_.empty());
  usable_ = failure.empty();
  if (!usable_) {
    const std::lock_guard<std::mutex> guard(mutex);
    recording.error = failure;
  }
  std::atexit(at_exit);
}

void Recorder::open_region() {
  const std::lock_guard<std::mutex> lock(region_mutex_);
  if (!usable_ || depth_++ > 0) return;
  {
    const std::lock_guard<std::mutex> guard(mutex);
    recording.begin_region();
  }
  const std::string failure = cupti_enable();
  if (!failure.empty()) {
    const std::lock_guard<std::mutex> guard(mutex);
    recording.error = failure;
  }
}

void Recorder::close_region() {
  {
    const std::lock_guard<std::mutex> lock(region_mutex_);
    if (!usable_ || depth_ == 0 || --depth_ > 0) return;
    const std::string failure = cupti_disable_and_flush();
    if (!failure.empty()) {
      const std::lock_guard<std::mutex> guard(mutex);
      recording.error = failure;
    }
  }
  write();
}

void Recorder::range_begin(const std::string& name) {
  if (range_.empty() || name != range_) return;
  attach();
  open_region();
}

void Recorder::range_end(const std::string& name) {
  if (!range_.empty() && name == range_) close_region();
}

void Recorder::write() {
  const std::lock_guard<std::mutex> guard(mutex);
  if (path_.empty()) return;
  write_whole(path_, recording.json());
  if (!launches_path_.empty()) write_whole(launches_path_, recording.launches_csv());
}

}  // namespace plumbline::recorder

#define PLUMBLINE_EXPORT extern "C" __attribute__((visibility("default")))

// Called by the CUDA driver (CUDA_INJECTION64_PATH) when it starts.
PLUMBLINE_EXPORT int InitializeInjection(void);
int InitializeInjection(void) {
  plumbline::recorder::Recorder::get().attach();
  return 1;
}

// Called by the launch script: the region holds this many window calls.
PLUMBLINE_EXPORT void plumbline_recorder_calls(std::int64_t calls);
void plumbline_recorder_calls(std::int64_t calls) {
  auto& recorder = plumbline::recorder::Recorder::get();
  const std::lock_guard<std::mutex> guard(recorder.mutex);
  recorder.recording.calls = calls;
}
