// SPDX-License-Identifier: Apache-2.0
// kind prep_report: a window.toml and a report -> findings.
#include "plumbline/contract/prep_report.h"

#include "kind.h"
#include "plumbline/contract/parse.h"

namespace plumbline::conformance {
namespace {

std::string check(const Json& test) {
  const Json& toml = test.at("toml");
  if (toml.is_null()) return compare_findings(test.at("findings"), {});
  const Parsed<WindowContract> contract = parse_contract(toml.get<std::string>(), "window.toml");
  if (!contract.ok()) return "the contract does not parse: " + contract.diagnostics.front().message;
  const Parsed<OrderedJson> report = parse_json_ordered(test.at("report").dump(), "report");
  if (!report.ok()) return "the report does not parse: " + report.diagnostics.front().message;
  return compare_findings(test.at("findings"), check_prep_report(*contract.value, *report.value));
}

const Kind kKind{"prep_report", check};

}  // namespace
}  // namespace plumbline::conformance
