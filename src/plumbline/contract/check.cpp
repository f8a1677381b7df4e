// SPDX-License-Identifier: Apache-2.0
#include "plumbline/contract/check.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "plumbline/base/regex.h"
#include "plumbline/contract/name_set.h"
#include "plumbline/contract/slow_regex.h"

namespace plumbline {
namespace {

constexpr std::array<std::string_view, 4> kLists{"[reference].inputs", "[student].inputs",
                                                 "[reference].outputs", "[student].outputs"};
constexpr int kMostProbed = 20;  // patterns of one contract, so that a hostile file takes no minutes

/// The list that holds an entry's name, and the one of the other side, as indexes into kLists.
std::size_t own_list(EntryKind kind) { return static_cast<std::size_t>(kind); }
std::size_t other_list(EntryKind kind) { return own_list(kind) ^ 1U; }

class Checker {
 public:
  explicit Checker(const WindowContract& contract)
      : contract_(contract),
        lists_{&contract.reference.inputs, &contract.student.inputs, &contract.reference.outputs,
               &contract.student.outputs},
        names_{NameSet(*lists_[0]), NameSet(*lists_[1]), NameSet(*lists_[2]), NameSet(*lists_[3])} {}

  ContractVerdict check() {
    check_lists();
    if (!contract_.declared()) return std::move(verdict_);
    for (const Asymmetry& entry : contract_.asymmetries) check_entry(entry);
    for (std::size_t list = 0; list < kLists.size(); ++list) check_undeclared(static_cast<EntryKind>(list));
    for (const PricedEntry& entry : unpriced_entries(contract_)) warn_unpriced(entry);
    return std::move(verdict_);
  }

 private:
  Finding make(std::string_view code, TextPosition at, std::string message) const {
    return {diagnose(code, std::move(message), {contract_.file, at.line, at.column})};
  }

  Finding& find(std::string_view code, const Asymmetry& entry, TextPosition at, std::string message) {
    Finding& finding = verdict_.findings.emplace_back(make(code, at, std::move(message)));
    finding.kind = to_string(entry.kind);
    finding.name = entry.name.text;
    return finding;
  }

  bool in_own(const Asymmetry& entry) const { return names_[own_list(entry.kind)].has(entry.name.text); }
  bool in_other(const Asymmetry& entry) const { return names_[other_list(entry.kind)].has(entry.name.text); }

  void check_lists() {
    const std::array<std::pair<TextPosition, TextPosition>, 4> places{
        {{contract_.reference.inputs_at, contract_.reference.at},
         {contract_.student.inputs_at, contract_.student.at},
         {contract_.reference.outputs_at, contract_.reference.at},
         {contract_.student.outputs_at, contract_.student.at}}};
    for (std::size_t i = 0; i < kLists.size(); ++i) {
      if (!lists_[i]->empty()) continue;
      const bool absent = places[i].first.line == 0;
      Finding finding = make("list-empty", absent ? places[i].second : places[i].first,
                             fmt::format("{} {}: name every tensor that the timed call {}", kLists[i],
                                         absent ? "is missing" : "is empty", i < 2 ? "receives" : "makes"));
      finding.list = kLists[i];
      verdict_.findings.push_back(std::move(finding));
    }
  }

  void check_entry(const Asymmetry& entry) {
    if (!seen_.insert(entry)) {
      find("duplicate-entry", entry, entry.name.at,
           fmt::format("{} {} has an entry already; merge the two", to_string(entry.kind),
                       in_quotes(entry.name.text)));
      return;
    }
    if (entry.kind == EntryKind::ref_input || entry.kind == EntryKind::student_input) {
      NameSet& explained = explained_[other_list(entry.kind)];
      for (const std::string_view name : split_any(entry.derived_from.text, ",", true))
        explained.insert(name);
    }
    if (!in_own(entry)) check_listed(entry);
    if (!entry.treated) {
      check_class(entry);
      return;
    }
    check_sides(entry);
    check_producer(entry);
    check_shape(entry);
    check_regexes(entry);
  }

  void check_listed(const Asymmetry& entry) {
    std::vector<std::string_view> candidates;
    for (const Field& name : *lists_[own_list(entry.kind)]) candidates.push_back(name.text);
    const auto near = candidates.size() <= 200 ? nearest_name(entry.name.text, candidates) : std::nullopt;
    Finding& finding = find("name-not-listed", entry, entry.name.at,
                            fmt::format("{} {} is not in {}{}", to_string(entry.kind),
                                        in_quotes(entry.name.text), kLists[own_list(entry.kind)],
                                        near ? fmt::format("; did you mean {}?", in_quotes(*near))
                                             : "; add it there or remove the entry"));
    finding.list = kLists[own_list(entry.kind)];
  }

  void check_class(const Asymmetry& entry) {
    const Field& given = entry.entry_class;
    const auto near = nearest_name(given.text, kEntryClasses);
    find(
        "unknown-class", entry, given.at.line > 0 ? given.at : entry.at,
        given.empty()
            ? fmt::format("{} {} has no class: choose symmetrize (both sides receive it), price (the payer's "
                          "launches are named) or accept (knowingly paid)",
                          to_string(entry.kind), in_quotes(entry.name.text))
            : fmt::format("class {} is none of symmetrize, price, accept{}", in_quotes(given.text),
                          near ? fmt::format("; did you mean {}?", *near) : ""));
  }

  void check_sides(const Asymmetry& entry) {
    const std::string_view other = kLists[other_list(entry.kind)];
    const std::string name = in_quotes(entry.name.text);
    const bool symmetrize = entry.treated == EntryClass::symmetrize;
    if (is_output(entry.kind)) {
      if (symmetrize) {
        find("output-symmetrized", entry, entry.entry_class.at,
             fmt::format("{} is an output; only inputs can be symmetrized: price or accept it", name));
      } else if (in_other(entry)) {
        find("output-on-both-sides", entry, entry.name.at,
             fmt::format(
                 "both sides make {}, so there is nothing to {}: remove the entry or take it out of {}", name,
                 entry.entry_class.text, other));
      }
    } else if (symmetrize != in_other(entry)) {
      Finding& finding =
          symmetrize
              ? find("symmetrize-one-sided", entry, entry.name.at,
                     fmt::format("{} is symmetrized, so both sides must receive it: add it to {}", name,
                                 other))
              : find("input-on-both-sides", entry, entry.name.at,
                     fmt::format(
                         "both sides receive {}, so there is nothing to {}: class symmetrize, or take it "
                         "out of {}",
                         name, entry.entry_class.text, other));
      finding.list = other;
    }
  }

  void check_producer(const Asymmetry& entry) {
    const Field& producer = entry.produced_by;
    if (producer.empty() || entry.producer) return;
    const auto near = nearest_name(producer.text, kProducers);
    find("unknown-producer", entry, producer.at,
         fmt::format("produced_by {} is none of forward, prep, cache, other{}", in_quotes(producer.text),
                     near ? fmt::format("; did you mean {}?", *near) : ""));
  }

  void check_shape(const Asymmetry& entry) {
    const std::string name = in_quotes(entry.name.text);
    if (is_prep_checked(entry)) {
      const TextPosition at = entry.name.at;
      if (entry.shape.empty()) {
        find("missing-shape", entry, entry.shape_at.line > 0 ? entry.shape_at : at,
             fmt::format("{} is symmetrized: declare its shape, which the prep report is held to", name));
      }
      if (entry.dtype.empty()) {
        find("missing-dtype", entry, entry.dtype.at.line > 0 ? entry.dtype.at : at,
             fmt::format("{} is symmetrized: declare its dtype, which the prep report is held to", name));
      }
    } else if (!entry.shape.empty() || !entry.dtype.empty() || !entry.workload_shapes.empty()) {
      const TextPosition at = entry.shape_at.line > 0 ? entry.shape_at : entry.dtype.at;
      find("stray-shape-dtype", entry, at.line > 0 ? at : entry.at,
           fmt::format(
               "{} is made by no prep step ({}), so nothing holds its shape and dtype: remove them", name,
               entry.treated == EntryClass::symmetrize ? "produced_by = \"cache\""
                                                       : fmt::format("class {}", entry.entry_class.text)));
    }
  }

  void check_regexes(const Asymmetry& entry) {
    const Field& regex = entry.payer_regex();
    const std::string_view payer = to_string(payer_of(entry.kind));
    const bool priced = entry.treated == EntryClass::price;
    if (!entry.other_regex().empty()) {
      const bool student_pays = payer_of(entry.kind) == Payer::student;
      find("regex-wrong-side", entry, entry.other_regex().at,
           fmt::format("the {} pays for {}, so its launches are the ones to name: {}, not {}", payer,
                       in_quotes(entry.name.text), student_pays ? "student_kernel_regex" : "ref_kernel_regex",
                       student_pays ? "ref_kernel_regex" : "student_kernel_regex"));
    }
    if (!priced) {
      if (!regex.empty()) {
        find("regex-not-priced", entry, regex.at,
             fmt::format("only class price takes a regex, and {} is class {}: remove it or price the entry",
                         in_quotes(entry.name.text), entry.entry_class.text));
      }
      return;
    }
    if (regex.empty()) return;  // warned of with the other unpriced entries
    const Regex::Compiled compiled = Regex::compile(regex.text, false);
    if (!compiled.ok()) {
      find("regex-invalid", entry, regex.at,
           fmt::format("{} is not a regular expression: {} (at character {} of it)", in_quotes(regex.text),
                       compiled.error, position_at(regex.text, compiled.offset).column));
    } else if (probed_++ < kMostProbed) {
      if (const auto text = text_beyond_limits(compiled.regex.front(), regex.text))
        warn_slow(entry, regex, *text);
    }
  }

  void warn_slow(const Asymmetry& entry, const Field& regex, const std::string& text) {
    warn("regex-slow", entry.kind, entry.name.text, regex.at,
         fmt::format("{} backtracks past the match limits on a name such as {}: on such a kernel nothing can "
                     "be credited",
                     in_quotes(regex.text), in_quotes(text, 24)));
  }

  void warn(std::string_view code, EntryKind kind, const std::string& name, TextPosition at,
            std::string message) {
    Finding& warning = verdict_.warnings.emplace_back(make(code, at, std::move(message)));
    warning.kind = to_string(kind);
    warning.name = name;
  }

  /// Every priced entry, examined or not: a duplicate names no launches either.
  void warn_unpriced(const PricedEntry& entry) {
    warn("price-without-regex", entry.kind, entry.name, entry.at,
         fmt::format("{} is priced, yet no launches of the {} are named: nothing can be credited",
                     in_quotes(entry.name), to_string(entry.payer)));
  }

  void check_undeclared(EntryKind kind) {
    static constexpr std::array<std::string_view, 4> kCodes{
        "undeclared-ref-input", "undeclared-student-input", "undeclared-ref-output",
        "undeclared-student-output"};
    for (const Field& name : *lists_[own_list(kind)]) {
      if (names_[other_list(kind)].has(name.text) || seen_.has(kind, name.text)) continue;
      if (explained_[own_list(kind)].has(name.text)) continue;
      const bool output = is_output(kind);
      const bool of_reference = kind == EntryKind::ref_input || kind == EntryKind::ref_output;
      Finding finding =
          make(kCodes[own_list(kind)], name.at,
               fmt::format("only the {} {} {}: declare it with [[asymmetry]] {} = {} and a class ({})",
                           of_reference ? "reference" : "student", output ? "makes" : "receives",
                           in_quotes(name.text), to_string(kind), in_quotes(name.text),
                           output ? "price or accept" : "symmetrize, price or accept"));
      finding.kind = to_string(kind);
      finding.name = name.text;
      verdict_.findings.push_back(std::move(finding));
    }
  }

  const WindowContract& contract_;
  std::array<const std::vector<Field>*, 4> lists_;  // indexed as EntryKind and kLists
  std::array<NameSet, 4> names_;
  std::array<NameSet, 4> explained_;  // names of that list that an entry of the other side explains
  EntrySet seen_;
  int probed_ = 0;
  ContractVerdict verdict_;
};

}  // namespace

ContractVerdict check_contract(const WindowContract& contract) { return Checker(contract).check(); }

Finding contract_absent(const std::string& path) {
  return {diagnose("contract-absent",
                   "the card has no window.toml, so nothing says what the two windows hold", {path, 0, 0})};
}

}  // namespace plumbline
