// SPDX-License-Identifier: Apache-2.0
// kind workloads: a bench and its board's problem.json -> too few workloads, and whether it times several.
#include "bench.h"

namespace plumbline::conformance {
namespace {

std::string check(const Json& test) {
  const Source source = read_source(test.at("bench_py").get<std::string>(), "bench-syntax");
  const Json& problem = test.at("problem_json");
  WorkloadsAnswer answer;
  answer.findings = source.findings;
  if (source.tree) {
    answer = check_workloads(*source.tree,
                             problem.is_null() ? std::nullopt : std::optional(problem.get<std::string>()));
  }
  std::string difference = compare_findings(test.at("findings"), answer.findings);
  if (!difference.empty()) return difference;
  return compare_text(test.at("times_workloads"), source.tree ? Json(answer.times_workloads) : Json(nullptr),
                      "times_workloads");
}

const Kind kKind{"workloads", check};

}  // namespace
}  // namespace plumbline::conformance
