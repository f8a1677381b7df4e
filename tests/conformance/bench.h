// SPDX-License-Identifier: Apache-2.0
// What the kinds of bench cases share.
#pragma once

#include <optional>
#include <string>

#include "kind.h"
#include "plumbline/bench/check.h"

namespace plumbline::conformance {

/// The parsed source, or the finding that it does not parse.
struct Source {
  std::optional<SyntaxTree> tree;
  Findings findings;
};

/// Parses a source as the commands do; `code` names what does not parse.
Source read_source(const std::string& text, const char* code);

}  // namespace plumbline::conformance
