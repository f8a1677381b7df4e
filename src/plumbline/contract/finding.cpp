// SPDX-License-Identifier: Apache-2.0
#include "plumbline/contract/finding.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace plumbline {

Diagnostics to_diagnostics(const Findings& findings) { return {findings.begin(), findings.end()}; }

bool refuses(const Findings& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.severity == Severity::error || finding.severity == Severity::finding;
  });
}

Json to_json(const Finding& finding) {
  Json out = {{"code", finding.code},
              {"severity", to_string(finding.severity)},
              {"message", finding.message},
              {"file", finding.file}};
  if (!finding.kind.empty()) out["kind"] = finding.kind;
  if (!finding.name.empty()) out["name"] = finding.name;
  if (!finding.list.empty()) out["list"] = finding.list;
  if (!finding.workloads.empty()) out["workloads"] = finding.workloads;
  if (finding.line > 0) out["line"] = finding.line;
  if (finding.column > 0) out["column"] = finding.column;
  return out;
}

Json to_json(const Findings& findings) {
  Json out = Json::array();
  for (const Finding& finding : findings) out.push_back(to_json(finding));
  return out;
}

}  // namespace plumbline
