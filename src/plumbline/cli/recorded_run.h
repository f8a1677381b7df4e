// SPDX-License-Identifier: Apache-2.0
// A recorded run of a card: which files it has, and their content.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/cli/card.h"

namespace plumbline::cli {

/// The kernel tables of one workload; "" where a side has none.
struct TableFiles {
  std::string student;
  std::string ref;
};

/// What the command line names; an empty path is not named.
struct RunFiles {
  std::string run;  ///< the run's name, for display; "" when every file was named one by one
  std::string eval;
  std::string student_table;
  std::string ref_table;
  std::map<std::string, TableFiles> workload_tables;  ///< by workload: runs/NAME/tables/WORKLOAD/
  Diagnostics notes;                                  ///< which run was taken of several
};

/// Completes `given` from a folder under runs/: the named run's, else the last by name (said when there are
/// several). With an eval and no run named, no folder is looked into: tables of another run would price other
/// readings. A side's table is student.table.json or ref.table.json, else the one file whose name begins
/// "student." or "ref."; tables/WORKLOAD/ may hold those of further workloads. A run without one simply has
/// no table. Errors: run-missing, run-tables.
Parsed<RunFiles> complete_run(const Card& card, const RunFiles& given);

}  // namespace plumbline::cli
