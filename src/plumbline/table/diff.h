// SPDX-License-Identifier: Apache-2.0
// Two kernel tables joined by name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plumbline/table/kernel_table.h"

namespace plumbline {

/// One side of a joined row.
struct DiffSide {
  std::int64_t launches = 0;
  double time_ns = 0;  ///< summed over the names
  double launches_per_call = 0;
  double time_ns_per_call = 0;  ///< both equal the sums where the calls are not known
  std::string name;             ///< the full name
};

/// One kernel in either table, or in both.
struct DiffRow {
  std::string identity;
  std::optional<DiffSide> before;  ///< none: only the second table has it
  std::optional<DiffSide> after;
  double delta_ns = 0;  ///< after − before, per call where both tables know their calls
  /// Both tables have the identity and this kernel stands by itself: which of several names became which
  /// cannot be told. Or the name is cut, so that it may stand for several kernels.
  bool ambiguous = false;
};

/// The difference of two tables.
struct TableDiff {
  std::vector<DiffRow> rows;  ///< by falling |delta|, then identity
  bool per_call = false;      ///< both tables know their calls: times are per call
  double before_ns = 0;       ///< total, per call where per_call
  double after_ns = 0;
  std::string caution;  ///< why the times may not compare, in words; "" where they do
};

/// Joins by the whole name; then by kernel_identity() where each table has exactly one kernel of it. Other
/// rows stand apart. Nothing is left out: the rows' deltas sum to after_ns − before_ns.
TableDiff diff_tables(const KernelTable& before, const KernelTable& after);

}  // namespace plumbline
