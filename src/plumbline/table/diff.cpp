// SPDX-License-Identifier: Apache-2.0
#include "plumbline/table/diff.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

namespace plumbline {
namespace {

/// How many kernels of one identity a table has, and one of them.
struct Family {
  std::size_t count = 0;
  const KernelRow* first = nullptr;
};

std::map<std::string, Family> families(const KernelTable& table) {
  std::map<std::string, Family> out;
  for (const KernelRow& row : table.kernels) {
    Family& family = out[row.identity];
    if (family.count++ == 0) family.first = &row;
  }
  return out;
}

DiffSide side_of(const KernelRow& row, double calls) {
  return {row.launches, row.time_ns, static_cast<double>(row.launches) / calls, row.time_ns / calls,
          row.name};
}

/// Pairs the rows of two tables.
class Joiner {
 public:
  Joiner(const KernelTable& before, const KernelTable& after)
      : before_(before),
        after_(after),
        families_before_(families(before)),
        families_after_(families(after)) {}

  std::vector<DiffRow> join(double before_calls, double after_calls) const {
    std::map<std::string_view, const KernelRow*> by_name;
    for (const KernelRow& row : after_.kernels) by_name.emplace(row.name, &row);
    std::vector<DiffRow> rows;
    std::set<const KernelRow*> taken;
    for (const KernelRow& row : before_.kernels) {
      const auto same = by_name.find(row.name);
      const KernelRow* other = same != by_name.end() ? same->second : only_relative(row);
      DiffRow out;
      out.identity = row.identity;
      out.before = side_of(row, before_calls);
      if (other) out.after = side_of(*other, after_calls);
      if (other) taken.insert(other);
      out.ambiguous = row.truncated || (!other && families_after_.count(row.identity) != 0);
      rows.push_back(std::move(out));
    }
    for (const KernelRow& row : after_.kernels) {
      if (taken.count(&row) != 0) continue;
      DiffRow out;
      out.identity = row.identity;
      out.after = side_of(row, after_calls);
      out.ambiguous = row.truncated || families_before_.count(row.identity) != 0;
      rows.push_back(std::move(out));
    }
    return rows;
  }

 private:
  /// The one kernel of the other table with this identity, where each table has one.
  const KernelRow* only_relative(const KernelRow& row) const {
    const auto own = families_before_.find(row.identity);
    const auto other = families_after_.find(row.identity);
    if (own->second.count != 1 || other == families_after_.end() || other->second.count != 1) return nullptr;
    return other->second.first;
  }

  const KernelTable& before_;
  const KernelTable& after_;
  std::map<std::string, Family> families_before_;
  std::map<std::string, Family> families_after_;
};

const std::string& name_of(const DiffRow& row) { return row.before ? row.before->name : row.after->name; }

}  // namespace

TableDiff diff_tables(const KernelTable& before, const KernelTable& after) {
  TableDiff diff;
  diff.per_call = before.calls && after.calls;
  const double before_calls = diff.per_call ? static_cast<double>(*before.calls) : 1;
  const double after_calls = diff.per_call ? static_cast<double>(*after.calls) : 1;
  diff.rows = Joiner(before, after).join(before_calls, after_calls);
  for (DiffRow& row : diff.rows) {
    row.delta_ns =
        (row.after ? row.after->time_ns_per_call : 0) - (row.before ? row.before->time_ns_per_call : 0);
  }
  std::sort(diff.rows.begin(), diff.rows.end(), [](const DiffRow& a, const DiffRow& b) {
    const double x = std::abs(a.delta_ns);
    const double y = std::abs(b.delta_ns);
    if (x != y) return x > y;
    return a.identity != b.identity ? a.identity < b.identity : name_of(a) < name_of(b);
  });
  diff.before_ns = before.total_ns / before_calls;
  diff.after_ns = after.total_ns / after_calls;
  const auto alone = [](const KernelTable& table) {
    return table.source == "ncu-csv" || table.source == "ncu-text";
  };
  if (alone(before) != alone(after)) {
    diff.caution =
        "one table is Nsight Compute's (each kernel alone, by default with flushed caches and locked clocks) "
        "and the "
        "other is not: compare launches, not times";
  }
  return diff;
}

}  // namespace plumbline
