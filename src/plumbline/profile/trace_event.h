// SPDX-License-Identifier: Apache-2.0
// One event of a Chrome trace, as far as importing needs it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plumbline::profile {

/// What an event is, by its category.
enum class TraceKind {
  other,
  kernel,
  memcpy,
  memset,
  runtime,
  annotation,
  gpu_annotation,
  counters,
  old_operator,  ///< "Operator": in 2021 also the steps and annotations
};

/// The kind of a category ("cat"), in the spellings of every PyTorch and of ROCm's.
TraceKind trace_kind(std::string_view category);

/// The fields of one event that count. Times stay text until an event is known to be needed.
struct TraceEvent {
  TraceKind kind = TraceKind::other;
  bool complete = false;  ///< ph "X": it has a start and a duration
  bool metadata = false;  ///< ph "M": it names a process or a line
  std::string name;
  std::string label;  ///< args.name: what a metadata event says
  std::string category;
  std::string process;  ///< "pid" where it is a text and no number
  std::string ts;       ///< microseconds, as written
  std::string dur;      ///< microseconds, as written
  std::optional<std::int64_t> pid, tid, device, stream, correlation;

  /// For the next event; keeps the strings' memory.
  void clear();
};

/// Microseconds as text to nanoseconds: scaled_integer() of three digits.
std::optional<std::int64_t> microseconds_to_ns(std::string_view text);

}  // namespace plumbline::profile
