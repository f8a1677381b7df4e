// SPDX-License-Identifier: Apache-2.0
#include "plumbline/contract/contract.h"

#include <algorithm>

#include "plumbline/contract/name_set.h"

namespace plumbline {
namespace {

std::vector<PricedEntry> price_entries(const WindowContract& contract, bool with_regex) {
  std::vector<PricedEntry> out;
  for (const Asymmetry& entry : contract.asymmetries) {
    const Field& regex = entry.payer_regex();
    if (entry.treated != EntryClass::price || regex.empty() == with_regex) continue;
    out.push_back(
        {entry.kind, entry.name.text, payer_of(entry.kind), regex.text, regex.empty() ? entry.at : regex.at});
  }
  return out;
}

/// Splits two lists into what both hold and what either holds alone.
void split(const std::vector<Field>& reference, const std::vector<Field>& student,
           std::vector<std::string>& both, std::vector<std::string>& ref_only,
           std::vector<std::string>& student_only) {
  const NameSet in_reference(reference);
  const NameSet in_student(student);
  for (const Field& name : reference) (in_student.has(name.text) ? both : ref_only).push_back(name.text);
  for (const Field& name : student) {
    if (!in_reference.has(name.text)) student_only.push_back(name.text);
  }
}

}  // namespace

std::string_view to_string(EntryKind kind) {
  switch (kind) {
    case EntryKind::ref_input:
      return "ref_input";
    case EntryKind::student_input:
      return "student_input";
    case EntryKind::ref_output:
      return "ref_output";
    case EntryKind::student_output:
      break;
  }
  return "student_output";
}

std::string_view to_string(Payer payer) { return payer == Payer::student ? "student" : "reference"; }

Payer payer_of(EntryKind kind) {
  return kind == EntryKind::ref_input || kind == EntryKind::student_output ? Payer::student
                                                                           : Payer::reference;
}

bool is_output(EntryKind kind) { return kind == EntryKind::ref_output || kind == EntryKind::student_output; }

const Field& Asymmetry::payer_regex() const {
  return payer_of(kind) == Payer::student ? student_kernel_regex : ref_kernel_regex;
}

const Field& Asymmetry::other_regex() const {
  return payer_of(kind) == Payer::student ? ref_kernel_regex : student_kernel_regex;
}

bool WindowContract::declared() const {
  return !reference.inputs.empty() && !reference.outputs.empty() && !student.inputs.empty() &&
         !student.outputs.empty();
}

std::vector<PricedEntry> priced_entries(const WindowContract& contract) {
  return price_entries(contract, true);
}

std::vector<PricedEntry> unpriced_entries(const WindowContract& contract) {
  return price_entries(contract, false);
}

bool is_prep_checked(const Asymmetry& entry) {
  return entry.treated == EntryClass::symmetrize && entry.producer != Producer::cache;
}

std::vector<const Asymmetry*> prep_entries(const WindowContract& contract) {
  std::vector<const Asymmetry*> out;
  for (const Asymmetry& entry : contract.asymmetries) {
    if (is_prep_checked(entry)) out.push_back(&entry);
  }
  return out;
}

BoundarySets boundary_sets(const WindowContract& contract) {
  BoundarySets sets;
  split(contract.reference.inputs, contract.student.inputs, sets.both_inputs, sets.ref_only_inputs,
        sets.student_only_inputs);
  split(contract.reference.outputs, contract.student.outputs, sets.both_outputs, sets.ref_only_outputs,
        sets.student_only_outputs);
  return sets;
}

ExplainedInputs explained_inputs(const WindowContract& contract) {
  ExplainedInputs out;
  EntrySet entries;
  NameSet student;
  NameSet reference;
  for (const Asymmetry& entry : contract.asymmetries) {
    if (!entries.insert(entry) || is_output(entry.kind)) continue;
    const bool explains_student = entry.kind == EntryKind::ref_input;
    for (const std::string_view name : split_any(entry.derived_from.text, ",", true)) {
      if ((explains_student ? student : reference).insert(name)) {
        (explains_student ? out.student : out.reference).emplace_back(name);
      }
    }
  }
  return out;
}

}  // namespace plumbline
