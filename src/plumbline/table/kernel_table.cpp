// SPDX-License-Identifier: Apache-2.0
#include "plumbline/table/kernel_table.h"

#include <algorithm>
#include <unordered_map>

namespace plumbline {
namespace {

void widen(std::optional<double>& low, std::optional<double>& high, const KernelRow& other) {
  // A bound that one of two rows lacks is not known for their sum.
  low = low && other.min_ns ? std::optional(std::min(*low, *other.min_ns)) : std::nullopt;
  high = high && other.max_ns ? std::optional(std::max(*high, *other.max_ns)) : std::nullopt;
}

/// `other` into `row`, both of one name.
void merge(KernelRow& row, const KernelRow& other) {
  const double time = row.time_ns + other.time_ns;
  if (row.tensor_pct && other.tensor_pct && time > 0) {
    row.tensor_pct = (*row.tensor_pct * row.time_ns + *other.tensor_pct * other.time_ns) / time;
  } else {
    row.tensor_pct.reset();
  }
  widen(row.min_ns, row.max_ns, other);
  row.launches += other.launches;
  row.time_ns = time;
}

}  // namespace

void finish_table(KernelTable& table) {
  std::vector<KernelRow> rows;
  std::unordered_map<std::string, std::size_t> places;
  for (KernelRow& row : table.kernels) {
    const auto [it, fresh] = places.try_emplace(row.name, rows.size());
    if (fresh) {
      rows.push_back(std::move(row));
    } else {
      merge(rows[it->second], row);
    }
  }
  std::sort(rows.begin(), rows.end(), [](const KernelRow& a, const KernelRow& b) {
    return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.name < b.name;
  });
  table.kernels = std::move(rows);
  table.total_ns = 0;
  for (const KernelRow& row : table.kernels) table.total_ns += row.time_ns;
  for (KernelRow& row : table.kernels) {
    row.pct = table.total_ns > 0 ? 100 * row.time_ns / table.total_ns : 0;
    row.identity = kernel_identity(row.name);
    row.truncated = row.truncated || is_truncated_name(row.name);
  }
  table.dominant = table.kernels.empty() ? std::string() : table.kernels.front().identity;
  table.time_ns_per_call.reset();
  if (table.calls && *table.calls > 0)
    table.time_ns_per_call = table.total_ns / static_cast<double>(*table.calls);
}

}  // namespace plumbline
