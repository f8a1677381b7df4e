// SPDX-License-Identifier: Apache-2.0
// What this process has started and what came of it: everything below it in /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace plumbline::cli {

/// One process below this one.
struct TreeProcess {
  pid_t process = 0;
  pid_t group = 0;
};

/// Every living descendant. Orphans count where this process is the subreaper.
std::vector<TreeProcess> descendants();

/// What descendants hold and have written.
struct TreeUse {
  std::int64_t processes = 0;
  std::int64_t memory_bytes =
      0;  ///< resident and swapped, shared pages counted by their share where it matters
  std::int64_t written_bytes =
      0;  ///< to disks, by them and by those that have ended, since this process began
};

/// Looks at them. Pages that several processes share after a fork are counted once for each, unless the sum
/// is over `exact_above`: then each page is counted by its share, which takes longer.
TreeUse tree_use(std::int64_t exact_above);

/// Ends every descendant, group by group, until none is left or half a minute is over. Needs to be the
/// subreaper.
void end_descendants();

/// How many processes the kernel has killed for want of memory since the machine started; 0 where it does not
/// say.
std::int64_t kernel_memory_kills();

/// Processes and threads on the machine now; 0 where it is not known. One small read.
std::int64_t tasks_of_machine();

/// The memory that can be had without swapping, in bytes; 0 where it is not known.
std::int64_t available_memory();

}  // namespace plumbline::cli
