// SPDX-License-Identifier: Apache-2.0
#include "plumbline/table/diff.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace plumbline {
namespace {

using Sides = std::map<std::string, DiffSide>;

Sides by_identity(const KernelTable& table, double calls) {
  Sides sides;
  for (const KernelRow& row : table.kernels) {
    DiffSide& side = sides[row.identity];
    side.launches += row.launches;
    side.time_ns += row.time_ns;
    side.names.push_back(row.name);
  }
  for (auto& [identity, side] : sides) {
    std::sort(side.names.begin(), side.names.end());
    side.launches_per_call = static_cast<double>(side.launches) / calls;
    side.time_ns_per_call = side.time_ns / calls;
  }
  return sides;
}

}  // namespace

TableDiff diff_tables(const KernelTable& before, const KernelTable& after) {
  TableDiff diff;
  diff.per_call = before.calls && after.calls;
  const double before_calls = diff.per_call ? static_cast<double>(*before.calls) : 1;
  const double after_calls = diff.per_call ? static_cast<double>(*after.calls) : 1;
  std::map<std::string, DiffRow> rows;
  for (auto& [identity, side] : by_identity(before, before_calls)) rows[identity].before = side;
  for (auto& [identity, side] : by_identity(after, after_calls)) rows[identity].after = side;
  for (auto& [identity, row] : rows) {
    row.identity = identity;
    row.delta_ns =
        (row.after ? row.after->time_ns_per_call : 0) - (row.before ? row.before->time_ns_per_call : 0);
    const std::size_t names_before = row.before ? row.before->names.size() : 0;
    const std::size_t names_after = row.after ? row.after->names.size() : 0;
    row.ambiguous = row.before && row.after && (names_before > 1 || names_after > 1) &&
                    row.before->names != row.after->names;
    diff.rows.push_back(std::move(row));
  }
  std::sort(diff.rows.begin(), diff.rows.end(), [](const DiffRow& a, const DiffRow& b) {
    const double x = std::abs(a.delta_ns);
    const double y = std::abs(b.delta_ns);
    return x != y ? x > y : a.identity < b.identity;
  });
  diff.before_ns = before.total_ns / before_calls;
  diff.after_ns = after.total_ns / after_calls;
  if (before.source != after.source && (before.source == "ncu-csv" || after.source == "ncu-csv")) {
    diff.caution =
        "one table is Nsight Compute's (each kernel alone, by default with flushed caches and locked clocks) "
        "and the "
        "other is not: compare launches, not times";
  }
  return diff;
}

}  // namespace plumbline
