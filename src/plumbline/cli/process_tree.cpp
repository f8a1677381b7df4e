// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <thread>

namespace plumbline::cli {
namespace {

/// A file of /proc, or "" when the process has gone.
std::string small_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string text(8192, '\0');
  const ssize_t size = read(file, text.data(), text.size());
  close(file);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

/// The number behind "name" in lines like "RssAnon:   123 kB"; 0 without it.
std::int64_t number_after(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    if (at == 0 || text[at - 1] == '\n')
      return std::strtoll(std::string(text.substr(at + name.size(), 32)).c_str(), nullptr, 10);
  }
  return 0;
}

std::string of_process(pid_t process, const char* file) {
  return small_file("/proc/" + std::to_string(process) + "/" + file);
}

struct Seen {
  pid_t process, parent, group;
};

/// Every process that is not a zombie.
std::vector<Seen> all_processes() {
  std::vector<Seen> out;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return out;
  while (const dirent* entry = readdir(folder)) {
    char* end = nullptr;
    const long number = std::strtol(entry->d_name, &end, 10);
    if (number <= 0 || *end != '\0') continue;
    const auto process = static_cast<pid_t>(number);
    const std::string stat = of_process(process, "stat");
    const std::size_t name_end = stat.rfind(')');  // a name may hold anything
    if (name_end == std::string::npos) continue;
    char state = 'Z';
    int parent = 0, group = 0;
    if (std::sscanf(stat.c_str() + name_end + 1, " %c %d %d", &state, &parent, &group) == 3 && state != 'Z')
      out.push_back({process, parent, group});
  }
  closedir(folder);
  return out;
}

/// Those of `all` that descend from this process.
std::vector<TreeProcess> below_this(const std::vector<Seen>& all) {
  std::multimap<pid_t, const Seen*> by_parent;
  for (const Seen& one : all) by_parent.emplace(one.parent, &one);
  std::vector<TreeProcess> out;
  std::vector<pid_t> open{getpid()};
  while (!open.empty()) {
    const pid_t parent = open.back();
    open.pop_back();
    const auto [from, to] = by_parent.equal_range(parent);
    for (auto it = from; it != to; ++it) {
      if (it->second->process == getpid()) continue;
      out.push_back({it->second->process, it->second->group});
      open.push_back(it->second->process);
    }
    by_parent.erase(from, to);  // /proc is not a snapshot: a number that came again makes no circle
  }
  return out;
}

bool has_children() {
  std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
  pid_t any = 0;
  return static_cast<bool>(children >> any);
}

}  // namespace

std::vector<TreeProcess> descendants() { return below_this(all_processes()); }
TreeUse tree_use(std::int64_t exact_above) {
  TreeUse use;
  use.written_bytes = number_after(small_file("/proc/self/io"), "write_bytes:");
  std::int64_t shared = 0;
  const std::vector<TreeProcess> tree = descendants();
  for (const TreeProcess& one : tree) {
    const std::string status = of_process(one.process, "status");
    use.memory_bytes += 1024 * (number_after(status, "RssAnon:") + number_after(status, "VmSwap:"));
    shared = std::max(shared, 1024 * number_after(status, "RssShmem:"));
    use.written_bytes += number_after(of_process(one.process, "io"), "write_bytes:");
  }
  use.processes = static_cast<std::int64_t>(tree.size());
  use.memory_bytes += shared;
  if (use.memory_bytes <= exact_above) return use;
  use.memory_bytes = shared;
  for (const TreeProcess& one : tree) {
    const std::string rollup = of_process(one.process, "smaps_rollup");
    use.memory_bytes += 1024 * (number_after(rollup, "Pss_Anon:") + number_after(rollup, "SwapPss:"));
  }
  return use;
}

void end_descendants() {
  using Steady = std::chrono::steady_clock;
  const auto deadline = Steady::now() + std::chrono::seconds(30);
  while (has_children() && Steady::now() < deadline) {
    const std::vector<Seen> all = all_processes();
    const std::vector<TreeProcess> tree = below_this(all);
    // A whole group at once, where all of it is ours: who forks without end cannot be quicker than that.
    std::map<pid_t, std::ptrdiff_t> groups;
    for (const TreeProcess& one : tree) ++groups[one.group];
    for (const auto& [group, ours] : groups) {
      const auto members =
          std::count_if(all.begin(), all.end(), [g = group](const Seen& s) { return s.group == g; });
      if (group > 1 && members == ours) kill(-group, SIGKILL);
    }
    for (const TreeProcess& one : tree) kill(one.process, SIGKILL);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (has_children()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::int64_t kernel_memory_kills() { return number_after(small_file("/proc/vmstat"), "oom_kill "); }

std::int64_t tasks_of_machine() {
  long long running = 0, all = 0;
  const std::string text = small_file("/proc/loadavg");
  return std::sscanf(text.c_str(), "%*s %*s %*s %lld/%lld", &running, &all) == 2 ? all : 0;
}

std::int64_t available_memory() { return 1024 * number_after(small_file("/proc/meminfo"), "MemAvailable:"); }

}  // namespace plumbline::cli
