// SPDX-License-Identifier: Apache-2.0
#include "plumbline/ledger/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "plumbline/base/student_t.h"

namespace plumbline::ledger {
namespace {

constexpr double kFloor = 2e-4;       // no clock repeats a ratio more closely
constexpr double kFewestRepeats = 2;  // degrees of freedom without which a spread says nothing
constexpr double kAloneTail = 0.05;   // of one session held by itself, when there are several
constexpr double kSuspectTimes = 10;  // the rate at which a slowing is measured again
constexpr double kFixedThreshold = 0.05;

struct Moments {
  std::size_t n = 0;
  double mean = 0;
  double square = 0;  ///< Σ (x − mean)²

  void add(double x) {
    ++n;
    const double from = x - mean;
    mean += from / static_cast<double>(n);
    square += from * (x - mean);
  }
};

Moments moments_of(std::span<const GateRun> runs, const UnitKey& key) {
  Moments out;
  for (const GateRun& run : runs) {
    if (const auto found = run.times.find(key); found != run.times.end()) out.add(found->second);
  }
  return out;
}

/// How far runs of one code lie apart, over all codes of the history.
Variance spread_of(std::span<const GateRun> history, const UnitKey& key) {
  std::map<std::string, Moments> codes;
  for (const GateRun& run : history) {
    const auto found = run.times.find(key);
    if (found != run.times.end() && !run.code.empty()) codes[run.code].add(found->second);
  }
  Variance out;
  double square = 0;
  for (const auto& [code, moments] : codes) {
    square += moments.square;
    out.freedom += static_cast<double>(moments.n - 1);
  }
  if (out.freedom > 0) out.value = square / out.freedom;
  return out;
}

double share_of(std::span<const GateRun> runs, const UnitKey& key) {
  double share = 0;
  for (const GateRun& run : runs) {
    if (const auto found = run.shares.find(key); found != run.shares.end())
      share = std::max(share, found->second);
  }
  return share;
}

/// The units that both sides have in every run, and a word on those that they have not.
std::vector<UnitKey> units_of(std::span<const GateRun> before, std::span<const GateRun> after,
                              const GateOptions& options, GateResult& result) {
  std::set<UnitKey> all;
  for (const auto side : {before, after}) {
    for (const GateRun& run : side) {
      for (const auto& [key, time] : run.times) all.insert(key);
    }
  }
  std::vector<UnitKey> out;
  for (const UnitKey& key : all) {
    const std::size_t old = moments_of(before, key).n, now = moments_of(after, key).n;
    if (key.kernel && std::max(share_of(before, key), share_of(after, key)) < options.share) {
      ++result.left_out;
    } else if (old == 0) {
      result.fresh.push_back(key.name);
    } else if (now == 0) {
      result.gone.push_back(key.name);
    } else {
      out.push_back(key);
    }
  }
  return out;
}

/// Each run after by itself, but for one in five: is it slower than every run before, and by more than one
/// session explains? A kernel that now and then takes another path has sessions far off; several of them do
/// not make a change.
bool each_is_slower(const GateUnit& unit, std::span<const GateRun> before, std::span<const GateRun> after) {
  const Moments old = moments_of(before, unit.key);
  const double error = unit.spread * std::sqrt(1 + 1 / static_cast<double>(old.n));
  double slowest = -std::numeric_limits<double>::infinity();
  for (const GateRun& run : before) {
    if (const auto found = run.times.find(unit.key); found != run.times.end())
      slowest = std::max(slowest, found->second);
  }
  std::size_t not_slower = 0;
  for (const GateRun& run : after) {
    const auto found = run.times.find(unit.key);
    if (found == run.times.end()) continue;
    const double t = (found->second - old.mean) / error;
    const bool slower =
        t > 0 && found->second > slowest && student_t_two_sided(t, unit.freedom) / 2 < kAloneTail;
    not_slower += slower ? 0 : 1;
  }
  return not_slower <= after.size() / 5;
}

GateUnit hold(const UnitKey& key, std::span<const GateRun> before, std::span<const GateRun> after,
              const Variance& variance, double level) {
  const Moments old = moments_of(before, key), now = moments_of(after, key);
  GateUnit unit;
  unit.key = key;
  unit.before = old.n;
  unit.after = now.n;
  unit.spread = std::sqrt(variance.value);
  unit.freedom = variance.freedom;
  const double error =
      unit.spread * std::sqrt(1 / static_cast<double>(old.n) + 1 / static_cast<double>(now.n));
  const double difference = now.mean - old.mean;
  const double half = error * student_t_upper(0.025, unit.freedom);
  unit.change = std::expm1(difference);
  unit.low = std::expm1(difference - half);
  unit.high = std::expm1(difference + half);
  unit.p = student_t_two_sided(difference / error, unit.freedom);
  unit.smallest =
      std::expm1(error * (student_t_upper(level / 2, unit.freedom) + student_t_upper(0.05, unit.freedom)));
  return unit;
}

void decide(GateUnit& unit, bool rejected, const GateOptions& options) {
  if (rejected && std::abs(unit.change) >= options.least) {
    unit.verdict = unit.change > 0 ? GateVerdict::slower : GateVerdict::faster;
  } else if (unit.high < options.margin && unit.low > -options.margin) {
    unit.verdict = GateVerdict::same;
  } else {
    unit.verdict = GateVerdict::unknown;
  }
}

std::size_t count(const GateResult& result, bool kernels, GateVerdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(result.units.begin(), result.units.end(),
                    [&](const GateUnit& u) { return u.key.kernel == kernels && u.verdict == verdict; }));
}

/// What all of them come to. A kernel counts while no workload is faster: work that moves into it is a change
/// of its job.
void conclude(GateResult& result, const GateOptions& options) {
  const auto workloads = [&](GateVerdict v) { return count(result, false, v); };
  const std::size_t slower = workloads(GateVerdict::slower), faster = workloads(GateVerdict::faster);
  const std::size_t kernels = faster == 0 ? count(result, true, GateVerdict::slower) : 0;
  const std::size_t unknown = workloads(GateVerdict::unknown);
  const auto held = static_cast<std::size_t>(std::count_if(result.units.begin(), result.units.end(),
                                                           [](const GateUnit& u) { return !u.key.kernel; }));
  if (slower + kernels > 0) {
    result.verdict = GateVerdict::slower;
    result.why = fmt::format("{} of {} workloads and {} kernels are slower.", slower, held, kernels);
  } else if (unknown > 0 || held == 0) {
    result.verdict = GateVerdict::unknown;
    result.why = held == 0 ? std::string("The two have no workload in common.")
                           : fmt::format(
                                 "Of {} of {} workloads a change of {:g} % cannot be ruled out: sessions "
                                 "differ by too much, "
                                 "or there are too few.",
                                 unknown, held, 100 * options.margin);
  } else if (faster > 0) {
    result.verdict = GateVerdict::faster;
    result.why = fmt::format("{} of {} workloads are faster, none is slower.", faster, held);
  } else {
    result.verdict = GateVerdict::same;
    result.why = fmt::format("No workload has moved by {:g} % or more.", 100 * options.margin);
  }
}

}  // namespace

const char* to_string(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::same:
      return "SAME";
    case GateVerdict::faster:
      return "FASTER";
    case GateVerdict::slower:
      return "SLOWER";
    case GateVerdict::unknown:
      break;
  }
  return "UNKNOWN";
}

GateResult judge_gate(std::span<const GateRun> before, std::span<const GateRun> after,
                      std::span<const GateRun> history, const GateOptions& options) {
  GateResult result;
  const std::vector<UnitKey> keys = units_of(before, after, options, result);
  // Workloads and kernels differ in kind: a ratio is read against a reference in the same window, a kernel's
  // time is not.
  std::vector<Variance> variances(keys.size());
  for (const bool kernels : {false, true}) {
    std::vector<Variance> own;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i].kernel != kernels) continue;
      own.push_back(spread_of(history, keys[i]));
      places.push_back(i);
      result.repeats += own.back().freedom;
    }
    const std::vector<Variance> together = moderated(own, kFloor * kFloor);
    // Drawn up only: what is noisier than its kind is not made less so.
    for (std::size_t i = 0; i < together.size(); ++i)
      variances[places[i]] = {std::max(together[i].value, own[i].value), together[i].freedom};
  }
  std::vector<double> p;
  const double level = options.rate / static_cast<double>(std::max<std::size_t>(1, keys.size()));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (variances[i].freedom < kFewestRepeats) continue;
    result.units.push_back(hold(keys[i], before, after, variances[i], level));
    p.push_back(result.units.back().p);
  }
  if (result.units.empty()) {
    result.why =
        keys.empty()
            ? "The two have nothing in common that could be held."
            : "No code was run often enough to know what sessions differ by: bank the baseline three times "
              "at least.";
    return result;
  }
  const std::vector<bool> rejected = reject_at_rate(p, options.rate);
  const std::vector<bool> doubtful = reject_at_rate(p, std::min(0.5, kSuspectTimes * options.rate));
  for (std::size_t i = 0; i < result.units.size(); ++i) {
    GateUnit& unit = result.units[i];
    decide(unit, rejected[i], options);
    result.suspect = result.suspect || (doubtful[i] && unit.change >= options.least);
    if (unit.verdict == GateVerdict::slower && after.size() > 1 && !each_is_slower(unit, before, after))
      unit.verdict = GateVerdict::unknown;
  }
  conclude(result, options);
  return result;
}

Replay replay_gate(std::span<const GateRun> history, const GateOptions& options, std::size_t fewest) {
  Replay out;
  for (std::size_t at = 0; at < history.size(); ++at) {
    if (history[at].code.empty()) continue;
    std::vector<GateRun> before;
    for (const GateRun& run : history.first(at)) {
      if (run.code == history[at].code) before.push_back(run);
    }
    if (before.size() < fewest) continue;
    // The run itself is not part of what it is held by.
    const GateResult judged = judge_gate(before, history.subspan(at, 1), history.first(at), options);
    if (judged.units.empty()) continue;
    ++out.held;
    out.slower += judged.verdict == GateVerdict::slower ? 1 : 0;
    out.faster += judged.verdict == GateVerdict::faster ? 1 : 0;
    out.unknown += judged.verdict == GateVerdict::unknown ? 1 : 0;
    out.same += judged.verdict == GateVerdict::same ? 1 : 0;
    if (judged.verdict == GateVerdict::slower) out.alarms.push_back(history[at].id);
    bool over = false;
    for (const GateUnit& unit : judged.units) {
      ++out.units;
      out.units_alarmed += unit.verdict == GateVerdict::slower ? 1 : 0;
      over = over || (!unit.key.kernel && unit.change > kFixedThreshold);
    }
    out.fixed_slower += over ? 1 : 0;
  }
  if (out.held == 0) return out;
  // Clopper and Pearson: the rate at which so few would be seen one time in twenty.
  double low = static_cast<double>(out.slower) / static_cast<double>(out.held), high = 1;
  for (int i = 0; i < 100; ++i) {
    const double rate = (low + high) / 2;
    double at_most = 0;
    for (std::size_t k = 0; k <= out.slower; ++k) {
      const auto n = static_cast<double>(out.held), x = static_cast<double>(k);
      at_most += std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) +
                          x * std::log(rate) + (n - x) * std::log1p(-std::min(rate, 1 - 1e-16)));
    }
    (at_most > 0.05 ? low : high) = rate;
  }
  out.most_false = high;
  return out;
}

}  // namespace plumbline::ledger
