// SPDX-License-Identifier: Apache-2.0
// Laws that every contract obeys, on generated ones.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "plumbline/contract/check.h"
#include "plumbline/contract/parse.h"

namespace plumbline {
namespace {

constexpr std::array<const char*, 4> kKinds{"ref_input", "student_input", "ref_output", "student_output"};

/// A contract as text, from few names so that they collide often. `lists` in the order of EntryKind.
struct Draft {
  std::array<std::vector<std::string>, 4> lists;
  struct Entry {
    std::size_t kind;
    std::string name, entry_class, producer, derived_from, ref_regex, student_regex;
    bool shape;
  };
  std::vector<Entry> entries;
};

std::string quoted_list(const std::vector<std::string>& names) {
  return names.empty() ? "[]" : fmt::format("['{}']", fmt::join(names, "', '"));
}

std::string text_of(const Draft& draft) {
  std::string out =
      fmt::format("[reference]\ninputs = {}\noutputs = {}\n[student]\ninputs = {}\noutputs = {}\n",
                  quoted_list(draft.lists[0]), quoted_list(draft.lists[2]), quoted_list(draft.lists[1]),
                  quoted_list(draft.lists[3]));
  for (const Draft::Entry& entry : draft.entries) {
    out += fmt::format(
        "[[asymmetry]]\n{} = '{}'\nclass = '{}'\nproduced_by = '{}'\nderived_from = '{}'\n"
        "ref_kernel_regex = '{}'\nstudent_kernel_regex = '{}'\n",
        kKinds[entry.kind], entry.name, entry.entry_class, entry.producer, entry.derived_from,
        entry.ref_regex, entry.student_regex);
    if (entry.shape) out += "shape = [4, 8]\ndtype = 'bf16'\n";
  }
  return out;
}

/// The same comparison with the sides exchanged.
Draft mirrored(Draft draft) {
  std::swap(draft.lists[0], draft.lists[1]);
  std::swap(draft.lists[2], draft.lists[3]);
  for (Draft::Entry& entry : draft.entries) {
    entry.kind ^= 1U;
    std::swap(entry.ref_regex, entry.student_regex);
  }
  return draft;
}

std::string name() { return *rc::gen::element<std::string>("a", "b", "c", "d", "e"); }

std::vector<std::string> names(std::size_t most) {
  std::vector<std::string> out;
  const auto count = *rc::gen::inRange<std::size_t>(0, most);
  for (std::size_t i = 0; i < count; ++i) out.push_back(name());
  return out;
}

Draft any_draft() {
  Draft draft;
  for (auto& list : draft.lists) {
    list = names(5);
    list.push_back("z");  // never empty
  }
  const auto count = *rc::gen::inRange(0, 5);
  for (int i = 0; i < count; ++i) {
    draft.entries.push_back({*rc::gen::inRange<std::size_t>(0, 4), name(),
                             *rc::gen::element<std::string>("price", "accept", "symmetrize", "prise", ""),
                             *rc::gen::element<std::string>("forward", "prep", "cache", "", "me"),
                             fmt::format("{}", fmt::join(names(3), ", ")),
                             *rc::gen::element<std::string>("", "", "k1", "("),
                             *rc::gen::element<std::string>("", "", "k2", "("), *rc::gen::arbitrary<bool>()});
  }
  return draft;
}

WindowContract parsed(const Draft& draft) {
  auto result = parse_contract(text_of(draft), "w");
  RC_ASSERT(result.ok());
  return *result.value;
}

std::string mirrored_code(const std::string& code) {
  static const std::map<std::string, std::string> kMirror{
      {"undeclared-ref-input", "undeclared-student-input"},
      {"undeclared-student-input", "undeclared-ref-input"},
      {"undeclared-ref-output", "undeclared-student-output"},
      {"undeclared-student-output", "undeclared-ref-output"}};
  const auto found = kMirror.find(code);
  return found == kMirror.end() ? code : found->second;
}

void holds(const std::string& law, const std::function<void()>& check) { EXPECT_TRUE(rc::check(law, check)); }

TEST(ContractLaws, AgainstItselfThereIsNothingToPay) {
  holds("equal sides need no entry and have nothing priced", [] {
    Draft draft;
    draft.lists[0] = draft.lists[1] = names(8);
    draft.lists[2] = draft.lists[3] = names(8);
    for (auto& list : draft.lists) list.push_back("z");
    const WindowContract contract = parsed(draft);
    const ContractVerdict verdict = check_contract(contract);
    RC_ASSERT(verdict.findings.empty());
    RC_ASSERT(verdict.warnings.empty());
    RC_ASSERT(priced_entries(contract).empty());
    const BoundarySets sets = boundary_sets(contract);
    RC_ASSERT(sets.ref_only_inputs.empty() && sets.student_only_inputs.empty());
    RC_ASSERT(sets.ref_only_outputs.empty() && sets.student_only_outputs.empty());
  });
}

TEST(ContractLaws, TheMirrorImageHasTheMirroredFindings) {
  holds("exchanging the sides exchanges who pays and keeps every finding", [] {
    const Draft draft = any_draft();
    const WindowContract contract = parsed(draft);
    const WindowContract mirror = parsed(mirrored(draft));
    std::multiset<std::pair<std::string, std::string>> here;
    std::multiset<std::pair<std::string, std::string>> there;
    for (const Finding& f : check_contract(contract).findings)
      here.emplace(mirrored_code(f.diagnostic.code), f.name);
    for (const Finding& f : check_contract(mirror).findings) there.emplace(f.diagnostic.code, f.name);
    RC_ASSERT(here == there);
    const auto priced = priced_entries(contract);
    const auto mirrored_priced = priced_entries(mirror);
    RC_ASSERT(priced.size() == mirrored_priced.size());
    for (std::size_t i = 0; i < priced.size(); ++i) RC_ASSERT(priced[i].payer != mirrored_priced[i].payer);
  });
}

TEST(ContractLaws, NoOneSidedNameDisappears) {
  holds("what one side alone has is declared, explained or found", [] {
    const WindowContract contract = parsed(any_draft());
    const ContractVerdict verdict = check_contract(contract);
    const ExplainedInputs explained = explained_inputs(contract);
    const BoundarySets sets = boundary_sets(contract);
    const auto accounted = [&](EntryKind kind, const std::string& tensor,
                               const std::vector<std::string>& by) {
      const bool entry =
          std::any_of(contract.asymmetries.begin(), contract.asymmetries.end(),
                      [&](const Asymmetry& e) { return e.kind == kind && e.name.text == tensor; });
      const bool is_explained = std::find(by.begin(), by.end(), tensor) != by.end();
      const bool is_found =
          std::any_of(verdict.findings.begin(), verdict.findings.end(), [&](const Finding& f) {
            return f.diagnostic.code.starts_with("undeclared") && f.kind == to_string(kind) &&
                   f.name == tensor;
          });
      RC_ASSERT(is_found == (!entry && !is_explained));
    };
    for (const auto& tensor : sets.ref_only_inputs)
      accounted(EntryKind::ref_input, tensor, explained.reference);
    for (const auto& tensor : sets.student_only_inputs)
      accounted(EntryKind::student_input, tensor, explained.student);
    for (const auto& tensor : sets.ref_only_outputs) accounted(EntryKind::ref_output, tensor, {});
    for (const auto& tensor : sets.student_only_outputs) accounted(EntryKind::student_output, tensor, {});
  });
}

TEST(ContractLaws, TheOrderOfTheNamesChangesNothingButTheOrder) {
  holds("reversed lists give the same findings", [] {
    Draft draft = any_draft();
    std::multiset<std::pair<std::string, std::string>> here;
    std::multiset<std::pair<std::string, std::string>> there;
    for (const Finding& f : check_contract(parsed(draft)).findings) here.emplace(f.diagnostic.code, f.name);
    for (auto& list : draft.lists) std::reverse(list.begin(), list.end());
    for (const Finding& f : check_contract(parsed(draft)).findings) there.emplace(f.diagnostic.code, f.name);
    RC_ASSERT(here == there);
  });
}

TEST(ContractLaws, EveryFindingStandsInTheText) {
  holds("the place of a finding is inside the text", [] {
    const Draft draft = any_draft();
    const std::string text = text_of(draft);
    const auto lines = std::count(text.begin(), text.end(), '\n');
    for (const Finding& f : check_contract(parsed(draft)).findings) {
      RC_ASSERT(f.diagnostic.line >= 1 && f.diagnostic.line <= lines);
      RC_ASSERT(f.diagnostic.column >= 1);
    }
  });
}

}  // namespace
}  // namespace plumbline
