// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "statistics.h"

namespace plumbline::timing {
namespace {

// Share of the rounds cut off each end of the paired ratios: a preempted window, a page fault.
constexpr double kTrim = 0.2;

double positive_log(double ms) {
  return ms > 0 && std::isfinite(ms) ? std::log(ms) : std::numeric_limits<double>::quiet_NaN();
}

/// Runs the rounds of one phase and keeps what every window said of the GPU.
class Runner {
 public:
  Runner(const WindowSource& window, const pl_options& options, pl_comparison& summary)
      : window_(window), options_(options), summary_(summary) {}

  Round run(int other, int number) {
    Round round{};
    const int order[4] = {PL_SIDE_REFERENCE, other, other, PL_SIDE_REFERENCE};
    int taken[2] = {0, 0};
    const int phase = other == PL_SIDE_STUDENT ? PL_PHASE_COMPARED : PL_PHASE_EQUAL;
    for (int side : order) {
      const pl_reading reading = window_(side, phase, number);
      const int column = side == PL_SIDE_REFERENCE ? 0 : 1;
      (column == 0 ? round.reference_ms : round.student_ms)[taken[column]++] = reading.ms;
      round.throttled = round.throttled || slow(reading, side);
      note(reading, side);
    }
    return round;
  }

  double clock(int side) const { return median(clocks_[side]); }
  double temperature(int side) const { return median(temperatures_[side]); }

 private:
  // A clock is low against its own side's median: a student that draws more power may run at a lower clock,
  // and that is its time. The median needs a few windows to stand on.
  bool slow(const pl_reading& reading, int side) const {
    if ((reading.reasons & (2 | 4)) != 0) return true;
    return clocks_[side].size() >= 4 &&
           reading.sm_mhz < (1 - options_.clock_tolerance) * median(clocks_[side]);
  }

  void note(const pl_reading& reading, int side) {
    if (std::isfinite(reading.sm_mhz)) clocks_[side].push_back(reading.sm_mhz);
    if (std::isfinite(reading.temperature_c)) temperatures_[side].push_back(reading.temperature_c);
    summary_.flags |= reading.flags;
    summary_.reasons |= reading.reasons;
  }

  const WindowSource& window_;
  const pl_options& options_;
  pl_comparison& summary_;
  // By side: the reference in the student's place (the A/A run) says nothing of the student's clock.
  std::vector<double> clocks_[3];
  std::vector<double> temperatures_[3];
};

/// log(reference / student) of each kept round.
std::vector<double> paired_logs(const std::vector<Round>& rounds) {
  std::vector<double> logs;
  for (const Round& round : rounds) {
    if (round.dropped) continue;
    logs.push_back(positive_log((round.reference_ms[0] + round.reference_ms[1]) / 2) -
                   positive_log((round.student_ms[0] + round.student_ms[1]) / 2));
  }
  return logs;
}

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

pl_side summarize(const std::vector<Round>& rounds, const std::vector<int>& kept, bool student) {
  std::vector<double> samples;
  std::vector<double> means;
  for (const Round& round : rounds) {
    if (round.dropped) continue;
    const double* ms = student ? round.student_ms : round.reference_ms;
    samples.insert(samples.end(), {ms[0], ms[1]});
    means.push_back((ms[0] + ms[1]) / 2);
  }
  pl_side side{};
  double sum = 0;
  for (int index : kept) sum += std::log(means[static_cast<std::size_t>(index)]);
  side.ms = std::exp(sum / static_cast<double>(kept.size()));
  side.median_ms = median(samples);
  const MedianInterval interval = median_interval(samples);
  side.low_ms = interval.low;
  side.high_ms = interval.high;
  return side;
}

/// A window without a reading (a call that waits for the GPU, say): no number, never a wrong one.
void make_unknown(pl_comparison& summary) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  for (pl_side* side : {&summary.reference, &summary.student}) {
    side->ms = side->median_ms = side->low_ms = side->high_ms = unknown;
  }
  summary.ratio = summary.ratio_low = summary.ratio_high = summary.rse = summary.smallest_difference =
      unknown;
}

void fill_summary(pl_comparison& summary, const std::vector<Round>& rounds, const TrimmedMean& aa) {
  const TrimmedMean paired = trimmed_mean(paired_logs(rounds), kTrim);
  summary.ratio = std::exp(paired.mean);
  summary.rse = paired.standard_error;
  const double margin = student_t95(paired.degrees) * paired.standard_error;
  summary.ratio_low = std::exp(paired.mean - margin);
  summary.ratio_high = std::exp(paired.mean + margin);
  // What equal sides differed by, what they might have, and what this run's own scatter allows.
  summary.smallest_difference =
      std::expm1(std::max({std::fabs(aa.mean), student_t95(aa.degrees) * aa.standard_error, margin}));
  summary.reference = summarize(rounds, paired.kept, false);
  summary.student = summarize(rounds, paired.kept, true);
}

}  // namespace

pl_options default_options() {
  pl_options options;
  options.noise = 0.005;
  options.time_limit_s = 30;
  options.aa_rounds = 8;
  options.min_rounds = 8;
  options.max_rounds = 400;
  options.clock_tolerance = 0.05;
  options.max_dropped = 20;
  return options;
}

void check_options(const pl_options& options) {
  const auto refuse = [](const char* what) { throw Failure(PL_USAGE, what); };
  if (!(options.noise > 0)) refuse("noise must be over 0");
  if (!(options.time_limit_s > 0)) refuse("the time limit must be over 0 s");
  if (options.aa_rounds < 3) refuse("the A/A run needs at least 3 rounds");
  if (options.min_rounds < 3) refuse("a comparison needs at least 3 rounds");
  if (options.max_rounds < options.min_rounds) refuse("max_rounds is under min_rounds");
  if (!(options.clock_tolerance > 0 && options.clock_tolerance < 1))
    refuse("clock_tolerance must lie in (0, 1)");
  if (options.max_dropped < 0) refuse("max_dropped is negative");
}

Outcome compare(const WindowSource& window, const pl_options& options, const std::function<double()>& now_s) {
  check_options(options);
  Outcome outcome{};
  pl_comparison& summary = outcome.summary;
  Runner runner(window, options, summary);
  const double start = now_s();
  int retries = options.max_dropped;
  const auto take = [&](std::vector<Round>& rounds, int other) {
    Round round = runner.run(other, static_cast<int>(rounds.size()));
    if (round.throttled && retries > 0) {
      --retries;
      round.dropped = true;
      ++summary.dropped;
    } else if (round.throttled) {
      ++summary.kept_throttled;
    }
    rounds.push_back(round);
    return !round.dropped;
  };

  std::vector<Round> equal;
  for (int kept = 0; kept < options.aa_rounds;) kept += take(equal, PL_SIDE_REFERENCE_AGAIN) ? 1 : 0;
  const TrimmedMean aa = trimmed_mean(paired_logs(equal), kTrim);
  summary.aa_ratio = std::exp(aa.mean);
  summary.aa_rse = aa.standard_error;

  summary.stop = PL_STOP_ROUNDS;
  int kept = 0;
  while (kept < options.max_rounds) {
    kept += take(outcome.rounds, PL_SIDE_STUDENT) ? 1 : 0;
    if (kept < options.min_rounds) continue;
    const TrimmedMean paired = trimmed_mean(paired_logs(outcome.rounds), kTrim);
    if (paired.standard_error <= options.noise) {
      summary.stop = PL_STOP_NOISE;
      break;
    }
    if (now_s() - start >= options.time_limit_s) {
      summary.stop = PL_STOP_TIME;
      break;
    }
  }
  summary.rounds = kept;
  summary.seconds = now_s() - start;
  if (all_finite(paired_logs(outcome.rounds)) && all_finite(paired_logs(equal))) {
    fill_summary(summary, outcome.rounds, aa);
  } else {
    make_unknown(summary);
  }
  summary.reference.sm_mhz = runner.clock(0);
  summary.student.sm_mhz = runner.clock(1);
  summary.reference.temperature_c = runner.temperature(0);
  summary.student.temperature_c = runner.temperature(1);
  return outcome;
}

}  // namespace plumbline::timing
