// SPDX-License-Identifier: Apache-2.0
// Chrome traces of the PyTorch profiler (Kineto), plain or gzip. trace_reader streams the JSON's events,
// trace_launches sums the kernels, trace_ranges places them in an annotation.
#include "plumbline/profile/importers.h"
#include "plumbline/profile/source.h"
#include "plumbline/profile/trace_launches.h"
#include "plumbline/profile/trace_reader.h"

namespace plumbline::profile {
namespace {

bool detect(std::string_view head, const std::string& path) {
  if (kXlaTrace.detect(head, path)) return false;
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (head[first] != '{' && head[first] != '[')) return false;
  if (head.find("\"plumbline-table/") != std::string_view::npos) return false;
  const auto has = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
  if (has("\"traceEvents\"") || (has("\"ph\"") && has("\"ts\""))) return true;
  return head[first] == '{' && has("\"deviceProperties\"") && has("\"schemaVersion\"");
}

Parsed<KernelTable> parse(const std::string& path, const ImportOptions& options) {
  auto source = ByteSource::open(path, options.progress);
  if (!source.ok()) return {std::nullopt, std::move(source.diagnostics)};
  TraceLaunches launches(path, options);
  const TraceSink sink{
      [&](const TraceEvent& event, std::uint64_t offset) { launches.take(event, offset); },
      [&](std::int64_t id, std::string_view name) { launches.device_name(id, name); },
      [&](std::string_view text) { launches.complaint(text); },
  };
  if (auto problem = read_trace(**source.value, path, sink)) return failed<KernelTable>(std::move(*problem));
  return launches.finish();
}

}  // namespace

const Importer kTorchTrace = {"torch-trace", "PyTorch profiler trace (Chrome JSON, plain or .gz)", detect,
                              parse};

}  // namespace plumbline::profile
