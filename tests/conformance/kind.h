// SPDX-License-Identifier: Apache-2.0
// What a kind of conformance case must provide. One file a kind, named as the kind: it is found by its name.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "plumbline/contract/finding.h"

namespace plumbline::conformance {

/// Answers one case: "" when it passes, else what differs, in words.
using Check = std::string (*)(const Json& test);

/// Registers a kind while the program starts:
///     const Kind kKind{"contract", check};
struct Kind {
  Kind(std::string_view name, Check check);
};

/// "" when the findings are those expected: code, kind, name, list and workloads, in order.
std::string compare_findings(const Json& expected, const Findings& got);

/// "" when both values are equal, numbers at 1e-12 relative (0 and 0.0 are equal). `path` names the value in
/// the text.
std::string compare_values(const Json& expected, const Json& got, const std::string& path);

/// "" when both are the same text (null: absent).
std::string compare_text(const Json& expected, const Json& got, std::string_view what);

}  // namespace plumbline::conformance
