// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/trace_event.h"

#include <array>
#include <limits>

#include "plumbline/base/numbers.h"

namespace plumbline::profile {

std::optional<std::int64_t> microseconds_to_ns(std::string_view text) {
  std::size_t at = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (negative || (!text.empty() && text[0] == '+')) ++at;
  std::int64_t value = 0;
  int exponent = 3;  // of ten, still to be applied to `value`
  bool point = false;
  bool any = false;
  bool full = false;  // no more digits fit: they only move the exponent
  int rest = 0;       // the first digit that did not fit
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      any = true;
      if (!full && value <= (std::numeric_limits<std::int64_t>::max() - 9) / 10) {
        value = value * 10 + (c - '0');
        exponent -= point ? 1 : 0;
      } else {
        if (!full) rest = c - '0';
        full = true;
        exponent += point ? 0 : 1;
      }
    } else {
      break;
    }
  }
  if (!any) return std::nullopt;
  if (at < text.size()) {
    if (text[at] != 'e' && text[at] != 'E') return std::nullopt;
    std::string_view tail = text.substr(at + 1);
    if (tail.starts_with('+')) tail.remove_prefix(1);
    const auto power = parse_int(tail);
    if (!power || *power > 1000 || *power < -1000) return std::nullopt;
    exponent += static_cast<int>(*power);
  }
  if (exponent == 0 && rest >= 5) ++value;
  for (; exponent > 0 && value != 0; --exponent) {
    if (__builtin_mul_overflow(value, std::int64_t{10}, &value)) return std::nullopt;
  }
  for (; exponent < 0 && value != 0; ++exponent) value = exponent == -1 ? (value + 5) / 10 : value / 10;
  return negative ? -value : value;
}

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
  });
  for (const Known& known : kKnown) {
    if (known.name == category) return known.kind;
  }
  return TraceKind::other;
}

void TraceEvent::clear() {
  kind = TraceKind::other;
  complete = false;
  name.clear();
  ts.clear();
  dur.clear();
  pid = tid = device = stream = correlation = std::nullopt;
}

}  // namespace plumbline::profile
