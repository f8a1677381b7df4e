// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

#include "plumbline/base/text.h"
#include "plumbline/table/kernel_table.h"

namespace plumbline::profile {
namespace {

/// Kernels that fill buffers or draw random numbers: what a bench does before its first call.
bool looks_like_setup(const std::string& name) {
  static constexpr std::array<std::string_view, 8> kSigns = {
      "distribution_elementwise", "FillFunctor",   "curand",        "random_kernel",
      "uniform_kernel",           "normal_kernel", "generate_seed", "cupy_fill"};
  return std::any_of(kSigns.begin(), kSigns.end(),
                     [&](std::string_view sign) { return name.find(sign) != std::string::npos; });
}

std::string short_name(const std::string& name) { return cut_middle(kernel_identity(name), 48); }

/// "gemm ×128, fill ×1", the first few.
std::string list_counts(const RegionShape& shape, const std::vector<std::size_t>& which) {
  std::string out;
  for (std::size_t i = 0; i < which.size() && i < 4; ++i) {
    out += fmt::format("{}{} ×{}", i == 0 ? "" : ", ", short_name(shape.names[which[i]]),
                       shape.launches[which[i]]);
  }
  if (which.size() > 4) out += fmt::format(" and {} more", which.size() - 4);
  return out;
}

std::int64_t common_divisor(const std::vector<std::int64_t>& counts) {
  std::int64_t g = 0;
  for (const std::int64_t count : counts) g = std::gcd(g, count);
  return g;
}

/// The shortest period of a sequence, from its prefix function (Knuth, Morris, Pratt).
std::size_t period_of(std::span<const std::uint32_t> sequence) {
  std::vector<std::uint32_t> border(sequence.size(), 0);
  for (std::size_t i = 1; i < sequence.size(); ++i) {
    std::size_t k = border[i - 1];
    while (k > 0 && sequence[i] != sequence[k]) k = border[k - 1];
    border[i] = static_cast<std::uint32_t>(sequence[i] == sequence[k] ? k + 1 : 0);
  }
  return sequence.size() - border.back();
}

/// How often the sequence is one stretch repeated.
std::int64_t repeats(std::span<const std::uint32_t> sequence) {
  if (sequence.empty()) return 0;
  const std::size_t period = period_of(sequence);
  return sequence.size() % period == 0 ? static_cast<std::int64_t>(sequence.size() / period) : 1;
}

/// The number of launches at the front, all of kernels that the rest does not launch, behind which the rest
/// is equal calls: two where the front fills or draws random numbers, else three of several launches each
/// (one kernel and three of another may well be one call). 0: none.
std::size_t setup_prefix(const RegionShape& shape) {
  const std::span<const std::uint32_t> all(shape.sequence);
  std::vector<std::int64_t> left = shape.launches;
  const std::size_t limit = std::min<std::size_t>(all.size() / 2, 64);
  for (std::size_t skip = 1; skip <= limit; ++skip) {
    --left[all[skip - 1]];
    const bool alone = std::all_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(skip),
                                   [&](std::uint32_t name) { return left[name] == 0; });
    if (!alone) continue;
    const bool setup = std::all_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(skip),
                                   [&](std::uint32_t name) { return looks_like_setup(shape.names[name]); });
    const std::int64_t calls = repeats(all.subspan(skip));
    const auto length = static_cast<std::int64_t>(all.size() - skip);
    if (calls >= (setup ? 2 : 3) && (setup || length / calls >= 2)) return skip;
  }
  return 0;
}

/// Whether one of `which` looks like an autotuner's trial: several configurations of its kernel ran,
/// unequally often. Many launches by themselves are not evidence.
bool looks_like_trials(const RegionShape& shape, const std::vector<std::size_t>& which) {
  std::map<std::string, std::set<std::int64_t>> counts;  // of an identity, over its configurations
  for (std::size_t i = 0; i < shape.names.size(); ++i)
    counts[kernel_identity(shape.names[i])].insert(shape.launches[i]);
  return std::any_of(which.begin(), which.end(),
                     [&](std::size_t i) { return counts.at(kernel_identity(shape.names[i])).size() > 1; });
}

void describe_mismatch(const RegionShape& shape, std::int64_t calls, WindowCalls& found) {
  std::vector<std::size_t> wrong;
  std::vector<std::size_t> setup;
  for (std::size_t i = 0; i < shape.launches.size(); ++i) {
    if (shape.launches[i] % calls == 0) continue;
    (looks_like_setup(shape.names[i]) ? setup : wrong).push_back(i);
  }
  if (wrong.empty() && setup.empty()) return;
  found.refusal = fmt::format("this is not the window: not a multiple of {} calls: ", calls);
  if (!wrong.empty()) found.refusal += list_counts(shape, wrong);
  if (!setup.empty()) {
    found.refusal += fmt::format("{}{} (set-up: fills or random numbers before the first call)",
                                 wrong.empty() ? "" : "; ", list_counts(shape, setup));
  }
  if (looks_like_trials(shape, wrong)) {
    found.refusal +=
        "; several configurations of one kernel ran unequally often, as an autotuner tries them: warm up "
        "before "
        "the region starts";
  }
}

void doubt_setup(const RegionShape& shape, WindowCalls& found) {
  const std::size_t prefix = setup_prefix(shape);
  if (prefix == 0) return;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < prefix; ++i) {
    const std::size_t name = shape.sequence[i];
    if (std::find(which.begin(), which.end(), name) == which.end()) which.push_back(name);
  }
  found.doubts.push_back(fmt::format(
      "this is not the window: {} launch{} ({}) come{} before {} equal calls; start the region behind "
      "the set-up",
      prefix, prefix == 1 ? "" : "es", list_counts(shape, which), prefix == 1 ? "s" : "",
      repeats(std::span(shape.sequence).subspan(prefix))));
}

/// Three or more equal calls and a part of one more: the region starts or ends inside a call.
void doubt_cut(const RegionShape& shape, WindowCalls& found) {
  const std::size_t period = period_of(shape.sequence);
  const std::size_t calls = shape.sequence.size() / period;
  const std::size_t rest = shape.sequence.size() % period;
  if (calls < 3 || rest == 0) return;
  found.doubts.push_back(
      fmt::format("this is not the window: {} equal calls of {} launches and {} launches more: the "
                  "region starts or ends inside a call",
                  calls, period, rest));
}

void doubt_storm(const RegionShape& shape, WindowCalls& found) {
  if (shape.launches.size() < 2) return;
  std::vector<std::int64_t> sorted = shape.launches;
  std::sort(sorted.begin(), sorted.end());
  const std::int64_t low = sorted[(sorted.size() - 1) / 2];
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < shape.launches.size(); ++i) {
    if (shape.launches[i] >= 16 * low && shape.launches[i] % low != 0) which.push_back(i);
  }
  if (which.empty()) return;
  std::string doubt =
      fmt::format("this is not the window: {} beside kernels launched ×{}", list_counts(shape, which), low);
  if (looks_like_trials(shape, which)) {
    doubt +=
        ": several configurations of one kernel ran unequally often, as an autotuner tries them: warm up "
        "before the region starts";
  }
  found.doubts.push_back(std::move(doubt));
}

}  // namespace

WindowCalls find_window_calls(const RegionShape& shape) {
  WindowCalls found;
  if (shape.launches.empty()) return found;
  if (shape.asked) {
    describe_mismatch(shape, *shape.asked, found);
    found.calls = shape.asked;
    return found;
  }
  const std::int64_t divisor = common_divisor(shape.launches);
  if (shape.range_instances > 0) {
    describe_mismatch(shape, shape.range_instances, found);
    if (found.refusal.empty()) {
      found.calls = shape.range_instances;
      found.note = fmt::format("{} calls: the range was entered as often", shape.range_instances);
    } else {
      found.doubts.push_back(std::move(found.refusal));
      found.refusal.clear();
    }
    return found;
  }
  const bool equal = std::all_of(shape.launches.begin(), shape.launches.end(),
                                 [&](std::int64_t n) { return n == shape.launches.front(); });
  if (shape.sequence.empty()) {
    if (equal) {
      found.calls = divisor;
      found.note = fmt::format("{} calls: every kernel was launched as often (--calls N where that is wrong)",
                               divisor);
    } else {
      found.note =
          "the number of calls is not known: the kernels were not launched equally often (give --calls N)";
    }
    doubt_storm(shape, found);
    return found;
  }
  const std::int64_t count = repeats(shape.sequence);
  if (count > 1) {
    found.calls = count;
    found.note = fmt::format("{} calls: the launches are {} equal repeats (--calls N where that is wrong)",
                             count, count);
    return found;
  }
  doubt_setup(shape, found);
  doubt_cut(shape, found);
  doubt_storm(shape, found);
  if (!found.doubts.empty()) return found;
  if (divisor == 1 && shape.launches.size() == shape.sequence.size()) {
    found.calls = 1;
    found.note = "1 call: every kernel was launched once (--calls N where that is wrong)";
  } else {
    found.note = "the number of calls is not known: the launches do not repeat (give --calls N)";
  }
  return found;
}

}  // namespace plumbline::profile
