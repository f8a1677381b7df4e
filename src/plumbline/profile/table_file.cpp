// SPDX-License-Identifier: Apache-2.0
// Plumbline's own tables: what `import -o` writes, and what the recorder writes.
#include <fmt/format.h>

#include "plumbline/base/files.h"
#include "plumbline/profile/importers.h"

namespace plumbline::profile {
namespace {

bool detect(std::string_view head, const std::string&) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '{') return false;
  if (head.find("\"plumbline-table/") != std::string_view::npos) return true;
  // Keys are sorted, so that "schema" may stand behind many kernels.
  return head.find("\"account\"") != std::string_view::npos &&
         head.find("\"kernels\"") != std::string_view::npos &&
         head.find("\"identity\"") != std::string_view::npos;
}

Parsed<KernelTable> parse(const std::string& path, const ImportOptions& options) {
  const auto text = read_text_file(path);
  if (!text.ok()) return {std::nullopt, text.diagnostics};
  Parsed<KernelTable> table = parse_kernel_table(*text.value, path);
  if (!table.ok()) return table;
  if (!options.range.empty() && table.value->region != "nvtx:" + options.range &&
      table.value->region != "annotation:" + options.range) {
    return failed<KernelTable>(
        diagnose("import-no-ranges",
                 "a table holds sums of one region: import the profiler's file with --range", {path}));
  }
  if (table.value->kernels.empty())
    return failed<KernelTable>(diagnose("import-no-kernels", "the table is empty", {path}));
  if (!(table.value->total_ns > 0)) {
    return failed<KernelTable>(diagnose("import-no-time", "every kernel launch took 0 ns", {path}));
  }
  if (options.calls) {
    for (const KernelRow& row : table.value->kernels) {
      if (row.launches % *options.calls == 0) continue;
      return failed<KernelTable>(
          diagnose("import-not-the-window",
                   fmt::format("this is not the window: {} was launched {} times, not a multiple of {} calls",
                               row.identity, row.launches, *options.calls),
                   {path}));
    }
    table.value->calls = options.calls;
    finish_table(*table.value);
  }
  return table;
}

}  // namespace

const Importer kTableFile = {
    "table", "a kernel table of plumbline itself or of its recorder (plumbline-table/1)", detect, parse};

}  // namespace plumbline::profile
