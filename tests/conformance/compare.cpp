// SPDX-License-Identifier: Apache-2.0
// How expected and given answers are held against each other.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "kind.h"

namespace plumbline::conformance {
namespace {

constexpr double kRelative = 1e-12;

/// The fields of a finding that are compared; `detail` is a help only.
Json comparable(const Json& finding) {
  Json out = Json::object();
  for (const char* key : {"code", "kind", "name", "list", "workloads"}) {
    if (const auto field = finding.find(key); field != finding.end()) out[key] = *field;
  }
  return out;
}

Json comparable(const Finding& finding) {
  Json out = {{"code", finding.diagnostic.code}};
  if (!finding.kind.empty()) out["kind"] = finding.kind;
  if (!finding.name.empty()) out["name"] = finding.name;
  if (!finding.list.empty()) out["list"] = finding.list;
  if (!finding.workloads.empty()) out["workloads"] = finding.workloads;
  return out;
}

std::string shown(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string differ(const std::string& path, const Json& expected, const Json& got) {
  return path + ": expected " + shown(expected) + ", got " + shown(got);
}

bool numbers_equal(double a, double b) {
  return a == b || std::abs(a - b) <= kRelative * std::max(std::abs(a), std::abs(b));
}

}  // namespace

std::string compare_findings(const Json& expected, const Findings& got) {
  Json wanted = Json::array();
  for (const Json& finding : expected) wanted.push_back(comparable(finding));
  Json given = Json::array();
  for (const Finding& finding : got) given.push_back(comparable(finding));
  return wanted == given ? std::string() : differ("findings", wanted, given);
}

std::string compare_values(const Json& expected, const Json& got, const std::string& path) {
  if (expected.is_number() && got.is_number()) {
    return numbers_equal(expected.get<double>(), got.get<double>()) ? "" : differ(path, expected, got);
  }
  if (expected.is_array() && got.is_array() && expected.size() == got.size()) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      std::string text = compare_values(expected[i], got[i], path + "[" + std::to_string(i) + "]");
      if (!text.empty()) return text;
    }
    return {};
  }
  if (expected.is_object() && got.is_object()) {
    for (const auto& [key, value] : expected.items()) {
      const auto other = got.find(key);
      if (other == got.end()) return path + "." + key + ": missing, expected " + shown(value);
      std::string text = compare_values(value, *other, path + "." + key);
      if (!text.empty()) return text;
    }
    for (const auto& [key, value] : got.items()) {
      if (!expected.contains(key)) return path + "." + key + ": not expected, got " + shown(value);
    }
    return {};
  }
  return expected == got ? std::string() : differ(path, expected, got);
}

std::string compare_text(const Json& expected, const Json& got, std::string_view what) {
  return expected == got ? std::string() : differ(std::string(what), expected, got);
}

}  // namespace plumbline::conformance
