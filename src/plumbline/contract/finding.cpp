// SPDX-License-Identifier: Apache-2.0
#include "plumbline/contract/finding.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "plumbline/base/code_counter.h"

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
  const Diagnostic& diagnostic = finding.diagnostic;
  Json out = {{"code", diagnostic.code},
              {"severity", to_string(diagnostic.severity)},
              {"message", diagnostic.message},
              {"file", diagnostic.file}};
  if (!finding.kind.empty()) out["kind"] = finding.kind;
  if (!finding.name.empty()) out["name"] = finding.name;
  if (!finding.list.empty()) out["list"] = finding.list;
  if (!finding.workloads.empty()) out["workloads"] = finding.workloads;
  if (diagnostic.line > 0) out["line"] = diagnostic.line;
  if (diagnostic.column > 0) out["column"] = diagnostic.column;
  return out;
}

Json to_json(const Findings& findings) {
  Json out = Json::array();
  CodeCounter counter;
  for (const Finding& finding : findings) {
    if (counter.shows(finding.diagnostic)) out.push_back(to_json(finding));
  }
  for (CodeCounter::Rest& rest : counter.rest()) {
    out.push_back(to_json(Finding{std::move(rest.diagnostic)}));
    out.back()["left_out"] = rest.count;
  }
  return out;
}

}  // namespace plumbline
