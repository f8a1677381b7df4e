// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/recorder.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "plumbline/base/files.h"
#include "plumbline/cli/process.h"
#include "plumbline/profile/recording.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;

fs::path executable_folder() {
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self/exe", failure);
  return failure ? fs::path() : self.parent_path();
}

/// The first of the places, relative to the executable, that exists.
std::string beside(std::initializer_list<const char*> places) {
  const fs::path base = executable_folder();
  std::error_code ignored;
  for (const char* place : places) {
    const fs::path path = (base / place).lexically_normal();
    if (fs::exists(path, ignored)) return path.string();
  }
  return {};
}

std::string recorder_library() {
  if (const char* named = std::getenv("PLUMBLINE_RECORDER")) return named;
  return beside({"timing/libplumbline_recorder.so", "../lib/libplumbline_recorder.so",
                 "../lib/" PLUMBLINE_LIBRARY_SUBDIRECTORY "/libplumbline_recorder.so",
                 "../lib64/libplumbline_recorder.so"});
}

/// What each process wrote, by file name, and the launches that go with the one that has any.
std::vector<RecordingText> collect(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("recording.") && !name.ends_with(".csv") && !name.ends_with(".part"))
      files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  std::vector<RecordingText> texts;
  for (const std::string& file : files) {
    Parsed<std::string> text = read_file(file);
    if (text.ok()) texts.push_back({std::move(*text.value), file});
  }
  return texts;
}

Diagnostics keep_launches(const std::vector<RecordingText>& recordings, const std::string& target) {
  // The largest file is that of the process with the launches; the others hold a header.
  std::string largest;
  std::uintmax_t size = 0;
  std::error_code ignored;
  for (const RecordingText& recording : recordings) {
    const std::string csv = recording.file + ".csv";
    const std::uintmax_t bytes = fs::file_size(csv, ignored);
    if (!ignored && bytes > size) {
      largest = csv;
      size = bytes;
    }
  }
  if (largest.empty()) return {};
  std::ifstream launches(largest, std::ios::binary);
  OutputFile output(target);
  std::vector<char> part(1 << 20);
  while (launches.read(part.data(), static_cast<std::streamsize>(part.size())) || launches.gcount() > 0) {
    if (!output.write({part.data(), static_cast<std::size_t>(launches.gcount())})) break;
  }
  return output.commit();
}

Diagnostic ran_too_long(const std::string& command, double limit_s) {
  return diagnose("record-time-limit",
                  fmt::format("{} ran longer than {} s and was ended", command, limit_s));
}

Diagnostic failure_of(const ProcessOptions& options, const ProcessEnd& end) {
  if (!end.start_failure.empty()) return diagnose("record-command-failed", end.start_failure);
  if (end.timed_out) return ran_too_long(options.command[0], options.limit_s);
  return diagnose("record-command-failed",
                  fmt::format("{} ended with status {}", options.command[0], end.status));
}

/// The table of what the processes of one command wrote into a folder.
Parsed<KernelTable> table_of(const std::vector<RecordingText>& recordings, const std::string& command,
                             const RecordingOptions& options) {
  if (recordings.empty())
    return failed<KernelTable>(
        diagnose("record-no-region", fmt::format("{} started no CUDA program", command)));
  return table_of_recordings(recordings, options);
}

/// The table of one launch, or how it ended.
Parsed<KernelTable> table_of_launch(const std::string& folder, const LaunchOptions& options) {
  const Parsed<std::string> status = read_file(folder + "/status");
  if (!status.ok()) {
    return failed<KernelTable>(
        diagnose("record-command-failed", "it was not launched, since one before it failed"));
  }
  if (*status.value == "limit") return failed<KernelTable>(ran_too_long(options.script, options.limit_s));
  if (*status.value != "0") {
    return failed<KernelTable>(diagnose(
        "record-command-failed", fmt::format("{} ended with status {}", options.script, *status.value)));
  }
  return table_of(collect(folder), options.script, {});
}

}  // namespace

bool has_cuda_driver() {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY);
  if (driver == nullptr) return false;
  dlclose(driver);
  return true;
}

std::string python_package_path() {
  if (const char* named = std::getenv("PLUMBLINE_PYTHON_PACKAGE")) return named;
  return beside({"timing/python/package", "../share/plumbline/python"});
}

Diagnostics recorder_trouble() {
  const std::string library = recorder_library();
  std::error_code ignored;
  if (library.empty() || !fs::exists(library, ignored)) {
    return {diagnose("record-unavailable", library.empty()
                                               ? "the recorder was not built here (no CUPTI headers)"
                                               : "there is no " + library)};
  }
  if (!has_cuda_driver())
    return {diagnose("record-no-cuda", "there is no CUDA driver here (libcuda.so.1), so no GPU to record")};
  return {};
}

Parsed<KernelTable> record_command(const RecordOptions& options) {
  const Diagnostics trouble = recorder_trouble();
  if (!trouble.empty()) return {std::nullopt, trouble};
  const TemporaryFolder folder;
  if (folder.path().empty())
    return failed<KernelTable>(diagnose("file-unwritable", "no temporary folder could be made"));
  ProcessOptions process;
  process.command = options.command;
  process.directory = options.directory;
  process.limit_s = options.limit_s;
  process.environment = options.environment;
  const std::string library = recorder_library();
  process.environment.emplace_back("CUDA_INJECTION64_PATH", library);
  process.environment.emplace_back("NVTX_INJECTION64_PATH", library);
  process.environment.emplace_back("PLUMBLINE_RECORD_OUT", folder.path() + "/recording");
  process.environment.emplace_back("PLUMBLINE_RECORD_RANGE", options.range);
  process.environment.emplace_back("PLUMBLINE_RECORD_LAUNCHES", options.launches.empty() ? "" : "1");
  const ProcessEnd end = run_process(process);
  if (!end.ok()) return failed<KernelTable>(failure_of(process, end));
  const std::vector<RecordingText> recordings = collect(folder.path());
  Parsed<KernelTable> table = table_of(recordings, options.command[0], {options.calls, options.device});
  if (table.ok() && !options.launches.empty()) {
    const Diagnostics kept = keep_launches(recordings, options.launches);
    if (has_errors(kept)) return {std::nullopt, kept};
  }
  return table;
}

std::vector<Parsed<KernelTable>> record_launches(const LaunchOptions& options) {
  const auto all_failed = [&](const Diagnostic& why) {
    return std::vector<Parsed<KernelTable>>(options.launches.size(), failed<KernelTable>(why));
  };
  const TemporaryFolder folder;
  if (folder.path().empty())
    return all_failed(diagnose("file-unwritable", "no temporary folder could be made"));
  ProcessOptions process;
  process.command = {options.python,
                     "-m",
                     "plumbline.recordings",
                     options.script,
                     folder.path(),
                     recorder_library(),
                     fmt::format("{}", options.limit_s)};
  for (const auto& [side, workload] : options.launches) {
    process.command.push_back(side);
    process.command.push_back(workload);
  }
  process.directory = options.directory;
  process.environment = options.environment;
  process.limit_s = options.limit_s * static_cast<double>(options.launches.size() + 1);
  const ProcessEnd end = run_process(process);
  if (!end.ok()) return all_failed(failure_of(process, end));
  std::vector<Parsed<KernelTable>> tables;
  for (std::size_t i = 0; i < options.launches.size(); ++i)
    tables.push_back(table_of_launch(fmt::format("{}/{}", folder.path(), i), options));
  return tables;
}

}  // namespace plumbline::cli
