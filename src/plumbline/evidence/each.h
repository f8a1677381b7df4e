// SPDX-License-Identifier: Apache-2.0
// One doubt for all workloads that share it: the first few are spelled out, the others counted.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "plumbline/base/text.h"
#include "plumbline/evidence/checks.h"

namespace plumbline {

/// `say(workload)` gives the words after "workload 'NAME': ", or none. `below` is where in the workload.
template <class Say>
void each_workload(const EvalReport& eval, std::string_view code, std::string_view below, Say say,
                   Diagnostics& out) {
  constexpr std::size_t kSpelled = 3;
  std::size_t count = 0;
  for (const WorkloadReading& workload : eval.workloads) {
    const std::optional<std::string> words = say(workload);
    if (!words || ++count > kSpelled) continue;
    out.push_back(diagnose(code, fmt::format("workload '{}': {}", printable(workload.name), *words),
                           place_in(eval, workload, below)));
  }
  if (count > kSpelled) {
    out.push_back(diagnose(code, fmt::format("and {} more workloads likewise", count - kSpelled),
                           place_in(eval, "/performance/workloads")));
  }
}

/// The same for each side: `say(workload, side)` → words after "the student's …".
template <class Say>
void each_side(const EvalReport& eval, std::string_view code, std::string_view below, Say say,
               Diagnostics& out) {
  for (const bool student : {true, false}) {
    each_workload(
        eval, code, fmt::format("/{}{}", student ? "student" : "ref", below),
        [&](const WorkloadReading& w) -> std::optional<std::string> {
          const auto words = say(w, student ? w.student : w.ref);
          if (!words) return {};
          return fmt::format("the {}'s {}", student ? "student" : "reference", *words);
        },
        out);
  }
}

}  // namespace plumbline
