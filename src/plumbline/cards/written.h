// SPDX-License-Identifier: Apache-2.0
// Pieces that every new card is written from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plumbline/bench/syntax.h"
#include "plumbline/cards/new_card.h"

namespace plumbline {

/// Both sides of a boundary that is the same on both.
struct SameBoundary {
  std::string reference_window;  ///< in words
  std::string student_window;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

/// window.toml of it; `remark` is a comment at its head, lines with their "# ".
std::string contract_of(const SameBoundary& boundary, std::string_view remark);

/// eval/ncu_run.py: `prepare` imports and defines make_inputs(seed).
std::string launch_script(std::string_view prepare);

/// kernel.py or reference.py: `run` of these parameters, around one expression.
std::string side_file(std::string_view remark, std::string_view before,
                      const std::vector<std::string>& parameters, std::string_view expression);

/// A syntax tree of a problem's Python, or problem-syntax.
Parsed<SyntaxTree> parse_problem(const std::string& text, const std::string& file);

/// problem-not-converted at a node.
Diagnostic not_converted(const SyntaxTree& tree, const SyntaxNode& at, std::string message);

/// An import of a Python file that lies beside the problem, as a diagnostic, or nothing.
Diagnostics local_imports(const SyntaxTree& tree, const std::vector<std::string>& siblings);

/// The source of the statements of a module that these names need, in their order: defs, classes,
/// assignments and imports, and what sets options of imported modules.
std::string python_part(const SyntaxTree& tree, const std::vector<std::string>& names);

}  // namespace plumbline
