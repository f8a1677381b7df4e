// SPDX-License-Identifier: Apache-2.0
// What expressions come to as far as a file tells: constants, defs, dictionaries' keys, arguments of calls.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/bench/syntax.h"

namespace plumbline {

/// The def or lambda that a node stands in, or nullptr at module level.
const SyntaxNode* enclosing_function(const SyntaxTree& tree, const SyntaxNode& node);

/// The expressions that one may come to: through names assigned once, parameters of the def around it (their
/// defaults, and what the calls of this file pass) and conditional expressions. At least the node itself.
std::vector<const SyntaxNode*> possible_values(const SyntaxTree& tree, const SyntaxNode& node);

/// The number that an expression of literals and constants comes to (True is 1), or none.
std::optional<double> number_value(const SyntaxTree& tree, const SyntaxNode& node);

/// The text that string literals, constants and their sums come to, or none.
std::optional<std::string> text_value(const SyntaxTree& tree, const SyntaxNode& node);

/// A parameter of a def or lambda.
struct Parameter {
  const SyntaxNode* node = nullptr;
  bool has_default = false;
  int stars = 0;  ///< 1 for *args, 2 for **kwargs
};

/// The parameters in the order of the source.
std::vector<Parameter> parameters_of(const SyntaxTree& tree, const SyntaxNode& function);

/// One entry of a dict display; `key` is nullptr for **value.
struct DictEntry {
  const SyntaxNode* key = nullptr;
  const SyntaxNode* value = nullptr;
};
std::vector<DictEntry> dict_entries(const SyntaxTree& tree, const SyntaxNode& dict);

/// A keyword argument as the call gets it, also through **OPTIONS and functools.partial.
struct NamedArgument {
  std::string name;
  const SyntaxNode* value = nullptr;
  const SyntaxNode* at = nullptr;
};
std::vector<NamedArgument> named_arguments(const SyntaxTree& tree, const SyntaxNode& call);

/// A function of this file by its last name: a def at module level, else the only one of that name.
const SyntaxNode* function_named(const SyntaxTree& tree, std::string_view name);

/// The name that the harness's own function has where a file gives it another (import … as, an alias, a
/// partial): "measure_windows_workloads", "Workload"; else the callee's last name.
std::string_view harness_name(const SyntaxTree& tree, const SyntaxNode& call);

/// Does the file import the package plumbline?
bool imports_plumbline(const SyntaxTree& tree);

/// Does a statement of `function` (of the module: nullptr) store into this name?
bool is_local(const SyntaxTree& tree, const SyntaxNode& function, std::string_view name);

}  // namespace plumbline
