// SPDX-License-Identifier: Apache-2.0
// How an eval was read: what a harness says of clocks, caches, checks and stops.
#include <algorithm>
#include <cmath>

#include "plumbline/base/numbers.h"
#include "plumbline/evidence/each.h"

namespace plumbline {
namespace {

constexpr double kLargeError = 0.02;  // of a ratio: four times the harness's default
constexpr double kSameDieC = 5;       // two sides that alternate share one die; its sensor steps by 1 °C

std::string percent(double share) { return format_fixed(100 * share, 2) + " %"; }

/// A clock may explain a claim when it moves the ratio by at least half of it.
std::optional<std::string> clocks(const EvalReport& eval, const WorkloadReading& w) {
  const auto ratio = ratio_of(w, eval.timed);
  if (!w.ref.sm_mhz || !w.student.sm_mhz || !ratio || *w.ref.sm_mhz <= 0 || *w.student.sm_mhz <= 0) return {};
  const double apart = std::abs(std::log(*w.ref.sm_mhz / *w.student.sm_mhz));
  const double claim = std::abs(std::log(*ratio));
  if (apart <= std::max(ratio_noise(w).value_or(0.01), claim / 2)) return {};
  return fmt::format("the reference ran at {} MHz and the student at {} MHz, {} apart, and the ratio is {}",
                     format_fixed(*w.ref.sm_mhz, 0), format_fixed(*w.student.sm_mhz, 0),
                     percent(std::exp(apart) - 1), format_fixed(*ratio, 4));
}

std::optional<std::string> temperatures(const WorkloadReading& w) {
  if (!w.ref.temperature_c || !w.student.temperature_c) return {};
  if (std::abs(*w.ref.temperature_c - *w.student.temperature_c) < kSameDieC) return {};
  return fmt::format("the reference ran at {} °C and the student at {} °C: the sides did not alternate",
                     format_fixed(*w.ref.temperature_c, 0), format_fixed(*w.student.temperature_c, 0));
}

bool holds(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

/// "performance.workloads[0].stop" and how many more.
std::string pointers(const std::vector<std::string>& all) {
  constexpr std::size_t kShown = 4;
  std::string out;
  for (std::size_t i = 0; i < std::min(all.size(), kShown); ++i)
    out += (out.empty() ? "" : ", ") + printable(all[i].substr(1));
  return all.size() > kShown ? fmt::format("{} and {} more", out, all.size() - kShown) : out;
}

/// What the document says outside the places that are read, in another type, or not at all.
void check_said(const EvalReport& eval, Diagnostics& out) {
  for (std::size_t i = 0; i < std::min<std::size_t>(eval.failures.size(), 3); ++i) {
    const SaidFailure& failure = eval.failures[i];
    out.push_back(diagnose("eval-finding",
                           fmt::format("the eval itself says {}", printable(cut_middle(failure.words, 200))),
                           place_in(eval, failure.pointer)));
  }
  if (!eval.unread.empty()) {
    out.push_back(
        diagnose("eval-fact-unread",
                 fmt::format("{} of another type than it must be, and not read: {}",
                             eval.unread.size() == 1 ? "one fact is" : "facts are", pointers(eval.unread)),
                 place_in(eval, eval.unread.front())));
  }
  if (!eval.absent.empty()) {
    out.push_back(diagnose(
        "eval-fact-absent",
        fmt::format("the harness plumbline always writes {}, and this eval does not", pointers(eval.absent)),
        place_in(eval, "")));
  }
}

/// "hot", "warm", …; what a harness says in words is read by its first one. None: cold.
std::optional<std::string> warm(const EvalReport& eval, const std::string& stated) {
  if (stated == "cold" || stated.starts_with("cold,") || stated.starts_with("flushed")) return {};
  const bool denied =
      holds(stated, "not ") || holds(stated, "hot") || holds(stated, "warm") || holds(stated, "un");
  if (holds(stated, "cold") && !denied) return {};
  if (eval.timed == WindowKind::per_call && holds(stated, "flushed per call")) return {};
  return fmt::format("readings out of a warm L2 ('{}'): in use, the inputs come out of memory",
                     printable(stated));
}

void check_l2(const EvalReport& eval, Diagnostics& out) {
  if (eval.harness.cold == false && eval.harness.l2.empty()) {
    const bool stated =
        std::any_of(eval.workloads.begin(), eval.workloads.end(),
                    [&](const WorkloadReading& w) { return !w.l2.empty() && warm(eval, w.l2); });
    if (!stated)
      out.push_back(diagnose("eval-warm", "a warm L2 was asked for (harness.cold is false)",
                             place_in(eval, "/harness/cold")));
  }
  const std::string& for_all = eval.harness.l2;
  if (!for_all.empty()) {
    if (const auto words = warm(eval, for_all))
      out.push_back(diagnose("eval-warm", *words, place_in(eval, "/harness/l2")));
  }
  each_workload(
      eval, "eval-warm", "/l2",
      [&](const WorkloadReading& w) -> std::optional<std::string> {
        if (!w.l2.empty()) return warm(eval, w.l2);
        if (!for_all.empty() || !eval.harness.ours()) return {};
        return "the eval does not say how a window finds L2, cold or warm";
      },
      out);
}

std::optional<std::string> unchecked(const EvalReport& eval, const WorkloadReading& w) {
  if (w.outputs_checked ? *w.outputs_checked > 0 : !eval.harness.ours()) return {};
  return w.outputs_checked ? std::string("0 outputs were checked: what was timed need not be right")
                           : std::string("it does not say how many outputs were checked");
}

std::optional<std::string> stopped(const EvalReport& eval, const WorkloadReading& w) {
  if (eval.harness.ours() && !w.stop.empty() && w.stop != "noise" && w.stop != "rounds" &&
      w.stop != "time limit")
    return fmt::format("it stopped by '{}', which is neither noise, rounds nor time limit",
                       printable(w.stop));
  if (!w.relative_error) {
    if (w.stop != "time limit") return {};
    return "the time limit ended it, with an error that is not stated";
  }
  const double asked = eval.harness.noise.value_or(0);
  const bool over = eval.harness.noise ? *w.relative_error > asked : w.stop == "time limit";
  // However much was allowed, an error that explains half of the claim is one.
  const auto ratio = ratio_of(w, eval.timed);
  const bool large =
      *w.relative_error > kLargeError && ratio && *w.relative_error > std::abs(std::log(*ratio)) / 2;
  if (!over && !large) return {};
  return fmt::format("{} with an error of {}{}",
                     w.stop == "time limit" ? "the time limit ended it" : "it ended",
                     percent(*w.relative_error),
                     eval.harness.noise ? fmt::format("; {} was asked for", percent(asked)) : "");
}

/// Work behind the closing event, where it could move the reading by more than its noise. Polling an idle
/// device takes a few launch floors.
std::optional<std::string> drained(const EvalReport& eval, const WorkloadReading& w) {
  const auto reading = reading_of(w.student, eval.timed);
  if (!w.drained_us || !reading) return {};
  const double beyond = *w.drained_us - eval.harness.drain_us.value_or(0);
  const double window_us =
      *reading * 1e3 *
      static_cast<double>(eval.timed == WindowKind::per_call ? 1 : w.calls_per_window.value_or(1));
  const double polls = 5 * eval.harness.launch_floor_us.value_or(2);
  if (beyond <= std::max(polls, ratio_noise(w).value_or(0) * window_us)) return {};
  return fmt::format("the device worked for {} µs after the student's window of {} µs had closed",
                     format_fixed(*w.drained_us, 1), format_fixed(window_us, 1));
}

std::optional<std::string> throttled(const WorkloadReading& w) {
  if (w.rounds_dropped_throttled.value_or(0) > 2 * w.rounds.value_or(0) && w.rounds)
    return fmt::format("{} rounds were dropped for the clock and {} kept", *w.rounds_dropped_throttled,
                       *w.rounds);
  if (w.rounds_kept_throttled.value_or(0) <= 0 || !w.throttle.empty()) return {};
  return fmt::format("{} throttled rounds were kept", *w.rounds_kept_throttled);
}

std::optional<std::string> against_itself(const EvalReport& eval, const WorkloadReading& w) {
  if (!w.aa_ratio || w.distinguishable == false) return {};  // check_eval says that one
  const double apart = std::abs(*w.aa_ratio - 1);
  const auto ratio = ratio_of(w, eval.timed);
  if (w.smallest_difference && apart > *w.smallest_difference * (1 + 1e-6)) {
    return fmt::format(
        "A/A: the reference against itself reads {}, further from 1 than the smallest "
        "difference of {} that the bench claims",
        format_fixed(*w.aa_ratio, 4), percent(*w.smallest_difference));
  }
  const double claim = ratio ? std::abs(std::log(*ratio)) : 0;
  const double itself = std::abs(std::log(*w.aa_ratio));
  if (itself <= claim / 2 || itself > claim || (w.smallest_difference && itself < kLargeError)) return {};
  return fmt::format("A/A: the reference against itself reads {}, more than half of what the ratio {} claims",
                     format_fixed(*w.aa_ratio, 4), format_fixed(*ratio, 4));
}

std::optional<std::string> claims(const EvalReport& eval, const WorkloadReading& w) {
  const auto ratio = ratio_of(w, eval.timed);
  if (w.distinguishable == false || !w.smallest_difference || !ratio) return {};
  if (!w.distinguishable && !eval.harness.ours()) return {};
  if (std::abs(*ratio - 1) >= *w.smallest_difference) return {};
  return fmt::format("its ratio {} cannot be told from 1: its own smallest difference is {}",
                     format_fixed(*ratio, 4), percent(*w.smallest_difference));
}

/// Slower where the inputs were not known before: what it did in the other windows was less.
std::optional<std::string> sealed(const EvalReport& eval, const WorkloadReading& w) {
  const auto reading = reading_of(w.student, eval.timed);
  const auto ratio = ratio_of(w, eval.timed);
  const auto middle = median(w.sealed_ms);
  if (!reading || !ratio || !middle || w.student.samples_ms.empty()) return {};
  const auto [low, high] = std::minmax_element(w.student.samples_ms.begin(), w.student.samples_ms.end());
  const double claim = std::abs(std::log(*ratio));
  const double slower = std::log(*middle / *reading);
  const double noise = std::max(3 * (*high - *low) / *reading, 3 * ratio_noise(w).value_or(0));
  if (slower <= std::max(noise, std::min(claim / 2, 0.5))) return {};
  return fmt::format("sealed windows, whose inputs nobody had seen, read {} ms and the others {} ms",
                     format_fixed(*middle, 4), format_fixed(*reading, 4));
}

/// What the harness itself forgives between the two clocks: a share of a window, and the jitter of one.
constexpr double kParentShare = 0.02;
constexpr double kParentJitterMs = 0.012;

/// The parent's own clock brackets the call: it reads more than the window, never much less.
std::optional<std::string> parent(const EvalReport& eval, const WorkloadReading& w, const SideReading& side) {
  const auto reading = eval.timed == WindowKind::per_call ? side.per_call_ms : side.pipelined_ms;
  if (!side.parent_ms || !reading || *side.parent_ms <= 0) return {};
  const double calls = eval.timed == WindowKind::per_call
                           ? 1.0
                           : static_cast<double>(std::max<std::int64_t>(w.calls_per_window.value_or(1), 1));
  const double share = std::max(kParentShare, 3 * ratio_noise(w).value_or(0.01));
  if (*reading - *side.parent_ms > share * *side.parent_ms + kParentJitterMs / calls)
    return fmt::format("window reads {} ms and the parent's clock around it {} ms: a part is counted twice",
                       format_fixed(*reading, 4), format_fixed(*side.parent_ms, 4));
  return {};
}

/// Both sides as the parent's clock has them: the ratio must lie on the same side of 1.
std::optional<std::string> parent_ratio(const EvalReport& eval, const WorkloadReading& w) {
  const auto ratio = ratio_of(w, eval.timed);
  if (!w.student.parent_ms || !w.ref.parent_ms || !ratio || *w.student.parent_ms <= 0) return {};
  const double outside = *w.ref.parent_ms / *w.student.parent_ms;
  const double claim = std::log(*ratio);
  if (!(outside > 0) || std::abs(claim) <= 3 * ratio_noise(w).value_or(0.01)) return {};
  // The parent's bracket holds the same work and a constant, so it dilutes a claim; it does not turn it over.
  if (std::log(outside) * claim >= 0 || std::abs(std::log(outside)) < std::abs(claim) / 2) return {};
  return fmt::format("the windows give {} and the parent's own clock {}", format_fixed(*ratio, 4),
                     format_fixed(outside, 4));
}

std::optional<std::string> quiet(const EvalReport& eval, const WorkloadReading& w) {
  if (!w.quiet_before_ms || !w.quiet_after_ms || *w.quiet_before_ms <= 0 || *w.quiet_after_ms <= 0) return {};
  const auto ratio = ratio_of(w, eval.timed);
  const double moved = std::abs(std::log(*w.quiet_after_ms / *w.quiet_before_ms));
  const double claim = ratio ? std::abs(std::log(*ratio)) : 0;
  if (moved <= std::max(3 * ratio_noise(w).value_or(0.01), claim / 2)) return {};
  return fmt::format(
      "the reference by itself took {} ms before the student's process existed and {} ms after",
      format_fixed(*w.quiet_before_ms, 4), format_fixed(*w.quiet_after_ms, 4));
}

/// A student may be less exact than its reference, by as much as its formats cost.
std::optional<std::string> exactness(const WorkloadReading& w) {
  if (!w.student.output_error || !w.ref.output_error) return {};
  const double student = *w.student.output_error;
  const double ref = *w.ref.output_error;
  // Ten times is three bits and more: another format, not another order of the same sums.
  if (!(student > 10 * ref) || student < 1e-6) return {};
  return fmt::format("its outputs are off by {} of their norm, the reference's by {} (against fp64)",
                     format_double(round_places(student, 8)), format_double(round_places(ref, 8)));
}

}  // namespace

void check_conditions(const Documents& in, Diagnostics& out) {
  const EvalReport& eval = *in.eval;
  const auto each = [&](std::string_view code, std::string_view below, auto say) {
    each_workload(
        eval, code, below, [&](const WorkloadReading& w) { return say(eval, w); }, out);
  };
  const auto plain = [](auto say) {
    return [say](const EvalReport&, const WorkloadReading& w) { return say(w); };
  };
  if (!eval.harness.isolation.empty() && eval.harness.isolation != "process") {
    out.push_back(diagnose(
        "eval-not-isolated",
        fmt::format("the student did not run in a process of its own (isolation: {}): it could reach "
                    "the clock, the inputs and the expected outputs",
                    printable(eval.harness.isolation)),
        place_in(eval, "/harness/isolation")));
  }
  if (eval.harness.ours() && !eval.harness.order.empty() && eval.harness.order != "ABBA" &&
      eval.harness.order != "AABB") {  // check_eval says that one
    out.push_back(diagnose("eval-order",
                           fmt::format("the sides were read in the order '{}', not ABBA: a drifting clock "
                                       "favours one",
                                       printable(eval.harness.order)),
                           place_in(eval, "/harness/order")));
  }
  check_said(eval, out);
  each("eval-clocks-apart", "/ref/sm_mhz", clocks);
  each("eval-temperature", "/ref/temperature_c", plain(temperatures));
  check_l2(eval, out);
  each("eval-unchecked", "/outputs_checked", unchecked);
  each("eval-stopped", "/stop", stopped);
  each("eval-drained", "/student_drained_us", drained);
  each("eval-throttled", "/rounds_kept_throttled", plain(throttled));
  each("eval-aa-spread", "/aa_ratio", against_itself);
  each("eval-aa-spread", "/smallest_difference", claims);
  each("eval-sealed", "/sealed_ms", sealed);
  each("eval-parent-clock", "/parent", parent_ratio);
  each_side(
      eval, "eval-parent-clock", "",
      [&](const WorkloadReading& w, const SideReading& side) { return parent(eval, w, side); }, out);
  each("eval-not-quiet", "/quiet", quiet);
  each("eval-less-exact", "/output_error", plain(exactness));
}

}  // namespace plumbline
