// SPDX-License-Identifier: Apache-2.0
#include "plumbline/bench/boundary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plumbline/bench/calls.h"
#include "plumbline/bench/inputs.h"
#include "plumbline/bench/values.h"

namespace plumbline {
namespace {

/// Everything that the bench makes under a name.
struct Made {
  bool known = true;
  std::vector<MadeInput> names;
  std::set<std::string> written;  ///< Workload(outputs=…)
};

void add(Made& made, MadeInputs part) {
  made.known = made.known && part.known;
  for (MadeInput& one : part.names) made.names.push_back(std::move(one));
}

Made made_inputs(const SyntaxTree& bench, const SyntaxNode& measuring, ModuleSet& modules) {
  Made made;
  const std::vector<const SyntaxNode*> workloads = workload_calls(bench);
  made.known = !workloads.empty();
  for (const SyntaxNode* workload : workloads) {
    const SyntaxNode* maker = maker_argument(bench, *workload);
    add(made, maker == nullptr ? MadeInputs{} : made_by(bench, *maker, modules));
    for (const NamedArgument& argument : named_arguments(bench, *workload)) {
      if (argument.name != "outputs") continue;
      for (const SyntaxTree::Index i : bench.walk(bench.index(*argument.value))) {
        if (const auto text = text_value(bench, bench[i])) made.written.insert(*text);
      }
    }
  }
  for (const NamedArgument& argument : named_arguments(bench, measuring)) {
    if (argument.name == "prep" && !is_none(*argument.value))
      add(made, made_by(bench, *argument.value, modules));
  }
  return made;
}

bool has(const std::vector<Field>& fields, std::string_view name) {
  return std::any_of(fields.begin(), fields.end(), [&](const Field& field) { return field.text == name; });
}

class Check {
 public:
  Check(const WindowContract& contract, const Made& made) : contract_(contract), made_(made) {}

  void side(const Side& declared, const Place& place, bool reference) {
    const SyntaxTree& tree = *place.tree;
    const std::string who = reference ? "reference" : "student";
    const std::vector<Parameter> parameters = parameters_of(tree, *place.node);
    const bool takes_all = std::any_of(parameters.begin(), parameters.end(),
                                       [](const Parameter& parameter) { return parameter.stars == 2; });
    for (const Parameter& parameter : parameters) {
      if (parameter.stars != 0) continue;
      const std::string name(tree.name(*parameter.node));
      if (const MadeInput* one = made(name)) {
        received(declared, who, *one, tree, *parameter.node);
      } else if (made_.known && !parameter.has_default) {
        findings.push_back(
            finding_at(tree, *parameter.node, "parameter-not-made",
                       fmt::format("the {}'s parameter '{}' is made by neither make_inputs nor prep, "
                                   "which make {}",
                                   who, name, listed()),
                       name));
      }
    }
    if (takes_all) {
      for (const MadeInput& one : made_.names) received(declared, who, one, *one.tree, *one.at);
    }
    for (const Field& field : declared.inputs) {
      const bool taken =
          takes_all || std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& parameter) {
            return tree.name(*parameter.node) == field.text;
          });
      if (made_.known && made(field.text) == nullptr) {
        at_contract(field, "input-not-made",
                    fmt::format("the {} is to receive '{}', and make_inputs and prep make {}", who,
                                field.text, listed()));
      } else if (!taken) {
        at_contract(
            field, "input-not-received",
            fmt::format("the {} is to receive '{}', which its function does not take", who, field.text));
      }
    }
  }

  Findings findings;

 private:
  const MadeInput* made(std::string_view name) const {
    const auto found = std::find_if(made_.names.begin(), made_.names.end(),
                                    [&](const MadeInput& one) { return one.name == name; });
    return found == made_.names.end() ? nullptr : &*found;
  }

  void received(const Side& declared, const std::string& who, const MadeInput& one, const SyntaxTree& tree,
                const SyntaxNode& at) {
    if (one.kind != MadeInput::Kind::tensor || has(declared.inputs, one.name) ||
        has(declared.outputs, one.name) || made_.written.contains(one.name) ||
        !told_.insert(who + one.name).second) {
      return;
    }
    findings.push_back(finding_at(
        tree, at, "input-undeclared",
        fmt::format("the {} receives '{}', which [{}] inputs in {} lack", who, one.name, who, contract_.file),
        one.name));
  }

  std::string listed() const {
    std::set<std::string> names;
    for (const MadeInput& one : made_.names) names.insert(one.name);
    return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
  }

  void at_contract(const Field& field, std::string_view code, std::string message) {
    findings.push_back(
        {.diagnostic = diagnose(code, std::move(message), {contract_.file, field.at.line, field.at.column}),
         .name = field.text});
  }

  const WindowContract& contract_;
  const Made& made_;
  std::set<std::string> told_;
};

}  // namespace

Findings check_boundary(const SyntaxTree& bench, const WindowContract& contract, ModuleSet& modules) {
  if (!contract.declared()) return {};
  std::vector<const SyntaxNode*> calls;
  for (const SyntaxNode& node : bench.nodes()) {
    if (node.kind == NodeKind::call && harness_name(bench, node) == "measure_windows_workloads")
      calls.push_back(&node);
  }
  const std::vector<TimedSide> sides = timed_sides(bench);
  if (calls.size() != 1 || sides.size() != 2) return {};
  const Made made = made_inputs(bench, *calls.front(), modules);
  Check check(contract, made);
  for (const TimedSide& side : sides) {
    const std::optional<Place> place = definition_of(bench, side, modules);
    if (!place || (!is_function(*place->node) && place->node->kind != NodeKind::lambda)) continue;
    check.side(side.reference ? contract.reference : contract.student, *place, side.reference);
  }
  return std::move(check.findings);
}

}  // namespace plumbline
