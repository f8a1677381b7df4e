// SPDX-License-Identifier: Apache-2.0
#include "plumbline/contract/finding.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace plumbline {

Diagnostics to_diagnostics(const Findings& findings) {
  Diagnostics out;
  out.reserve(findings.size());
  for (const Finding& finding : findings) out.push_back(finding.diagnostic);
  return out;
}

bool refuses(const Findings& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    const Severity severity = finding.diagnostic.severity;
    return severity == Severity::error || severity == Severity::finding;
  });
}

Json to_json(const Finding& finding) {
  const Diagnostic& said = finding.diagnostic;
  Json out = {{"code", said.code},
              {"severity", to_string(said.severity)},
              {"message", said.message},
              {"file", said.file}};
  if (!finding.kind.empty()) out["kind"] = finding.kind;
  if (!finding.name.empty()) out["name"] = finding.name;
  if (!finding.list.empty()) out["list"] = finding.list;
  if (!finding.workloads.empty()) out["workloads"] = finding.workloads;
  if (said.line > 0) out["line"] = said.line;
  if (said.column > 0) out["column"] = said.column;
  return out;
}

Json to_json(const Findings& findings) {
  Json out = Json::array();
  for (const Finding& finding : findings) out.push_back(to_json(finding));
  return out;
}

}  // namespace plumbline
