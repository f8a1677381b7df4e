// SPDX-License-Identifier: Apache-2.0
// Questions that the rules ask of calls, names and imports.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/bench/syntax.h"
#include "plumbline/contract/finding.h"

namespace plumbline {

/// The last name of what is called: "start" for a.b().start(…), "" where it is not a name (a subscript, a
/// lambda).
std::string_view callee_name(const SyntaxTree& tree, const SyntaxNode& call);

/// "torch.cuda.synchronize" where the expression is a chain of names and attributes, else "".
std::string dotted_path(const SyntaxTree& tree, const SyntaxNode& expression);

/// The value of the first keyword argument of that name, or nullptr.
const SyntaxNode* keyword_value(const SyntaxTree& tree, const SyntaxNode& call, std::string_view name);

/// The n-th positional argument (0 is the first), or nullptr. A starred argument counts as one.
const SyntaxNode* positional(const SyntaxTree& tree, const SyntaxNode& call, std::size_t n);

/// Is it the literal None?
bool is_none(const SyntaxNode& node);

/// The characters of a plain string literal (one piece, no prefix but r or u, no escapes), or none.
std::optional<std::string_view> literal_string(const SyntaxTree& tree, const SyntaxNode& node);

/// The value of a decimal integer literal, or none.
std::optional<long long> literal_int(const SyntaxTree& tree, const SyntaxNode& node);

/// Is it a def, with or without async?
bool is_function(const SyntaxNode& node);

/// The first module-level def of that name, or nullptr.
const SyntaxNode* module_function(const SyntaxTree& tree, std::string_view name);

/// The names that imports of the student's module bind anywhere in the file: `kernel`, its parts, its
/// aliases. "from kernel import *" binds none that can be known.
std::vector<std::string_view> kernel_names(const SyntaxTree& tree);

/// Is this import one of the student's module, or of something in it?
bool imports_kernel(const SyntaxTree& tree, const SyntaxNode& import);

/// A finding at a node.
Finding finding_at(const SyntaxTree& tree, const SyntaxNode& node, std::string_view code, std::string message,
                   std::string name = {});

}  // namespace plumbline
