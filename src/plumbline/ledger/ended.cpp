// SPDX-License-Identifier: Apache-2.0
#include "plumbline/ledger/ended.h"

#include <fmt/format.h>

#include <array>
#include <csignal>

#include "plumbline/base/text.h"
#include "plumbline/ledger/outcome.h"

namespace plumbline::ledger {
namespace {

constexpr std::string_view kFailed = "failed ";

bool students_turn(std::string_view phase) { return phase == "student" || phase == "student here"; }

std::string turn_words(std::string_view phase) {
  if (students_turn(phase)) return "in the student's turn";
  if (phase == "reference") return "in the reference's turn";
  if (phase == "waiting") return "while it waited for another measurement on the GPU";
  if (phase.empty()) return "and it does not say whose turn it was";
  return "in the harness's own part";
}

/// Signals that a program brings on itself.
bool own_signal(int number) {
  constexpr std::array kOwn = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPIPE, SIGXFSZ};
  for (const int own : kOwn) {
    if (number == own) return true;
  }
  return false;
}

std::string signal_words(int number) {
  const char* name = sigabbrev_np(number);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

Unmeasured infrastructure(std::string words) {
  return {"infrastructure", diagnose("step-infrastructure", std::move(words))};
}

Unmeasured students_or_benchs(const BenchEnd& end, bool students, std::string words) {
  words += " " + turn_words(end.phase);
  if (students) return {"fail-correctness", diagnose("step-student-ended", std::move(words))};
  return {"bench-defect", diagnose("step-bench-ended", std::move(words))};
}

Unmeasured over_limit(const BenchEnd& end) {
  if (end.limit == BenchEnd::Limit::time && end.phase == "waiting")
    return infrastructure("the GPU was measured on by another harness for " + end.limit_words);
  return students_or_benchs(end, students_turn(end.phase),
                            fmt::format("the step was ended: {},", end.limit_words));
}

}  // namespace

Unmeasured judge_end(const BenchEnd& end) {
  if (!end.start_failure.empty())
    return {"bench-defect",
            diagnose("step-bench-ended", "the bench could not be started: " + end.start_failure)};
  if (end.interrupted) return infrastructure("plumbline was asked to end while the bench ran");
  if (end.limit != BenchEnd::Limit::none) return over_limit(end);
  if (end.memory_kills && (end.signal != 0 || end.status != 0))
    return infrastructure(
        "the machine ran out of memory while the bench ran, and the kernel killed a process");
  if (end.signal != 0 && !own_signal(end.signal)) {
    return infrastructure(
        fmt::format("{} from outside ended the bench {}", signal_words(end.signal), turn_words(end.phase)));
  }
  // A crash of the harness is the student's where the student runs in that very process.
  if (end.signal != 0)
    return students_or_benchs(end, end.phase == "student here",
                              fmt::format("{} ended the bench", signal_words(end.signal)));
  if (end.phase.starts_with(kFailed)) {
    const std::string code = one_line(end.phase.substr(kFailed.size()));
    const std::string_view outcome = outcome_of_finding(code);
    const std::string words = fmt::format("the harness gave up: {}", code);
    if (outcome == "infrastructure") return infrastructure(words);
    return {outcome, diagnose(outcome == "bench-defect" ? "step-bench-ended" : "step-student-ended", words)};
  }
  if (end.status != 0)
    return students_or_benchs(end, end.phase == "student here",
                              fmt::format("the bench ended with status {}", end.status));
  return {"bench-defect", diagnose("step-bench-ended", end.eval_trouble)};
}

}  // namespace plumbline::ledger
