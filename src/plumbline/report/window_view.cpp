// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/window_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "plumbline/base/code_counter.h"
#include "plumbline/contract/name_set.h"

namespace plumbline {
namespace {

constexpr std::size_t kNameChars = 40;
constexpr std::size_t kDetailChars = 56;
constexpr std::size_t kMostListed = 25;

/// What the checked entry of a kind and name says; the first one counts, as in the checks.
class Entries {
 public:
  explicit Entries(const WindowContract& contract) {
    for (const Asymmetry& entry : contract.asymmetries)
      by_name_[index(entry.kind)].emplace(entry.name.text, &entry);
  }
  const Asymmetry* find(EntryKind kind, const std::string& name) const {
    const auto& map = by_name_[index(kind)];
    const auto found = map.find(name);
    return found == map.end() ? nullptr : found->second;
  }

 private:
  static std::size_t index(EntryKind kind) { return static_cast<std::size_t>(kind); }
  std::unordered_map<std::string, const Asymmetry*> by_name_[4];
};

std::string held_to(const Asymmetry& entry) {
  if (!is_prep_checked(entry)) return "made by a cache";
  const std::string shape =
      entry.shape.empty() ? "shape missing" : fmt::format("[{}]", fmt::join(entry.shape, ", "));
  return fmt::format("made by {}: {}{}, {}",
                     entry.produced_by.empty() ? "prep" : one_line(entry.produced_by.text), shape,
                     entry.workload_shapes.empty() ? "" : " or the workload's",
                     entry.dtype.empty() ? "dtype missing" : one_line(entry.dtype.text));
}

void apply_entry(const Asymmetry& entry, WindowRow& row) {
  row.entry_class = entry.entry_class.empty() ? "no class" : one_line(entry.entry_class.text);
  if (entry.treated == EntryClass::symmetrize) {
    row.detail = held_to(entry);
    row.style = Style::good;
    return;
  }
  row.style = Style::warn;
  if (entry.treated == EntryClass::price) {
    const Field& regex = entry.payer_regex();
    row.detail = regex.empty() ? "(no launches named: not credited)" : one_line(regex.text);
  } else if (entry.treated == EntryClass::accept) {
    row.detail = one_line(entry.note.text);
  } else {
    row.style = Style::bad;
    return;
  }
  row.payer = to_string(payer_of(entry.kind));
}

std::unordered_map<std::string, std::string> explanations(const WindowContract& contract, EntryKind by) {
  std::unordered_map<std::string, std::string> out;
  for (const Asymmetry& entry : contract.asymmetries) {
    if (entry.kind != by) continue;
    for (const auto name : split_any(entry.derived_from.text, ",", true)) out.emplace(name, entry.name.text);
  }
  return out;
}

class Collector {
 public:
  explicit Collector(const WindowContract& contract)
      : entries_(contract),
        explains_student_(explanations(contract, EntryKind::ref_input)),
        explains_reference_(explanations(contract, EntryKind::student_input)) {}

  void add(std::vector<WindowRow>& rows, const std::string& name, bool output, bool reference,
           bool student) const {
    WindowRow row{name, output, reference, student, {}, {}, {}, Style::plain};
    const EntryKind ref_kind = output ? EntryKind::ref_output : EntryKind::ref_input;
    const EntryKind student_kind = output ? EntryKind::student_output : EntryKind::student_input;
    const Asymmetry* entry = reference ? entries_.find(ref_kind, name) : nullptr;
    if (entry == nullptr && student) entry = entries_.find(student_kind, name);
    if (entry != nullptr) {
      apply_entry(*entry, row);
    } else if (reference != student) {
      explain(row);
    }
    rows.push_back(std::move(row));
  }

 private:
  void explain(WindowRow& row) const {
    const auto& reasons = row.student ? explains_student_ : explains_reference_;
    const auto reason = row.output ? reasons.end() : reasons.find(row.tensor);
    if (reason != reasons.end()) {
      row.entry_class = "explained";
      row.detail = fmt::format("{} is derived from it", one_line(reason->second));
      row.style = Style::dim;
    } else {
      row.entry_class = "undeclared";
      row.style = Style::bad;
    }
  }

  Entries entries_;
  std::unordered_map<std::string, std::string> explains_student_;
  std::unordered_map<std::string, std::string> explains_reference_;
};

void add_rows(const Collector& collector, std::vector<WindowRow>& rows, const std::vector<Field>& reference,
              const std::vector<Field>& student, bool output) {
  const NameSet of_reference(reference);
  const NameSet of_student(student);
  for (const Field& name : reference) collector.add(rows, name.text, output, true, of_student.has(name.text));
  for (const Field& name : student) {
    if (!of_reference.has(name.text)) collector.add(rows, name.text, output, false, true);
  }
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string summarize(const WindowContract& contract, const Findings& findings, const Findings& warnings) {
  const std::string warned = warnings.empty() ? "" : ", " + counted(warnings.size(), "warning");
  if (refuses(findings)) return fmt::format("refused: {}{}", counted(findings.size(), "finding"), warned);
  const auto of_class = [&](EntryClass treated) {
    return std::count_if(contract.asymmetries.begin(), contract.asymmetries.end(),
                         [&](const Asymmetry& entry) { return entry.treated == treated; });
  };
  return fmt::format("declared: {} priced, {} symmetrized, {} accepted{}", of_class(EntryClass::price),
                     of_class(EntryClass::symmetrize), of_class(EntryClass::accept), warned);
}

TextTable boundary_table(const WindowView& view) {
  TextTable table;
  table.columns = {
      {"tensor", Align::left, kNameChars}, {"reference"}, {"student"},
      {"class", Align::left, kNameChars},  {"pays"},      {"what for", Align::left, kDetailChars}};
  for (std::size_t i = 0; i < view.rows.size(); ++i) {
    const WindowRow& row = view.rows[i];
    if (i > 0 && row.output != view.rows[i - 1].output) table.rows.emplace_back();
    const std::string has = row.output ? "makes" : "receives";
    table.rows.push_back(
        {Cell(one_line(row.tensor), row.reference && row.student ? Style::plain : Style::bold),
         row.reference ? Cell(has) : Cell("–", Style::dim), row.student ? Cell(has) : Cell("–", Style::dim),
         Cell(row.entry_class, row.style), Cell(row.payer),
         Cell(row.detail, row.style == Style::dim ? Style::dim : Style::plain)});
  }
  return table;
}

std::string markdown_findings(std::string_view title, const Findings& findings) {
  if (findings.empty()) return {};
  std::string out = fmt::format("\n**{}**\n\n", title);
  for (std::size_t i = 0; i < std::min(findings.size(), kMostListed); ++i) {
    const Diagnostic& diagnostic = findings[i].diagnostic;
    out += fmt::format("- line {}: {} `{}`\n", diagnostic.line, markdown_text(diagnostic.message),
                       diagnostic.code);
  }
  if (findings.size() > kMostListed)
    out += fmt::format("- {} more are not shown\n", findings.size() - kMostListed);
  return out;
}

}  // namespace

WindowView collect_window(const WindowContract& contract, const Findings& findings,
                          const Findings& warnings) {
  WindowView view{
      contract.file, contract.reference.window.text,         contract.student.window.text, {}, findings,
      warnings,      summarize(contract, findings, warnings)};
  const Collector collector(contract);
  add_rows(collector, view.rows, contract.reference.inputs, contract.student.inputs, false);
  add_rows(collector, view.rows, contract.reference.outputs, contract.student.outputs, true);
  return view;
}

std::string render_text(const WindowView& view, const Look& look) {
  std::string out = styled(one_line(view.file), Style::bold, look.color) + "\n";
  const auto window = [&](std::string_view side, const std::string& text) {
    out += fmt::format("  {:<10} {}\n", side,
                       text.empty() ? "(window not described)" : cut_middle(one_line(text), 200));
  };
  window("reference", view.reference_window);
  window("student", view.student_window);
  if (!view.rows.empty()) out += "\n" + render_text(boundary_table(view), look, 2);
  if (!view.findings.empty() || !view.warnings.empty()) out += "\n";
  for (const Findings* list : {&view.findings, &view.warnings}) {
    CodeCounter counter;
    for (const Finding& finding : *list) {
      if (counter.shows(finding.diagnostic))
        out += format_diagnostic(finding.diagnostic, {}, look.color) + "\n";
    }
    for (const CodeCounter::Rest& rest : counter.rest())
      out += fmt::format("{} [{}]\n", rest.diagnostic.message, rest.diagnostic.code);
  }
  const bool refused = refuses(view.findings);
  return out + "\n" + styled(view.summary, refused ? Style::bad : Style::good, look.color) + "\n";
}

std::string render_markdown(const WindowView& view) {
  std::string out = fmt::format("### {}\n\n", markdown_text(view.file));
  out += fmt::format("reference: {} · student: {}\n\n", markdown_text(cut_middle(view.reference_window, 200)),
                     markdown_text(cut_middle(view.student_window, 200)));
  if (!view.rows.empty()) out += render_markdown(boundary_table(view), kMostListed);
  out += markdown_findings("Findings", view.findings);
  out += markdown_findings("Warnings", view.warnings);
  return out + "\n" + view.summary + "\n";
}

Json window_json(std::string_view malformed, const WindowContract* contract, const Findings& findings,
                 const Findings& warnings) {
  Json out = {{"malformed", nullptr},          {"declared", contract != nullptr && contract->declared()},
              {"findings", to_json(findings)}, {"warnings", to_json(warnings)},
              {"prep_entries", Json::array()}, {"priced", Json::array()}};
  if (!malformed.empty()) out["malformed"] = malformed;
  if (contract == nullptr) return out;
  for (const Asymmetry* entry : prep_entries(*contract)) out["prep_entries"].push_back(entry->name.text);
  for (const PricedEntry& entry : priced_entries(*contract)) {
    out["priced"].push_back({{"kind", to_string(entry.kind)},
                             {"name", entry.name},
                             {"payer", to_string(entry.payer)},
                             {"regex", entry.regex}});
  }
  return out;
}

}  // namespace plumbline
