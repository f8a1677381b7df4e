// SPDX-License-Identifier: Apache-2.0
// The processes that mpirun started, where the tool was built with MPI.
#pragma once

#include <atomic>
#include <string>

#include "plumbline/base/diagnostics.h"
#include "plumbline/search/ranks.h"

namespace plumbline::cli {

/// MPI from here to the end of the object's life: started by mpirun, or one process. Not built with MPI, and
/// one of several processes: `found` says so.
class RanksSession {
 public:
  /// `stop`: set by a signal. mpirun sends one to all when one of them has ended; an exchange then waits no
  /// longer.
  explicit RanksSession(const std::atomic<bool>& stop);
  ~RanksSession();
  RanksSession(const RanksSession&) = delete;
  RanksSession& operator=(const RanksSession&) = delete;

  const SearchRanks& ranks() const { return ranks_; }
  /// The first process prints and writes; the others work.
  bool first() const { return ranks_.rank == 0; }
  const Diagnostics& found() const { return found_; }
  /// Every process tells what it searches (or what is wrong); all must say the same.
  Diagnostics agree(const std::string& mine) const;
  /// From now on nothing is said to the others any more: one of them has ended.
  void leave() { left_ = true; }

 private:
  SearchRanks ranks_;
  Diagnostics found_;
  bool left_ = false;
};

}  // namespace plumbline::cli
