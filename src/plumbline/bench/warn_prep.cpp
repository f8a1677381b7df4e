// SPDX-License-Identifier: Apache-2.0
// How far the prep step, the inputs and the reference reach: none of them may arrive at the student's module.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plumbline/bench/calls.h"
#include "plumbline/bench/inputs.h"
#include "plumbline/bench/reach.h"
#include "plumbline/bench/values.h"
#include "plumbline/bench/warnings.h"

namespace plumbline {
namespace {

/// Imports of a file's module level, and of the card's modules that it imports, that name a student's module.
const SyntaxNode* import_of(const SyntaxTree& tree, const std::set<std::string>& students, ModuleSet& modules,
                            std::set<const SyntaxTree*>& seen, const SyntaxTree** where) {
  if (!seen.insert(&tree).second) return nullptr;
  for (const SyntaxNode& node : tree.nodes()) {
    if (node.kind != NodeKind::alias || enclosing_function(tree, node) != nullptr) continue;
    const SyntaxNode& import = tree.parent(node);
    const bool from = import.kind == NodeKind::import_from;
    const std::string module(from ? tree.name(import) : tree.name(node));
    const std::string root = module.substr(0, module.find('.'));
    if (students.contains(module) || students.contains(root) ||
        (from && students.contains(std::string(tree.name(node))))) {
      *where = &tree;
      return &import;
    }
    const SyntaxTree* next = modules.find(tree, module, from ? import.as_name : 0);
    if (next == nullptr) continue;
    if (const SyntaxNode* found = import_of(*next, students, modules, seen, where)) return found;
  }
  return nullptr;
}

}  // namespace

Findings warn_prep_reach(const SyntaxTree& bench, std::string_view prep, const std::vector<TimedSide>& sides,
                         ModuleSet& modules) {
  const SyntaxNode* def = module_function(bench, prep);
  if (def == nullptr) return {};
  const Reached reached = reach_from(bench, *def, student_modules(bench, sides), modules);
  if (!reached.student) return {};
  return {finding_at(*reached.student->tree, *reached.student->at, "prep-reaches-kernel",
                     "prep arrives at the student's module: " + reached.student->how)};
}

Findings warn_inputs_reach(const SyntaxTree& bench, const std::vector<TimedSide>& sides, ModuleSet& modules) {
  Findings out;
  const std::set<std::string> students = student_modules(bench, sides);
  std::set<const SyntaxNode*> reported;
  for (const SyntaxNode* maker : input_functions(bench)) {
    const Reached reached = reach_from(bench, *maker, students, modules, true);
    if (!reached.student || !reported.insert(reached.student->at).second) continue;
    const bool sure = reached.student->certain;
    out.push_back(finding_at(
        *reached.student->tree, *reached.student->at, sure ? "inputs-touch-kernel" : "inputs-import-unknown",
        fmt::format("what makes the inputs {}: {}",
                    sure ? "arrives at the student's module" : "cannot be followed", reached.student->how)));
  }
  return out;
}

Findings warn_reference_reach(const SyntaxTree& bench, const std::vector<TimedSide>& sides,
                              ModuleSet& modules) {
  Findings out;
  const TimedSide* student = nullptr;
  const TimedSide* reference = nullptr;
  for (const TimedSide& side : sides) {
    const TimedSide*& first = side.reference ? reference : student;
    if (first == nullptr) first = &side;
  }
  if (student == nullptr || reference == nullptr) return out;
  const auto theirs = definition_of(bench, *reference, modules);
  const auto mine = definition_of(bench, *student, modules);
  const std::string module = module_of(bench, *student);
  const bool one_file = mine && theirs && mine->tree == theirs->tree && mine->tree != &bench;
  if ((one_file || (!module.empty() && module == module_of(bench, *reference))) &&
      student->target != reference->target) {
    out.push_back(finding_at(bench, *reference->callable, "sides-one-module",
                             fmt::format("student and reference both come from {}",
                                         one_file ? mine->tree->file() : "module " + module)));
    return out;
  }
  std::set<std::string> students = student_modules(bench, sides);
  students.erase(module_of(bench, *reference));
  if (theirs && theirs->tree != &bench) {
    const Reached reached = reach_from(*theirs->tree, *theirs->node, students, modules);
    if (reached.student) {
      out.push_back(finding_at(*reached.student->tree, *reached.student->at, "reference-from-student",
                               "the reference arrives at the student's module: " + reached.student->how));
    }
  }
  const bool isolated = student->target.find(':') != std::string::npos;
  std::set<const SyntaxTree*> seen;
  const SyntaxTree* where = nullptr;
  const SyntaxNode* import = isolated ? import_of(bench, students, modules, seen, &where) : nullptr;
  if (import != nullptr) {
    out.push_back(finding_at(*where, *import, "student-imported",
                             "the student's module is imported into the harness's own process"));
  }
  return out;
}

}  // namespace plumbline
