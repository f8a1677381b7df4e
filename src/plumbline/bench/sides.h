// SPDX-License-Identifier: Apache-2.0
// Which callables a bench times, and on whose behalf.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plumbline/bench/syntax.h"

namespace plumbline {

/// A callable that a measuring call times.
struct TimedSide {
  bool reference = false;                ///< else the student
  const SyntaxNode* call = nullptr;      ///< the measuring call
  const SyntaxNode* callable = nullptr;  ///< the argument
  const SyntaxNode* body = nullptr;      ///< the def or lambda of this file that it resolves to, or nullptr
  std::string target;  ///< what it comes down to: "kernel:run" for a string, a dotted path, or the def's name
  bool alone = false;  ///< the call times this side only
};

/// Every side of every measuring call, in walk order. A side is the reference's when it stands in a keyword
/// or a place for it, or when its name says so (ref, reference, baseline, eager, torch); else the student's.
std::vector<TimedSide> timed_sides(const SyntaxTree& bench);

/// The def, lambda or other expression that a callable expression comes down to: through names assigned once,
/// functools.partial and torch.compile.
const SyntaxNode* resolve_callable(const SyntaxTree& tree, const SyntaxNode& expression);

/// The one value that is assigned to a name anywhere in the file, or nullptr (none, several, a loop
/// variable).
const SyntaxNode* only_assignment(const SyntaxTree& tree, std::string_view name);

/// The def or lambda itself and every def of this file that it calls by name, directly or not.
std::vector<const SyntaxNode*> called_bodies(const SyntaxTree& tree, const SyntaxNode& body);

}  // namespace plumbline
