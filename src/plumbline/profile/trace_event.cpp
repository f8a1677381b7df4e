// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/trace_event.h"

#include <array>

#include "plumbline/profile/cells.h"

namespace plumbline::profile {

std::optional<std::int64_t> microseconds_to_ns(std::string_view text) { return scaled_integer(text, 3); }

TraceKind trace_kind(std::string_view category) {
  struct Known {
    std::string_view name;
    TraceKind kind;
  };
  static constexpr auto kKnown = std::to_array<Known>({
      {"kernel", TraceKind::kernel},
      {"Kernel", TraceKind::kernel},
      {"gpu_memcpy", TraceKind::memcpy},
      {"Memcpy", TraceKind::memcpy},
      {"gpu_memset", TraceKind::memset},
      {"Memset", TraceKind::memset},
      {"cuda_runtime", TraceKind::runtime},
      {"Runtime", TraceKind::runtime},
      {"cuda_driver", TraceKind::runtime},
      {"hip_runtime", TraceKind::runtime},
      {"user_annotation", TraceKind::annotation},
      {"gpu_user_annotation", TraceKind::gpu_annotation},
      {"cuda_profiler_range", TraceKind::counters},
      {"Operator", TraceKind::old_operator},
  });
  for (const Known& known : kKnown) {
    if (known.name == category) return known.kind;
  }
  return TraceKind::other;
}

void TraceEvent::clear() {
  kind = TraceKind::other;
  complete = false;
  metadata = false;
  name.clear();
  label.clear();
  category.clear();
  process.clear();
  ts.clear();
  dur.clear();
  pid = tid = device = stream = correlation = std::nullopt;
}

}  // namespace plumbline::profile
