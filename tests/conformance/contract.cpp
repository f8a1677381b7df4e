// SPDX-License-Identifier: Apache-2.0
// kind contract: a window.toml -> the first load error, declared, findings, warnings, prep and priced
// entries.
#include <algorithm>

#include "kind.h"
#include "plumbline/contract/check.h"
#include "plumbline/contract/parse.h"

namespace plumbline::conformance {
namespace {

struct Answer {
  Json malformed = nullptr;
  bool declared = false;
  ContractVerdict verdict;
  Json prep_entries = Json::array();
  Json priced = Json::array();
};

Answer answer(const Json& toml) {
  Answer out;
  if (toml.is_null()) {
    out.verdict.findings.push_back(contract_absent("window.toml"));
    return out;
  }
  const Parsed<WindowContract> parsed = parse_contract(toml.get<std::string>(), "window.toml");
  if (!parsed.ok()) {
    const auto first = std::find_if(parsed.diagnostics.begin(), parsed.diagnostics.end(),
                                    [](const Diagnostic& d) { return d.severity == Severity::error; });
    out.malformed = first == parsed.diagnostics.end() ? "no error" : first->code;
    return out;
  }
  out.declared = parsed.value->declared();
  out.verdict = check_contract(*parsed.value);
  for (const Asymmetry* entry : prep_entries(*parsed.value)) out.prep_entries.push_back(entry->name.text);
  for (const PricedEntry& entry : priced_entries(*parsed.value)) {
    out.priced.push_back({{"kind", to_string(entry.kind)},
                          {"name", entry.name},
                          {"payer", to_string(entry.payer)},
                          {"regex", entry.regex}});
  }
  return out;
}

/// The warnings of the specification; others are reported in addition and no case names them.
Findings specified(Findings warnings) {
  std::erase_if(warnings,
                [](const Finding& warning) { return warning.diagnostic.code != "price-without-regex"; });
  return warnings;
}

std::string check(const Json& test) {
  const Answer got = answer(test.at("toml"));
  for (std::string difference : {compare_text(test.at("malformed"), got.malformed, "malformed"),
                                 compare_text(test.at("declared"), got.declared, "declared"),
                                 compare_findings(test.at("findings"), got.verdict.findings),
                                 compare_findings(test.at("warnings"), specified(got.verdict.warnings)),
                                 compare_text(test.at("prep_entries"), got.prep_entries, "prep_entries"),
                                 compare_text(test.at("priced"), got.priced, "priced")}) {
    if (!difference.empty()) return difference;
  }
  return {};
}

const Kind kKind{"contract", check};

}  // namespace
}  // namespace plumbline::conformance
