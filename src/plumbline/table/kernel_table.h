// SPDX-License-Identifier: Apache-2.0
// KernelTable: what every launch of a profiled region cost. The one value between everything that
// measures and everything that judges.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/base/json.h"

namespace plumbline {

/// One kernel: every launch of one full name, over the whole region.
struct KernelRow {
  std::string name;      ///< as the profiler gives it; what a contract's regex searches
  std::string identity;  ///< last name component, see kernel_identity()
  std::int64_t launches = 0;
  double time_ns = 0;                ///< summed over the launches
  double pct = 0;                    ///< of total_ns, 0..100
  std::optional<double> tensor_pct;  ///< tensor-pipe activity, time-weighted, 0..100
};

/// Where each row that was read went. rows == kept + dropped + ignored, always.
struct RowAccount {
  std::int64_t rows = 0;
  std::int64_t kept = 0;     ///< counted in a kernel
  std::int64_t dropped = 0;  ///< ought to have counted and could not; each has a diagnostic
  std::int64_t ignored = 0;  ///< of another kind (a units row, another metric, a memcpy), by design
};

/// A kernel table, schema plumbline-table/1. `kernels` by falling time, then name.
struct KernelTable {
  std::string source;  ///< importer: "ncu-csv", "nsys-sqlite", "torch-trace", "recorder", …
  std::string device;
  std::string region;                 ///< "profiler", "nvtx:NAME", "file"
  std::optional<std::int64_t> calls;  ///< window calls in the region, where known
  std::vector<KernelRow> kernels;
  double total_ns = 0;
  std::optional<double> time_ns_per_call;  ///< total_ns / calls
  std::string dominant;                    ///< identity of the kernel with the most time; "" when empty
  std::optional<double> busy_ns;           ///< union of launch intervals, where the source has timestamps
  std::optional<double> gaps_ns;           ///< region span minus busy
  RowAccount account;
  std::vector<std::string> notes;  ///< what a reader must know, in words
  bool lossy = false;              ///< the profiler says it lost records: a credit refuses on it
};

/// The last name component, demangled, without return type, template arguments, parameters and address
/// fragments: "void at::native::elementwise_kernel<4, F>(int, F)" is "elementwise_kernel".
std::string kernel_identity(std::string_view name);

/// Sorts (time, then name), sums rows of one name, and fills pct, total, dominant and time_ns_per_call.
void finish_table(KernelTable& table);

/// The plumbline-table/1 document.
Json to_json(const KernelTable& table);

/// Reads a plumbline-table/1 document. Errors: json-syntax, table-schema, table-value.
Parsed<KernelTable> parse_kernel_table(std::string_view text, const std::string& file);

}  // namespace plumbline
