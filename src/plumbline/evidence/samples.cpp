// SPDX-License-Identifier: Apache-2.0
// Samples as a clock gives them.
#include <algorithm>
#include <cmath>

#include "plumbline/base/numbers.h"
#include "plumbline/evidence/each.h"

namespace plumbline {
namespace {

constexpr std::size_t kFewest = 4;  // fewer say nothing of a distribution
constexpr std::size_t kTrendFewest = 8;
constexpr std::size_t kMost = 1000;  // a trend of more is looked for in every n-th of them
constexpr double kTickMs = 1e-3;     // twice the 0.5 µs that CUDA documents as the resolution of an event

std::string percent(double share) { return format_fixed(100 * share, 2) + " %"; }

std::vector<double> thinned(const std::vector<double>& samples) {
  const std::size_t step = samples.size() / kMost + 1;
  std::vector<double> out;
  for (std::size_t i = 0; i < samples.size(); i += step) out.push_back(samples[i]);
  return out;
}

/// The z of Mann and Kendall's trend test: 4 comes by chance in one of 16,000 lists.
double trend(const std::vector<double>& x) {
  double s = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i + 1; j < x.size(); ++j) s += x[j] > x[i] ? 1 : x[j] < x[i] ? -1 : 0;
  }
  const auto n = static_cast<double>(x.size());
  const double sigma = std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  return s > 0 ? (s - 1) / sigma : s < 0 ? (s + 1) / sigma : 0;
}

/// From the middle of the first third to that of the last, relative.
double drift(const std::vector<double>& x) {
  const auto third = static_cast<std::ptrdiff_t>(x.size() / 3);
  const double first = *median(std::vector<double>(x.begin(), x.begin() + third));
  const double last = *median(std::vector<double>(x.end() - third, x.end()));
  return last / first - 1;
}

struct Peaks {
  double low;
  double high;
  std::size_t at_low;
};

/// Two clusters that each hold a quarter of the samples, further apart than four times the wider one is wide.
std::optional<Peaks> two_peaks(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  const std::size_t quarter = std::max<std::size_t>(2, (x.size() + 3) / 4);
  if (x.size() < 2 * quarter) return {};
  std::size_t split = 0;
  double widest = 0;
  for (std::size_t i = quarter; i + quarter <= x.size(); ++i) {
    if (x[i] - x[i - 1] > widest) {
      widest = x[i] - x[i - 1];
      split = i;
    }
  }
  if (split == 0) return {};
  const double wide = std::max(x[split - 1] - x.front(), x.back() - x[split]);
  if (widest <= 4 * wide || widest <= kTickMs) return {};
  return Peaks{*median(std::vector<double>(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(split))),
               *median(std::vector<double>(x.begin() + static_cast<std::ptrdiff_t>(split), x.end())), split};
}

std::optional<std::string> constant(const SideReading& side) {
  const std::vector<double>& x = side.samples_ms;
  if (x.size() < kFewest || std::any_of(x.begin(), x.end(), [&](double s) { return s != x.front(); }))
    return {};
  return fmt::format("{} samples are all the same, {} ms: no clock reads that; their noise is not known",
                     x.size(), format_double(x.front()));
}

std::optional<std::string> rising(const WorkloadReading& w, const SideReading& side) {
  if (side.samples_ms.size() < kTrendFewest) return {};
  const std::vector<double> x = thinned(side.samples_ms);
  const double z = trend(x);
  const double moved = drift(x);
  const bool steps = std::is_sorted(x.begin(), x.end()) || std::is_sorted(x.rbegin(), x.rend());
  if (x.front() == x.back() || (std::abs(z) <= 4 && !steps)) return {};
  if (std::abs(moved) <= ratio_noise(w).value_or(0)) return {};
  return fmt::format("samples {} by {} from the first to the last third: it was not in a steady state",
                     moved > 0 ? "rise" : "fall", percent(std::abs(moved)));
}

std::optional<std::string> peaked(const WorkloadReading& w, const SideReading& side) {
  if (side.samples_ms.size() < 2 * kFewest) return {};
  const auto peaks = two_peaks(side.samples_ms);
  if (!peaks || peaks->high / peaks->low - 1 <= w.smallest_difference.value_or(0)) return {};
  return fmt::format(
      "samples have two peaks, {} of {} at {} ms and the others at {} ms: a reading between "
      "them is neither",
      peaks->at_low, side.samples_ms.size(), format_fixed(peaks->low, 5), format_fixed(peaks->high, 5));
}

/// One side's samples are the other's times a number, to the last digit: nobody measured both.
std::optional<std::string> scaled(const WorkloadReading& w) {
  const std::vector<double>& s = w.student.samples_ms;
  const std::vector<double>& r = w.ref.samples_ms;
  if (s.size() < kFewest || s.size() != r.size()) return {};
  const double factor = r.front() / s.front();
  bool varied = false;
  for (std::size_t i = 0; i < s.size(); ++i) {
    varied = varied || s[i] != s.front();
    if (std::abs(r[i] / s[i] / factor - 1) > 1e-9) return {};
  }
  if (!varied) return {};
  return fmt::format(
      "all {} samples of the reference are the student's times {}, to the last digit: two "
      "clocks do not agree like that",
      s.size(), format_fixed(factor, 6));
}

}  // namespace

void check_samples(const Documents& in, Diagnostics& out) {
  const EvalReport& eval = *in.eval;
  each_workload(
      eval, "samples-few", "",
      [&](const WorkloadReading& w) -> std::optional<std::string> {
        if (!eval.harness.ours() || !reading_of(w.student, eval.timed) || !reading_of(w.ref, eval.timed))
          return {};
        const std::size_t few = std::min(w.student.samples_ms.size(), w.ref.samples_ms.size());
        if (few >= kFewest) return {};
        return fmt::format("a side has {} samples: its noise, and so the ratio's, is not known", few);
      },
      out);
  each_side(
      eval, "samples-constant", "/samples_ms",
      [](const WorkloadReading&, const SideReading& side) { return constant(side); }, out);
  each_side(eval, "samples-trend", "/samples_ms", rising, out);
  each_side(eval, "samples-two-peaks", "/samples_ms", peaked, out);
  each_workload(eval, "samples-scaled", "/ref/samples_ms", scaled, out);
}

}  // namespace plumbline
