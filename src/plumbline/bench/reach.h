// SPDX-License-Identifier: Apache-2.0
// Everything that a piece of a bench uses, in its file and in the card's modules, and whether the student's
// module is among it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/bench/modules.h"
#include "plumbline/bench/sides.h"
#include "plumbline/bench/syntax.h"

namespace plumbline {

/// A def, a class, a value or a statement that is arrived at.
struct Place {
  const SyntaxTree* tree;
  const SyntaxNode* node;
};

/// Where the student's module is used.
struct StudentUse {
  const SyntaxTree* tree;
  const SyntaxNode* at;
  std::string how;      ///< "'make' uses 'kernel', which is bound from it"
  bool certain = true;  ///< false: a module is imported whose name only the run knows
};

/// What `start` uses.
struct Reached {
  std::vector<Place> places;  ///< `start` first
  std::optional<StudentUse> student;
};

/// Follows names, imports inside the card and imports by name. `students` are module names. With
/// `unknown_imports`, an import whose name is not known here is a use that is not certain.
Reached reach_from(const SyntaxTree& tree, const SyntaxNode& start, const std::set<std::string>& students,
                   ModuleSet& modules, bool unknown_imports = false);

/// The modules that the student's side comes from, "kernel" among them.
std::set<std::string> student_modules(const SyntaxTree& bench, const std::vector<TimedSide>& sides);

/// The module that a side comes from: "kernel" of "kernel:run", of kernel.run and of run after from kernel
/// import run; empty where the bench itself defines it.
std::string module_of(const SyntaxTree& bench, const TimedSide& side);

/// The def of a side, in the bench or in a module of the card (passed-on names are followed), or nothing.
std::optional<Place> definition_of(const SyntaxTree& bench, const TimedSide& side, ModuleSet& modules);

}  // namespace plumbline
