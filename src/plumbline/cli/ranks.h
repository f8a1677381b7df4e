// SPDX-License-Identifier: Apache-2.0
// The processes that mpirun started, where the tool was built with MPI.
#pragma once

#include "plumbline/base/diagnostics.h"
#include "plumbline/search/ranks.h"

namespace plumbline::cli {

/// MPI from here to the end of the object's life: started by mpirun, or one process. Not built with MPI, and
/// one of several processes: `found` says so.
class RanksSession {
 public:
  RanksSession();
  ~RanksSession();
  RanksSession(const RanksSession&) = delete;
  RanksSession& operator=(const RanksSession&) = delete;

  const SearchRanks& ranks() const { return ranks_; }
  /// The first process prints and writes; the others work.
  bool first() const { return ranks_.rank == 0; }
  const Diagnostics& found() const { return found_; }

 private:
  SearchRanks ranks_;
  Diagnostics found_;
};

}  // namespace plumbline::cli
