// SPDX-License-Identifier: Apache-2.0
// What outlives a call of a timed function, and results that one call leaves for the next.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/bench/syntax.h"

namespace plumbline {

using LastingNames = std::set<std::string>;

/// "_calls", "self.calls", "run.calls", "_state": what an expression names that outlives a call of
/// `function`, a parameter's mutable default among it; empty where it is the call's own.
std::string lasting(const SyntaxTree& tree, const SyntaxNode& function, const SyntaxNode& expression);

/// Every name that `node` holds and that outlives a call, but for what is called.
LastingNames lasting_in(const SyntaxTree& tree, const SyntaxNode& function, const SyntaxNode& node);

/// Does an expression hold one of the names, or ask hasattr(run, "calls") of run.calls?
bool names_any(const SyntaxTree& tree, const SyntaxNode& node, const LastingNames& names);

/// A plain name and what it is bound to.
struct NameBinding {
  std::string_view name;
  const SyntaxNode* value;
};

/// Of `x = VALUE` and `(x := VALUE)`; none for any other node or target.
std::optional<NameBinding> name_binding(const SyntaxTree& tree, const SyntaxNode& node);

/// Where a function hands out what an earlier call has left.
struct KeptResult {
  const SyntaxNode* at;
  std::string how;  ///< "returns what an earlier call has left in '_kept'"
};
std::vector<KeptResult> kept_results(const SyntaxTree& tree, const SyntaxNode& function);

}  // namespace plumbline
