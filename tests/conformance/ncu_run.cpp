// SPDX-License-Identifier: Apache-2.0
// kind ncu_run: a launch script and the name of the prep step -> what is wrong with it.
#include "bench.h"

namespace plumbline::conformance {
namespace {

std::string check(const Json& test) {
  const Source source = read_source(test.at("ncu_run_py").get<std::string>(), "ncu-syntax");
  return compare_findings(
      test.at("findings"),
      source.tree ? check_ncu_run(*source.tree, test.at("prep").get<std::string>()) : source.findings);
}

const Kind kKind{"ncu_run", check};

}  // namespace
}  // namespace plumbline::conformance
