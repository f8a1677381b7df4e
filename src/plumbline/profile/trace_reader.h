// SPDX-License-Identifier: Apache-2.0
// The JSON of a Chrome trace to its events, streamed: traces of gigabytes are usual.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "plumbline/base/diagnostics.h"
#include "plumbline/profile/source.h"
#include "plumbline/profile/trace_event.h"

namespace plumbline::profile {

/// Who gets what a trace holds; device and complaint may be empty.
struct TraceSink {
  std::function<void(const TraceEvent& event, std::uint64_t offset)> event;
  std::function<void(std::int64_t id, std::string_view name)> device;
  std::function<void(std::string_view text)> complaint;
};

/// Reads the whole document and gives `sink` its events, its devices' names and the profiler's own
/// complaints, in the order of the file. `path` is for the diagnostic alone, and for finding the line of a
/// broken byte. Errors: the source's own, trace-broken, json-too-deep.
std::optional<Diagnostic> read_trace(ByteSource& source, const std::string& path, const TraceSink& sink);

}  // namespace plumbline::profile
