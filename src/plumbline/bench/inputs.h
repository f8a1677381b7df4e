// SPDX-License-Identifier: Apache-2.0
// What makes the inputs of the workloads, and the names that it makes.
#pragma once

#include <string>
#include <vector>

#include "plumbline/bench/modules.h"
#include "plumbline/bench/reach.h"
#include "plumbline/bench/syntax.h"

namespace plumbline {

/// The calls that make a Workload, in walk order.
std::vector<const SyntaxNode*> workload_calls(const SyntaxTree& bench);

/// The expression that a Workload takes as make_inputs, or nullptr.
const SyntaxNode* maker_argument(const SyntaxTree& bench, const SyntaxNode& workload);

/// The callables that make inputs: those of the workloads (and what run_leaderboard_bench takes), as far as
/// they are expressions of this file.
std::vector<const SyntaxNode*> input_functions(const SyntaxTree& bench);

/// One name of a dictionary that is made.
struct MadeInput {
  enum class Kind { tensor, plain, unknown };
  std::string name;
  const SyntaxTree* tree = nullptr;
  const SyntaxNode* at = nullptr;
  Kind kind = Kind::unknown;
};

/// Is a value a tensor, or a number, a text, a shape?
MadeInput::Kind kind_of(const SyntaxTree& tree, const SyntaxNode& value);

/// The names of the dictionary that a callable returns; not `known` where the source does not tell.
struct MadeInputs {
  bool known = false;
  std::vector<MadeInput> names;
};
MadeInputs made_by(const SyntaxTree& tree, const SyntaxNode& callable, ModuleSet& modules);

}  // namespace plumbline
