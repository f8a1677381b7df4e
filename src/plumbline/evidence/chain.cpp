// SPDX-License-Identifier: Apache-2.0
// The chain: eval, card, contract and files belong together.
#include <algorithm>

#include "plumbline/base/numbers.h"
#include "plumbline/evidence/each.h"

namespace plumbline {
namespace {

/// A folder may be renamed and an op may be named freely: another card is one that the eval names and that
/// stands beside this one, or one that the harness wrote down.
void check_card(const Documents& in, Diagnostics& out) {
  if (!in.card) return;
  const EvalReport& eval = *in.eval;
  const std::string& card = in.card->name;
  const bool recorded = eval.origin && !eval.origin->card.empty();
  const std::string& named = recorded ? eval.origin->card : eval.op;
  if (!recorded && named.empty() && eval.harness.ours()) {
    out.push_back(diagnose("eval-op-differs",
                           fmt::format("the eval names no op, the card is {}", printable(card)),
                           place_in(eval, "")));
  }
  if (named.empty() || named == card) return;
  // The contract's own bytes are the card, whatever its folder is called now.
  const auto now = in.card->files.find("window.toml");
  if (recorded && now != in.card->files.end() && eval.origin->files.contains("window.toml") &&
      now->second == eval.origin->files.at("window.toml")) {
    return;
  }
  const auto& others = in.card->siblings;
  // Only our harness names the op after the card when nothing else is asked for.
  if (!recorded && !in.eval->harness.ours() && std::find(others.begin(), others.end(), named) == others.end())
    return;
  const bool other = recorded || std::find(others.begin(), others.end(), named) != others.end();
  out.push_back(diagnose(other ? "eval-other-card" : "eval-op-differs",
                         fmt::format("the eval is of {}, the card is {}", printable(named), printable(card)),
                         place_in(eval, recorded ? "/evidence/card" : "/op")));
}

bool holds(const std::vector<Field>& fields, const std::string& name) {
  return std::any_of(fields.begin(), fields.end(), [&](const Field& f) { return f.text == name; });
}

void check_receives(const Documents& in, bool student, Diagnostics& out) {
  const Side& side = student ? in.contract->student : in.contract->reference;
  const char* who = student ? "student" : "reference";
  std::vector<std::string> undeclared;
  std::vector<std::string> missing;
  const WorkloadReading* where = nullptr;
  const auto add = [](std::vector<std::string>& to, const std::string& name) {
    if (std::find(to.begin(), to.end(), name) == to.end()) to.push_back(name);
  };
  for (const WorkloadReading& w : in.eval->workloads) {
    const auto& receives = student ? w.student.receives : w.ref.receives;
    if (!receives) continue;
    for (const std::string& name : *receives) {
      if (holds(side.inputs, name)) continue;
      add(undeclared, name);
      if (!where) where = &w;
    }
    for (const Field& input : side.inputs) {
      if (std::find(receives->begin(), receives->end(), input.text) != receives->end()) continue;
      add(missing, input.text);
      if (!where) where = &w;
    }
  }
  const std::string_view below = student ? "/student_receives" : "/ref_receives";
  if (!undeclared.empty()) {
    out.push_back(diagnose("eval-receives-undeclared",
                           fmt::format("the {} received {}, which {}:{} does not list as its input{}", who,
                                       printable_list(undeclared), in.contract->file, side.inputs_at.line,
                                       undeclared.size() == 1 ? "" : "s"),
                           place_in(*in.eval, *where, below)));
  }
  if (!missing.empty()) {
    out.push_back(diagnose(
        "eval-receives-less",
        fmt::format("{}:{} lists {} as inputs of the {}, which did not receive {}", in.contract->file,
                    side.inputs_at.line, printable_list(missing), who, missing.size() == 1 ? "it" : "them"),
        place_in(*in.eval, *where, below)));
  }
}

void check_files(const Documents& in, Diagnostics& out) {
  if (const EvalReport& eval = *in.eval; eval.origin && !eval.origin->harness_version.empty() &&
                                         !eval.harness.version.empty() &&
                                         eval.origin->harness_version != eval.harness.version) {
    out.push_back(
        diagnose("evidence-changed",
                 fmt::format("the evidence is of harness version {}, the readings of {}",
                             printable(eval.origin->harness_version), printable(eval.harness.version)),
                 place_in(eval, "/evidence/harness_version")));
  }
  if (!in.card || !in.eval->origin) return;
  std::vector<std::string> changed;
  std::vector<std::string> gone;
  for (const auto& [path, hash] : in.eval->origin->files) {
    const auto now = in.card->files.find(path);
    if (now == in.card->files.end() || now->second == hash) continue;
    (now->second.empty() ? gone : changed).push_back(path);
  }
  for (const auto& [what, paths] : {std::pair{"changed since the run", &changed}, std::pair{"gone", &gone}}) {
    if (paths->empty()) continue;
    out.push_back(diagnose("evidence-changed",
                           fmt::format("{} {} {}: the readings are of what stood there before",
                                       printable_list(*paths), paths->size() == 1 ? "is" : "are", what),
                           place_in(*in.eval, "/evidence/files")));
  }
}

void check_switches(const Documents& in, Diagnostics& out) {
  if (in.eval->origin) {
    const auto& ref = in.eval->origin->ref_precision;
    const auto& student = in.eval->origin->student_precision;
    for (const auto& [name, value] : student) {
      if (ref.contains(name)) continue;
      out.push_back(diagnose("precision-differs",
                             fmt::format("{} is {} for the student and not stated for the reference",
                                         printable(name), printable(value)),
                             place_in(*in.eval, "/evidence/precision")));
    }
    for (const auto& [name, value] : ref) {
      const auto other = student.find(name);
      if (other == student.end() || other->second == value) continue;
      out.push_back(diagnose("precision-differs",
                             fmt::format("{} is {} for the reference and {} for the student: they may not do "
                                         "the same arithmetic",
                                         printable(name), printable(value), printable(other->second)),
                             place_in(*in.eval, "/evidence/precision")));
    }
  }
  each_workload(
      *in.eval, "graph-one-sided", "/graph_captured",
      [](const WorkloadReading& w) -> std::optional<std::string> {
        const bool known = w.ref.graph_captured && w.student.graph_captured;
        const bool one_alone = !known && (w.ref.graph_captured == true || w.student.graph_captured == true);
        if (one_alone) return std::string("one side ran out of a CUDA graph; of the other it is not said");
        if (!known || *w.ref.graph_captured == *w.student.graph_captured) return {};
        return fmt::format("only the {} ran from a CUDA graph: the other one's launches are in its window",
                           *w.student.graph_captured ? "student" : "reference");
      },
      out);
}

void check_workloads(const Documents& in, Diagnostics& out) {
  if (!in.card || in.eval->workloads.empty()) return;
  std::vector<std::string> missing;
  for (const std::string& name : in.card->workloads) {
    const bool there = std::any_of(in.eval->workloads.begin(), in.eval->workloads.end(),
                                   [&](const WorkloadReading& w) { return w.name == name; });
    if (!there) missing.push_back(name);
  }
  if (missing.empty()) return;
  const auto changed = [&] {  // an older run of a bench that has changed since: said as that
    if (!in.eval->origin) return false;
    const auto then = in.eval->origin->files.find("eval/bench.py");
    const auto now = in.card->files.find("eval/bench.py");
    return then != in.eval->origin->files.end() && now != in.card->files.end() && now->second != then->second;
  };
  if (changed()) return;
  out.push_back(diagnose("eval-workload-missing",
                         fmt::format("the bench names the workload{} {}, which the eval lacks: a dropped one "
                                     "would flatter the mean",
                                     missing.size() == 1 ? "" : "s", printable_list(missing)),
                         place_in(*in.eval, "/performance/workloads")));
}

}  // namespace

void check_chain(const Documents& in, Diagnostics& out) {
  check_card(in, out);
  if (in.contract->declared()) {
    check_receives(in, true, out);
    check_receives(in, false, out);
  }
  check_files(in, out);
  check_switches(in, out);
  check_workloads(in, out);
}

}  // namespace plumbline
