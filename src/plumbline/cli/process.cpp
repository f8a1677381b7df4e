// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

#include "plumbline/base/text.h"
#include "plumbline/cli/process_tree.h"

namespace plumbline::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;
void on_interrupt(int) { interrupted = 1; }

constexpr std::array kEnding = {SIGINT, SIGTERM, SIGHUP};

using Clock = std::chrono::steady_clock;

/// The first and the last of what a child says; it may say any amount.
class Capture {
 public:
  void add(std::string_view text) {
    bytes_ += static_cast<std::int64_t>(text.size());
    const std::size_t fits = std::min(text.size(), kFirst - first_.size());
    first_.append(text.substr(0, fits));
    last_.append(text.substr(fits));
    if (last_.size() > 2 * kLast) last_.erase(0, last_.size() - kLast);
  }
  std::int64_t bytes() const { return bytes_; }
  std::string text() const {
    std::string_view end = last_;
    if (end.size() > kLast) end.remove_prefix(end.size() - kLast);
    const std::int64_t left_out = bytes_ - static_cast<std::int64_t>(first_.size() + end.size());
    std::string all = first_;
    if (left_out > 0) all += "\n[... " + std::to_string(left_out) + " bytes left out ...]\n";
    all += end;
    for (std::size_t at = 0; const auto bad = first_invalid_utf8(std::string_view(all).substr(at));) {
      at += *bad;
      all[at] = '?';
    }
    return all;
  }

 private:
  static constexpr std::size_t kFirst = 8 << 10, kLast = 24 << 10;
  std::string first_, last_;
  std::int64_t bytes_ = 0;
};

void limit_resource(int resource, std::int64_t most) {
  struct rlimit limit {};
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return;
  limit.rlim_max = std::min(limit.rlim_max, static_cast<rlim_t>(most));
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

/// What the kernel holds each process to. The rest is watched: CUDA reserves more addresses than any machine
/// has memory, so RLIMIT_AS is of no use.
void set_limits(const ProcessLimits& limits) {
  limit_resource(RLIMIT_CORE, 0);
  // Under the whole tree's limit: who fills one file gets the error in his own call, and not somebody else,
  // who is looked at next, the blame.
  if (limits.written_bytes > 0)
    limit_resource(RLIMIT_FSIZE, limits.written_bytes - limits.written_bytes / 10);
  // Should the machine's memory run out, this goes first.
  const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score >= 0) {
    [[maybe_unused]] const auto written = write(score, "900", 3);
    close(score);
  }
}

/// In the child, between fork and exec: the failure goes up the pipe.
[[noreturn]] void become(const ProcessOptions& options, std::vector<char*>& arguments, int pipe_end,
                         int output, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // however plumbline ends, the command does not outlive it
  if (getppid() != parent) _exit(127);
  setpgid(0, 0);  // a group of its own, so that its children can be ended with it
  if (output >= 0) dup2(output, STDERR_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  const int none = open("/dev/null", O_RDONLY);
  if (none >= 0) dup2(none, STDIN_FILENO);
  if (options.limits) set_limits(*options.limits);
  if (options.directory.empty() || chdir(options.directory.c_str()) == 0) {
    for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
    execvp(arguments[0], arguments.data());
  }
  const int error = errno;
  [[maybe_unused]] const auto written = write(pipe_end, &error, sizeof error);
  _exit(127);
}

/// Looks at a child with limits from time to time.
class Watch {
 public:
  Watch(const ProcessLimits& limits, int output)
      : limits_(limits),
        output_(output),
        written_before_(tree_use(0).written_bytes),
        kills_before_(kernel_memory_kills()),
        tasks_before_(tasks_of_machine()) {}

  /// Reads what was said, for at most `wait_ms`.
  void listen(int wait_ms) {
    pollfd one{output_, POLLIN, 0};
    if (output_ < 0 || closed_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
      return;
    }
    if (poll(&one, 1, wait_ms) <= 0) return;
    char part[65536];
    for (int reads = 0; reads < 64; ++reads) {
      const ssize_t size = read(output_, part, sizeof part);
      if (size <= 0) {
        closed_ = size == 0;
        return;
      }
      capture_.add({part, static_cast<std::size_t>(size)});
    }
  }

  /// The limit that is exceeded now.
  Exceeded look() {
    if (limits_.output_bytes > 0 && capture_.bytes() > limits_.output_bytes) return Exceeded::output;
    const auto now = Clock::now();
    const bool many = limits_.processes > 0 && tasks_of_machine() - tasks_before_ > limits_.processes;
    if (now < next_ && !(many && now > last_ + std::chrono::milliseconds(20))) return Exceeded::nothing;
    const TreeUse use = tree_use(limits_.memory_bytes > 0 ? limits_.memory_bytes : INT64_MAX);
    last_ = Clock::now();
    next_ = last_ + std::max(std::chrono::nanoseconds(std::chrono::milliseconds(100)), 20 * (last_ - now));
    memory_ = std::max(memory_, use.memory_bytes);
    processes_ = std::max(processes_, use.processes);
    written_ = std::max(written_, use.written_bytes - written_before_);
    if (limits_.memory_bytes > 0 && memory_ > limits_.memory_bytes) return Exceeded::memory;
    if (limits_.processes > 0 && processes_ > limits_.processes) return Exceeded::processes;
    if (limits_.written_bytes > 0 && written_ > limits_.written_bytes) return Exceeded::written;
    return Exceeded::nothing;
  }

  void report(ProcessEnd& end) {
    for (int reads = 0; !closed_ && reads < 64; ++reads) {
      const std::int64_t before = capture_.bytes();
      listen(0);
      if (capture_.bytes() == before) break;
    }
    end.most_memory = memory_;
    end.most_processes = processes_;
    end.written_bytes = std::max(written_, tree_use(INT64_MAX).written_bytes - written_before_);
    end.output_bytes = capture_.bytes();
    end.output = capture_.text();
    end.memory_kills = kernel_memory_kills() > kills_before_;
  }

 private:
  ProcessLimits limits_;
  int output_;
  bool closed_ = false;
  Capture capture_;
  std::int64_t memory_ = 0, processes_ = 0, written_ = 0;
  std::int64_t written_before_, kills_before_, tasks_before_;
  Clock::time_point last_{}, next_{};
};

/// Waits for the child; ends its whole group at a limit or on an interrupt.
ProcessEnd wait_for(pid_t child, const ProcessOptions& options, Watch* watch) {
  const auto begun = Clock::now();
  const auto deadline = begun + std::chrono::duration<double>(options.limit_s);
  ProcessEnd end;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (interrupted == 0) {
      if (watch != nullptr) end.exceeded = watch->look();
      if (end.exceeded == Exceeded::nothing && Clock::now() > deadline) end.exceeded = Exceeded::time;
    }
    if (interrupted != 0 || end.exceeded != Exceeded::nothing) {
      end.timed_out = end.exceeded == Exceeded::time;
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      break;
    }
    if (watch != nullptr) {
      watch->listen(10);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  kill(-child, SIGKILL);  // what it left running
  end_descendants();
  end.seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (watch != nullptr) watch->report(end);
  return end;
}

/// A pipe, or none.
class Pipe {
 public:
  explicit Pipe(bool wanted) {
    if (wanted && pipe2(ends_.data(), O_CLOEXEC) == 0) return;
    ends_ = {-1, -1};
  }
  ~Pipe() {
    close_write();
    if (ends_[0] >= 0) close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_write() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

}  // namespace

ProcessEnd run_process(const ProcessOptions& options) {
  std::vector<char*> arguments;
  for (const std::string& word : options.command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ProcessEnd not_started;
  not_started.status = 127;
  not_started.start_failure = "no command could be started";
  Pipe failures(true);
  Pipe output(options.limits.has_value());
  if (options.command.empty() || failures.read_end() < 0 || (options.limits && output.read_end() < 0))
    return not_started;
  if (options.limits) fcntl(output.read_end(), F_SETFL, O_NONBLOCK);
  std::optional<Watch> watch;
  if (options.limits) watch.emplace(*options.limits, output.read_end());
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const WatchedSignals signals;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) become(options, arguments, failures.write_end(), output.write_end(), parent);
  failures.close_write();
  output.close_write();
  if (child < 0) {
    not_started.start_failure = std::strerror(errno);
    return not_started;
  }
  setpgid(child, child);
  int error = 0;
  ssize_t got = -1;
  do got = read(failures.read_end(), &error, sizeof error);
  while (got < 0 && errno == EINTR);
  const bool failed_to_start = got == static_cast<ssize_t>(sizeof error);
  ProcessEnd end = wait_for(child, options, watch ? &*watch : nullptr);
  end.interrupted = interrupted != 0;
  if (failed_to_start) end.start_failure = options.command[0] + ": " + std::strerror(error);
  return end;
}

WatchedSignals::WatchedSignals() : before_{} {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  for (std::size_t i = 0; i < kEnding.size(); ++i) sigaction(kEnding[i], &action, &before_[i]);
}

WatchedSignals::~WatchedSignals() {
  for (std::size_t i = 0; i < kEnding.size(); ++i) sigaction(kEnding[i], &before_[i], nullptr);
}

bool was_interrupted() { return interrupted != 0; }

TemporaryFolder::TemporaryFolder() {
  std::error_code failure;
  std::string pattern = (std::filesystem::temp_directory_path(failure) / "plumbline-XXXXXX").string();
  if (!failure && mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace plumbline::cli
