// SPDX-License-Identifier: Apache-2.0
#include "plumbline/ledger/gate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "plumbline/ledger/ended.h"

namespace plumbline::ledger {
namespace {

/// Sessions of one code, `spread` apart; `slower` is added to the logarithm of the time of `units`.
std::vector<GateRun> sessions(std::mt19937_64& random, const std::string& code, std::size_t count,
                              double spread, double slower = 0, int workloads = 5) {
  static std::int64_t id = 0;
  std::normal_distribution<double> noise(0, spread);
  std::vector<GateRun> out;
  for (std::size_t i = 0; i < count; ++i) {
    GateRun run{++id, code, {}, {}};
    for (int w = 0; w < workloads; ++w)
      run.times[{false, "w" + std::to_string(w)}] = noise(random) + (w == 0 ? slower : 0);
    out.push_back(run);
  }
  return out;
}

std::vector<GateRun> joined(const std::vector<GateRun>& a, const std::vector<GateRun>& b) {
  std::vector<GateRun> out = a;
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

TEST(Gate, FindsWhatIsLargerThanTheSpreadAndNamesIt) {
  std::mt19937_64 random(1);
  const auto before = sessions(random, "a", 10, 0.002), after = sessions(random, "b", 2, 0.002, 0.02);
  const auto said = judge_gate(before, after, joined(before, after));
  EXPECT_EQ(said.verdict, GateVerdict::slower);
  for (const GateUnit& unit : said.units) {
    EXPECT_EQ(unit.verdict, unit.key.name == "w0" ? GateVerdict::slower : GateVerdict::same) << unit.key.name;
    EXPECT_LT(unit.smallest, 0.02);
  }
  const auto faster = judge_gate(after, before, joined(before, after));
  EXPECT_EQ(faster.verdict, GateVerdict::faster);
}

TEST(Gate, DoesNotKnowWhatSessionsHide) {
  std::mt19937_64 random(2);
  const auto before = sessions(random, "a", 10, 0.03), after = sessions(random, "b", 2, 0.03, 0.02);
  const auto said = judge_gate(before, after, joined(before, after));
  EXPECT_EQ(said.verdict, GateVerdict::unknown);
  for (const GateUnit& unit : said.units) EXPECT_GT(unit.smallest, 0.02);
}

TEST(Gate, WithoutRepeatsNothingIsKnown) {
  std::mt19937_64 random(3);
  const auto before = sessions(random, "a", 1, 0.002), after = sessions(random, "b", 1, 0.002, 0.5);
  const auto said = judge_gate(before, after, joined(before, after));
  EXPECT_EQ(said.verdict, GateVerdict::unknown);
  EXPECT_TRUE(said.units.empty());
  EXPECT_NE(said.why.find("often enough"), std::string::npos);
  EXPECT_EQ(judge_gate({}, {}, {}).verdict, GateVerdict::unknown);
}

TEST(Gate, OneBadSessionOfTwoIsNotSlower) {
  std::mt19937_64 random(4);
  const auto before = sessions(random, "a", 10, 0.002);
  auto after = sessions(random, "b", 1, 0.002, 0.1);
  after.push_back(sessions(random, "b", 1, 0.002)[0]);
  EXPECT_NE(judge_gate(before, after, joined(before, after)).verdict, GateVerdict::slower);
}

TEST(Gate, AKernelCountsWhileNoWorkloadIsFaster) {
  std::mt19937_64 random(5);
  auto before = sessions(random, "a", 10, 0.002), after = sessions(random, "b", 2, 0.002);
  const auto add = [&](std::vector<GateRun>& runs, double slower) {
    for (GateRun& run : runs) {
      run.times[{true, "main"}] = std::normal_distribution<double>(0, 0.002)(random) + slower;
      run.shares[{true, "main"}] = 0.9;
      run.times[{true, "small"}] = slower;
      run.shares[{true, "small"}] = 0.01;
    }
  };
  add(before, 0);
  add(after, 0.1);
  auto said = judge_gate(before, after, joined(before, after));
  EXPECT_EQ(said.verdict, GateVerdict::slower);
  EXPECT_EQ(said.left_out, 1U);
  for (GateRun& run : after) run.times[{false, "w1"}] -= 0.1;
  EXPECT_EQ(judge_gate(before, after, joined(before, after)).verdict, GateVerdict::faster);
}

TEST(Gate, FalseAlarmsAreAsRareAsAskedFor) {
  std::mt19937_64 random(6);
  int alarms = 0, found = 0;
  constexpr int kSuites = 100;
  for (int i = 0; i < kSuites; ++i) {
    const auto before = sessions(random, "a", 6, 0.004, 0, 20),
               after = sessions(random, "b", 2, 0.004, 0, 20);
    alarms += judge_gate(before, after, joined(before, after)).verdict == GateVerdict::slower ? 1 : 0;
    const auto slow = sessions(random, "c", 2, 0.004, 0.03, 20);
    found += judge_gate(before, slow, joined(before, slow)).verdict == GateVerdict::slower ? 1 : 0;
  }
  EXPECT_LE(alarms, 4);  // 0.5 % are expected; five or more come up once in ten thousand times
  EXPECT_GE(found, kSuites * 95 / 100);
}

TEST(Replay, CountsFalseAlarmsOfAHistory) {
  std::mt19937_64 random(8);
  std::vector<GateRun> history =
      joined(sessions(random, "a", 30, 0.002), sessions(random, "b", 30, 0.002, 0.1));
  const Replay calm = replay_gate(history);
  EXPECT_EQ(calm.held, 54U);
  EXPECT_LE(calm.slower, 2U);
  EXPECT_EQ(calm.fixed_slower, 0U);
  EXPECT_EQ(calm.held, calm.slower + calm.faster + calm.same + calm.unknown);
  EXPECT_GT(calm.most_false, 0.03);
  EXPECT_LT(calm.most_false, 0.15);
  history.push_back(sessions(random, "b", 1, 0.002, 0.3)[0]);  // the machine was another's
  const Replay one = replay_gate(history);
  EXPECT_EQ(one.fixed_slower, 1U);
  EXPECT_EQ(one.alarms.back(), history.back().id);
  EXPECT_EQ(replay_gate({}).held, 0U);
}

TEST(JudgeEnd, BlamesTheStudentForItsOwnTurnOnly) {
  BenchEnd end;
  end.limit = BenchEnd::Limit::memory;
  end.limit_words = "3 GiB of memory";
  for (const char* phase : {"student", "student here"}) {
    end.phase = phase;
    EXPECT_EQ(judge_end(end).outcome, "fail-correctness");
  }
  for (const char* phase : {"", "harness", "reference", "students", "waiting"}) {
    end.phase = phase;
    EXPECT_EQ(judge_end(end).outcome, "bench-defect") << phase;
  }
  end.limit = BenchEnd::Limit::time;
  EXPECT_EQ(judge_end(end).outcome, "infrastructure");  // it waited for another's measurement
  end = {};
  end.status = 1;
  end.memory_kills = true;
  end.phase = "student";
  EXPECT_EQ(judge_end(end).outcome, "infrastructure");
  end.memory_kills = false;
  EXPECT_EQ(judge_end(end).outcome, "bench-defect");
  end.phase = "failed no-device";
  EXPECT_EQ(judge_end(end).outcome, "infrastructure");
  end.phase = "failed \x1b[31m";
  EXPECT_EQ(judge_end(end).outcome, "bench-defect");
}

}  // namespace
}  // namespace plumbline::ledger
