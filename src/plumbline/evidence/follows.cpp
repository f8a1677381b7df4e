// SPDX-License-Identifier: Apache-2.0
// An eval that agrees with itself.
#include <algorithm>
#include <cmath>
#include <map>

#include "plumbline/base/numbers.h"
#include "plumbline/evidence/each.h"

namespace plumbline {
namespace {

constexpr double kRounding = 1e-9;  // relative: what adding a few doubles in another order can do

std::string ms(double value) { return format_double(value) + " ms"; }

struct Range {
  double low;
  double high;
};

Range range_of(const std::vector<double>& samples) {
  const auto [low, high] = std::minmax_element(samples.begin(), samples.end());
  return {*low, *high};
}

/// `value` lies in the range, as exactly as both are written.
bool within(const EvalReport& eval, const WorkloadReading& w, const std::string& side, const char* value_key,
            const char* samples_key, double value, const Range& range) {
  double slack = kRounding * range.high;
  if (value >= range.low - slack && value <= range.high + slack) return true;
  slack += written_half(eval, pointer_of(eval, w, fmt::format("/{}/{}", side, value_key))) +
           written_half(eval, pointer_of(eval, w, fmt::format("/{}/{}/0", side, samples_key)));
  return value >= range.low - slack && value <= range.high + slack;
}

void check_side(const EvalReport& eval, const WorkloadReading& w, bool student, Diagnostics& out) {
  const SideReading& side = student ? w.student : w.ref;
  const std::string name = student ? "student" : "ref";
  const auto hold = [&](const char* what, const char* value_key, std::optional<double> value,
                        const std::vector<double>& samples, const char* samples_key) {
    if (!value || samples.empty()) return;
    const Range range = range_of(samples);
    if (within(eval, w, name, value_key, samples_key, *value, range)) return;
    out.push_back(
        diagnose("eval-samples-contradict",
                 fmt::format("workload '{}': the {}'s {} is {} and its {} samples lie between {} and {}",
                             printable(w.name), student ? "student" : "reference", what, ms(*value),
                             samples.size(), ms(range.low), ms(range.high)),
                 place_in(eval, w, fmt::format("/{}/{}", name, value_key))));
  };
  const bool per_call = eval.timed == WindowKind::per_call;
  // Where per-call windows were compared, samples_ms may be theirs.
  if (!per_call) {
    hold("reading", "pipelined_ms", side.pipelined_ms, side.samples_ms, "samples_ms");
    hold("per-call reading", "per_call_ms", side.per_call_ms, side.per_call_samples_ms,
         "per_call_samples_ms");
  } else {
    hold("reading", "per_call_ms", side.per_call_ms, side.samples_ms,
         side.per_call_samples_ms.empty() ? "samples_ms" : "per_call_samples_ms");
  }
  if (per_call && !side.per_call_samples_ms.empty()) return;  // median_ms is of another list
  const auto middle = median(side.samples_ms);
  if (!middle || !side.median_ms) return;
  const double away = std::abs(*middle - *side.median_ms);
  if (away <= kRounding * *middle) return;
  if (away <= written_half(eval, pointer_of(eval, w, "/" + name + "/median_ms")) +
                  written_half(eval, pointer_of(eval, w, "/" + name + "/samples_ms/0"))) {
    return;
  }
  out.push_back(diagnose(
      "eval-samples-contradict",
      fmt::format("workload '{}': the {}'s median is stated as {}, its samples have {}", printable(w.name),
                  student ? "student" : "reference", ms(*side.median_ms), ms(*middle)),
      place_in(eval, w, "/" + name + "/median_ms")));
}

void check_repeats(const EvalReport& eval, bool leaderboard, Diagnostics& out) {
  std::map<std::string, const WorkloadReading*> by_name;
  std::map<std::string, const WorkloadReading*> by_shape;
  std::map<std::string, const WorkloadReading*> by_words;
  std::map<std::vector<double>, const WorkloadReading*> by_samples;
  for (const WorkloadReading& w : eval.workloads) {
    const auto repeat = [&](std::string_view what, const WorkloadReading& first, std::string_view below) {
      out.push_back(diagnose("eval-workload-repeated",
                             fmt::format("workloads '{}' and '{}' have the same {}: one shape counts once",
                                         printable(first.name), printable(w.name), what),
                             place_in(eval, w, below)));
    };
    const auto name = by_name.try_emplace(w.name, &w);
    if (!name.second) {
      repeat("name", *name.first->second, "/name");
      continue;
    }
    // Inputs that a board has drawn may share a shape: their contents are what differs. Two dtypes of one
    // shape show in the bytes of a set.
    if (!w.shape.empty() && !w.draws && !leaderboard) {
      const auto alike = by_words.try_emplace(w.shape, &w);
      if (!alike.second && alike.first->second->set_bytes != w.set_bytes) {
        out.push_back(
            diagnose("eval-shape-repeated",
                     fmt::format("workloads '{}' and '{}' state one shape, {}, and sets of {} and {} "
                                 "bytes: the shape leaves out what differs, or they are one workload",
                                 printable(alike.first->second->name), printable(w.name), w.shape,
                                 format_double(alike.first->second->set_bytes.value_or(0)),
                                 format_double(w.set_bytes.value_or(0))),
                     place_in(eval, w, "/shape")));
      }
      const std::string key = fmt::format("{} {}", w.shape, w.set_bytes.value_or(0));
      const auto shape = by_shape.try_emplace(key, &w);
      if (!shape.second) {
        repeat(fmt::format("shape {}", w.shape), *shape.first->second, "/shape");
        continue;
      }
    }
    for (const auto& [side, below] :
         {std::pair{&w.student, "/student/samples_ms"}, std::pair{&w.ref, "/ref/samples_ms"}}) {
      if (side->samples_ms.size() < 4 || range_of(side->samples_ms).low == range_of(side->samples_ms).high)
        continue;
      const auto samples = by_samples.try_emplace(side->samples_ms, &w);
      if (!samples.second) repeat("samples, to the last digit", *samples.first->second, below);
    }
  }
}

void check_window_names(const EvalReport& eval, Diagnostics& out) {
  if (!window_named(eval.window) && (!eval.window.empty() || !eval.workloads.empty())) {
    out.push_back(diagnose("eval-window-unknown",
                           eval.window.empty()
                               ? std::string("performance.window is missing: what the readings are of is not "
                                             "known")
                               : fmt::format("performance.window is '{}', which is neither pipelined nor "
                                             "per_call",
                                             printable(eval.window)),
                           place_in(eval, "/performance/window")));
  }
  each_workload(
      eval, "eval-mixed-window", "/window",
      [&](const WorkloadReading& w) -> std::optional<std::string> {
        if (w.window.empty() || w.window == eval.window) return {};
        return fmt::format("its window is {}, the eval's is {}: windows are never pooled",
                           printable(w.window), printable(eval.window));
      },
      out);
}

void check_inside(const EvalReport& eval, Diagnostics& out) {
  each_workload(
      eval, "eval-finding", "/findings",
      [](const WorkloadReading& w) -> std::optional<std::string> {
        if (w.findings.empty()) return {};
        const HarnessFinding& first = w.findings.front();
        return fmt::format("the harness found {}{}: {}",
                           first.code.empty() ? std::string("a fault") : printable(first.code),
                           w.findings.size() > 1 ? fmt::format(" and {} more", w.findings.size() - 1) : "",
                           printable(first.message));
      },
      out);
}

/// A ratio may be rounded, but not over the gate.
void check_gate_side(const Documents& in, Diagnostics& out) {
  const EvalReport& eval = *in.eval;
  const auto stated = raw_ratio(eval);
  std::vector<double> ratios;
  for (const WorkloadReading& w : eval.workloads) {
    const auto student = reading_of(w.student, eval.timed);
    const auto ref = reading_of(w.ref, eval.timed);
    // A workload's own ratio may be a paired statistic of its samples: then that is what counts.
    const auto ratio = w.ratio ? w.ratio : student && ref ? std::optional(*ref / *student) : std::nullopt;
    if (!ratio) return;
    ratios.push_back(*ratio);
  }
  const auto mean = geometric_mean(ratios);
  if (!stated || !mean || *stated < in.gate || *mean >= in.gate * (1 - kRounding)) return;
  out.push_back(diagnose("eval-ratio-mismatch",
                         fmt::format("performance.ratio is {}, and its workloads give {}, which is under the "
                                     "gate of {}",
                                     format_double(*stated), format_double(*mean), format_double(in.gate)),
                         place_in(eval, "/performance/ratio")));
}

/// Where in its sorted samples a reading lies: 0 the smallest, 1 the largest.
std::optional<double> rank_of(const SideReading& side, WindowKind window) {
  const auto reading = reading_of(side, window);
  if (!reading || side.samples_ms.size() < 8) return {};
  const Range range = range_of(side.samples_ms);
  if (range.low == range.high) return {};
  double below = 0;
  double equal = 0;
  for (const double s : side.samples_ms) {
    below += s < *reading * (1 - kRounding) ? 1 : 0;
    equal += std::abs(s - *reading) <= *reading * kRounding ? 1 : 0;
  }
  return (below + equal / 2) / static_cast<double>(side.samples_ms.size());
}

/// One side's best sample beside the other's middle, and intervals that do not hold what they are of.
std::optional<std::string> beside_its_samples(const EvalReport& eval, const WorkloadReading& w) {
  const auto student = rank_of(w.student, eval.timed);
  const auto ref = rank_of(w.ref, eval.timed);
  if (student && ref && *student < 0.1 && *ref > 0.3)
    return "the student's reading is its best sample, the reference's is not: they are not one statistic";
  if (student && ref && *ref > 0.9 && *student < 0.7)
    return "the reference's reading is its worst sample, the student's is not: they are not one statistic";
  const auto outside = [](const std::optional<Interval>& interval, const std::optional<double>& value) {
    if (!interval || !value) return false;
    const double width = std::max(interval->high - interval->low, 1e-3 * std::abs(*value));
    return interval->high < interval->low || *value < interval->low - width ||
           *value > interval->high + width;
  };
  if (outside(w.ratio_interval, ratio_of(w, eval.timed)))
    return fmt::format("its ratio lies outside the interval that it states, {} to {}",
                       format_fixed(w.ratio_interval->low, 4), format_fixed(w.ratio_interval->high, 4));
  for (const SideReading* side : {&w.student, &w.ref}) {
    if (outside(side->interval_ms, side->median_ms))
      return fmt::format("a median lies outside the interval that it states, {} to {} ms",
                         format_double(side->interval_ms->low), format_double(side->interval_ms->high));
  }
  return {};
}

void check_interval(const Documents& in, Diagnostics& out) {
  const auto stated = raw_ratio(*in.eval);
  if (!stated || !in.raw_interval) return;
  const double width = in.raw_interval->high - in.raw_interval->low;
  if (width <= 0) return;
  if (*stated >= in.raw_interval->low - width && *stated <= in.raw_interval->high + width) return;
  out.push_back(diagnose("eval-ratio-outside-samples",
                         fmt::format("the ratio {} lies outside what its samples give, {} to {} (95 %): the "
                                     "readings are not the middle of them",
                                     format_fixed(*stated, 4), format_fixed(in.raw_interval->low, 4),
                                     format_fixed(in.raw_interval->high, 4)),
                         place_in(*in.eval, "/performance/ratio")));
}

}  // namespace

void check_follows(const Documents& in, Diagnostics& out) {
  const EvalReport& eval = *in.eval;
  check_window_names(eval, out);
  check_repeats(eval, in.leaderboard, out);
  for (const WorkloadReading& w : eval.workloads) {
    check_side(eval, w, true, out);
    check_side(eval, w, false, out);
  }
  check_inside(eval, out);
  each_workload(
      eval, "eval-ratio-outside-samples", "/ratio",
      [&](const WorkloadReading& w) { return beside_its_samples(eval, w); }, out);
  check_gate_side(in, out);
  check_interval(in, out);
}

}  // namespace plumbline
