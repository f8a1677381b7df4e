// SPDX-License-Identifier: Apache-2.0
// Did a change of the student make it slower? Runs of one series held against each other, session by session.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace plumbline::ledger {

/// What is held: a workload by its ratio, or a kernel by its time.
struct UnitKey {
  bool kernel = false;
  std::string name;

  bool operator<(const UnitKey& other) const {
    return kernel != other.kernel ? kernel < other.kernel : name < other.name;
  }
  bool operator==(const UnitKey&) const = default;
};

/// One run: a session of its own, since each is a process of its own at a time of its own.
struct GateRun {
  std::int64_t id = 0;
  std::string code;  ///< runs of one code timed the same student by the same bench; "" is like no other
  std::map<UnitKey, double> times;   ///< logarithms of the student's relative time: more is slower
  std::map<UnitKey, double> shares;  ///< of a kernel in the student's kernel time
};

/// What is asked.
struct GateOptions {
  double rate = 0.01;    ///< of all units that are called faster or slower, so many may be false
  double least = 0.005;  ///< a change below this is none
  double margin = 0.02;  ///< SAME: no change of this size is left possible
  double share = 0.02;   ///< kernels that take less of the time are not held
};

/// What came of a unit or of all of them.
enum class GateVerdict { same, faster, slower, unknown };
/// "SAME", "FASTER", "SLOWER", "UNKNOWN".
const char* to_string(GateVerdict verdict);

/// One unit held.
struct GateUnit {
  UnitKey key;
  GateVerdict verdict = GateVerdict::unknown;
  double change = 0;                  ///< of the time, relative: 0.02 is 2 % slower
  double low = 0, high = 0;           ///< 95 % of it
  double p = 1;                       ///< two-sided
  double smallest = 0;                ///< the change that 19 of 20 such tests would have found
  double spread = 0;                  ///< of one session's logarithm, moderated
  double freedom = 0;                 ///< degrees of freedom of the spread
  std::size_t before = 0, after = 0;  ///< sessions on each side
};

/// The gate's answer.
struct GateResult {
  GateVerdict verdict = GateVerdict::unknown;
  std::string why;  ///< one sentence
  std::vector<GateUnit> units;
  std::vector<std::string> fresh, gone;  ///< kernels that only one side has
  std::size_t left_out = 0;              ///< kernels under the share
  bool suspect = false;                  ///< something may be slower: worth another measurement
  double repeats = 0;  ///< degrees of freedom of all spreads: what the history tells of sessions
};

/// Holds `after` against `before`. `history` are all runs of the series, those two included: runs of one code
/// among them tell what sessions differ by. With several runs `after`, each by itself must be slower than all
/// before, but for one in five.
GateResult judge_gate(std::span<const GateRun> before, std::span<const GateRun> after,
                      std::span<const GateRun> history, const GateOptions& options = {});

/// The gate over a history, as it would have answered: each run that has `fewest` earlier ones of the same
/// code was held against these, knowing only what came before it. The code was the same, so every SLOWER or
/// FASTER was false.
struct Replay {
  std::size_t held = 0, slower = 0, faster = 0, unknown = 0, same = 0;
  std::size_t fixed_slower = 0;  ///< by a fixed threshold of 5 % on each workload
  std::size_t units = 0, units_alarmed = 0;
  double most_false = 1;             ///< 95 % upper bound of the rate of false SLOWER
  std::vector<std::int64_t> alarms;  ///< the runs that were called SLOWER
};
/// `history` in the order of time.
Replay replay_gate(std::span<const GateRun> history, const GateOptions& options = {}, std::size_t fewest = 3);

}  // namespace plumbline::ledger
