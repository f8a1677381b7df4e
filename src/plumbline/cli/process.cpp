// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

namespace plumbline::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;
void on_interrupt(int) { interrupted = 1; }

/// In the child, between fork and exec: the failure goes up the pipe.
[[noreturn]] void become(const ProcessOptions& options, std::vector<char*>& arguments, int pipe_end,
                         pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // however plumbline ends, the command does not outlive it
  if (getppid() != parent) _exit(127);
  setpgid(0, 0);  // a group of its own, so that its children can be ended with it
  dup2(STDERR_FILENO, STDOUT_FILENO);
  const int none = open("/dev/null", O_RDONLY);
  if (none >= 0) dup2(none, STDIN_FILENO);
  if (options.directory.empty() || chdir(options.directory.c_str()) == 0) {
    for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
    execvp(arguments[0], arguments.data());
  }
  const int error = errno;
  [[maybe_unused]] const auto written = write(pipe_end, &error, sizeof error);
  _exit(127);
}

/// Ends whatever is left of the command: plumbline is the subreaper, so that every orphan among its
/// descendants becomes its own child, however it detached.
void end_descendants() {
  const std::string list = "/proc/self/task/" + std::to_string(getpid()) + "/children";
  for (int look = 0; look < 5000; ++look) {
    std::ifstream children(list);
    bool any = false;
    for (pid_t pid = 0; children >> pid; any = true) kill(pid, SIGKILL);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (!any) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Waits for the child; ends its whole group at the limit or on an interrupt.
ProcessEnd wait_for(pid_t child, double limit_s) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration<double>(limit_s);
  ProcessEnd end;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (interrupted != 0 || Clock::now() > deadline) {
      end.timed_out = interrupted == 0;
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(-child, SIGKILL);  // what it left running
  end_descendants();
  end.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return end;
}

}  // namespace

ProcessEnd run_process(const ProcessOptions& options) {
  std::vector<char*> arguments;
  for (const std::string& word : options.command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int ends[2];
  if (options.command.empty() || pipe2(ends, O_CLOEXEC) != 0)
    return {false, 127, "no command could be started"};
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  constexpr std::array kEnding = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action {};
  std::array<struct sigaction, kEnding.size()> before{};
  action.sa_handler = on_interrupt;
  for (std::size_t i = 0; i < kEnding.size(); ++i) sigaction(kEnding[i], &action, &before[i]);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) become(options, arguments, ends[1], parent);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return {false, 127, std::strerror(errno)};
  }
  setpgid(child, child);
  int error = 0;
  ssize_t got = -1;
  do got = read(ends[0], &error, sizeof error);
  while (got < 0 && errno == EINTR);
  const bool failed_to_start = got == static_cast<ssize_t>(sizeof error);
  close(ends[0]);
  ProcessEnd end = wait_for(child, options.limit_s);
  for (std::size_t i = 0; i < kEnding.size(); ++i) sigaction(kEnding[i], &before[i], nullptr);
  end.interrupted = interrupted != 0;
  if (failed_to_start) end.start_failure = options.command[0] + ": " + std::strerror(error);
  return end;
}

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
