// SPDX-License-Identifier: Apache-2.0
// kind prep_report_text: the same as prep_report from raw JSON text, whose order and repeated keys count.
#include "kind.h"
#include "plumbline/contract/parse.h"
#include "plumbline/contract/prep_report.h"

namespace plumbline::conformance {
namespace {

std::string check(const Json& test) {
  const Parsed<WindowContract> contract = parse_contract(test.at("toml").get<std::string>(), "window.toml");
  if (!contract.ok()) return "the contract does not parse: " + contract.diagnostics.front().message;
  const Parsed<OrderedJson> report = parse_json_ordered(test.at("report_text").get<std::string>(), "report");
  if (!report.ok()) return "the report does not parse: " + report.diagnostics.front().message;
  return compare_findings(test.at("findings"), check_prep_report(*contract.value, *report.value));
}

const Kind kKind{"prep_report_text", check};

}  // namespace
}  // namespace plumbline::conformance
