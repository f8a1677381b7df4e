// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "plumbline/timing.h"

namespace {

struct Process {
  pid_t parent = 0;
  char state = '?';
};

/// Every process that /proc shows.
std::map<pid_t, Process> all_processes() {
  std::map<pid_t, Process> found;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return found;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    const std::string path = std::string("/proc/") + entry->d_name + "/stat";
    FILE* file = std::fopen(path.c_str(), "re");
    if (file == nullptr) continue;
    char text[512];
    const std::size_t size = std::fread(text, 1, sizeof text - 1, file);
    std::fclose(file);
    text[size] = '\0';
    // "pid (any name) state parent ...": the name may hold anything, its last bracket ends it.
    const char* end = std::strrchr(text, ')');
    Process process;
    int parent = 0;
    if (end == nullptr || std::sscanf(end + 1, " %c %d", &process.state, &parent) != 2) continue;
    process.parent = parent;
    found[std::atoi(entry->d_name)] = process;
  }
  closedir(folder);
  return found;
}

/// Those that descend from `root`, dead ones that nobody has waited for left out.
std::set<pid_t> descendants(pid_t root, const std::set<pid_t>& spared) {
  const auto all = all_processes();
  std::multimap<pid_t, pid_t> children;
  for (const auto& [pid, process] : all) children.emplace(process.parent, pid);
  std::set<pid_t> found;
  std::vector<pid_t> open = {root};
  while (!open.empty()) {
    const pid_t parent = open.back();
    open.pop_back();
    const auto [first, last] = children.equal_range(parent);
    for (auto child = first; child != last; ++child) {
      if (spared.contains(child->second) || !found.insert(child->second).second) continue;
      open.push_back(child->second);
    }
  }
  std::erase_if(found, [&](pid_t pid) { return all.at(pid).state == 'Z' || all.at(pid).state == 'X'; });
  return found;
}

}  // namespace

extern "C" {

int pl_signal_descendants(int32_t root, int32_t number, const int32_t* spared, int32_t count,
                          int32_t* found) {
  const std::set<pid_t> left_alone(spared, spared + count);
  std::set<pid_t> seen;
  // A process that is not stopped yet may start another: look until nothing new is there. Killing needs time.
  for (int look = 0; look < 500; ++look) {
    const std::set<pid_t> now = descendants(root, left_alone);
    bool fresh = false;
    for (const pid_t pid : now) {
      const bool is_new = seen.insert(pid).second;
      fresh = fresh || is_new;
      if (is_new || number == SIGKILL) kill(pid, number);
    }
    if (number == SIGKILL ? now.empty() : !fresh || number == SIGCONT || number == 0) break;
    if (number == SIGKILL && look > 0) usleep(2000);
  }
  if (found != nullptr) *found = static_cast<int32_t>(seen.size());
  return PL_OK;
}

int pl_subreaper(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 ? PL_OK : PL_USAGE; }

}  // extern "C"
