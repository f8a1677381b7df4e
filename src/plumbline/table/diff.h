// SPDX-License-Identifier: Apache-2.0
// Two kernel tables joined by kernel identity.
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
  double time_ns_per_call = 0;     ///< both equal the sums where the calls are not known
  std::vector<std::string> names;  ///< the full names that share the identity
};

/// One identity in either table.
struct DiffRow {
  std::string identity;
  std::optional<DiffSide> before;  ///< none: only the second table has it
  std::optional<DiffSide> after;
  double delta_ns = 0;  ///< after − before, per call where both tables know their calls
  /// A side has several full names under this identity and the two sides do not have the same ones: which
  /// name became which cannot be told, only their sum is compared.
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

/// Joins by kernel_identity(). Nothing is left out: the rows' deltas sum to after_ns − before_ns.
TableDiff diff_tables(const KernelTable& before, const KernelTable& after);

}  // namespace plumbline
