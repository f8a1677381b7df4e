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
  std::string name;      ///< as the profiler gives it, demangled; what a contract's regex searches
  std::string identity;  ///< last name component, see kernel_identity()
  std::int64_t launches = 0;
  double time_ns = 0;                ///< summed over the launches
  double pct = 0;                    ///< of total_ns, 0..100
  std::optional<double> tensor_pct;  ///< tensor-pipe activity, time-weighted, 0..100
  std::optional<double> min_ns;      ///< the shortest launch, where the source gives it
  std::optional<double> max_ns;      ///< the longest launch
  bool truncated = false;            ///< the profiler cut the name: such a row is never priced
};

/// Where each row that was read went. rows == kept + dropped + ignored, always.
struct RowAccount {
  std::int64_t rows = 0;
  std::int64_t kept = 0;     ///< counted in a kernel
  std::int64_t dropped = 0;  ///< ought to have counted and could not; each has a diagnostic
  std::int64_t ignored = 0;  ///< of another kind (a units row, another metric, a memcpy), by design
};

/// Device copies or fills, which are not kernels: counted apart and never in total_ns.
struct CopyTotals {
  std::int64_t count = 0;
  double time_ns = 0;
};

/// A kernel table, schema plumbline-table/1. `kernels` by falling time, then name.
struct KernelTable {
  std::string source;       ///< importer: "ncu-csv", "nsys-sqlite", "torch-trace", "recorder", …
  std::string file_sha256;  ///< of the profiler's file, as it lay there; "" where it is not known
  std::string device;
  std::string region;                 ///< "profiler", "nvtx:NAME", "annotation:NAME", "file"
  std::optional<std::int64_t> calls;  ///< window calls in the region, where known
  std::vector<KernelRow> kernels;
  double total_ns = 0;
  std::optional<double> time_ns_per_call;  ///< total_ns / calls
  std::string dominant;                    ///< identity of the kernel with the most time; "" when empty
  std::optional<double> busy_ns;           ///< union of launch intervals, where the source has timestamps
  std::optional<double> gaps_ns;           ///< region span minus busy
  std::optional<double> overlap_ns;        ///< total_ns minus busy: time in which launches ran side by side
  std::optional<std::int64_t> streams;     ///< distinct streams that launched, where known
  std::optional<CopyTotals> memcpy;        ///< where the source counts them
  std::optional<CopyTotals> memset;
  RowAccount account;
  std::vector<std::string> notes;  ///< what a reader must know, in words
  bool lossy = false;              ///< records are missing: a credit refuses on it
};

/// The last name component, demangled, without return type, template arguments, parameters and address
/// fragments: "void at::native::elementwise_kernel<4, F>(int, F)" is "elementwise_kernel". Profilers disagree
/// on namespaces and on the spelling of arguments, never on this component.
std::string kernel_identity(std::string_view name);

/// `name` demangled when it is an Itanium-mangled one ("_Z…"); else itself. A name whose demangled text could
/// be enormous (a hostile one) stays as it is.
std::string demangled(std::string_view name);

/// True when a profiler cut the name: it ends in "..." or "…", or a bracket that it opens never closes.
bool is_truncated_name(std::string_view name);

/// Sorts (time, then name), sums rows of one name, and fills identity, truncated, pct, total, dominant and
/// time_ns_per_call.
void finish_table(KernelTable& table);

/// The plumbline-table/1 document. Unknown values are null or absent, never 0.
Json to_json(const KernelTable& table);

/// Reads a plumbline-table/1 document; derived fields are computed again. Errors: json-syntax, json-too-deep,
/// table-schema, table-value (with the place inside the document, as a JSON pointer).
Parsed<KernelTable> parse_kernel_table(std::string_view text, const std::string& file);

}  // namespace plumbline
