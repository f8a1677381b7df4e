// SPDX-License-Identifier: Apache-2.0
// A ConfirmView as the document that `confirm --json` prints.
#include <nlohmann/json.hpp>

#include "plumbline/report/confirm_view.h"

namespace plumbline {
namespace {

Json maybe(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json ends(const std::optional<Interval>& interval) {
  return interval ? Json{{"low", interval->low}, {"high", interval->high}} : Json();
}

Json list(const Diagnostics& diagnostics) {
  Findings findings;
  for (const Diagnostic& d : diagnostics) static_cast<Diagnostic&>(findings.emplace_back()) = d;
  return to_json(findings);
}

std::string_view name_of(Gaps gaps) { return gaps == Gaps::scale ? "scale" : "stay"; }

Json corner(const CreditCorner& corner) {
  return {{"student_gaps", name_of(corner.student)},
          {"reference_gaps", name_of(corner.reference)},
          {"ratio", corner.ratio},
          {"interval", ends(corner.interval)}};
}

Json credited_interval(const std::optional<CreditInterval>& interval) {
  if (!interval) return {};
  return {{"low", interval->interval.low},          {"high", interval->interval.high},
          {"low_from", corner(interval->least)},    {"high_from", corner(interval->most)},
          {"from_samples", interval->from_samples}, {"gaps_known", interval->gaps_known}};
}

Json window(const std::optional<WindowShare>& share) {
  if (!share) return {};
  return {{"window_ms", share->window_ms},
          {"busy_ms", share->busy_ms},
          {"coverage", share->coverage},
          {"gaps_ms", share->gaps_ms},
          {"unaccounted", share->unaccounted}};
}

Json workloads(const ConfirmView& view) {
  Json out = Json::array();
  for (const WorkloadLine& w : view.workloads) {
    out.push_back({{"name", w.name},
                   {"campaign", w.campaign},
                   {"ref_ms", maybe(w.ref_ms)},
                   {"student_ms", maybe(w.student_ms)},
                   {"ratio", maybe(w.ratio)},
                   {"aa_ratio", maybe(w.aa_ratio)},
                   {"ref_samples", w.ref_samples},
                   {"student_samples", w.student_samples}});
  }
  return out;
}

Json prep(const ConfirmView& view) {
  Json out = {
      {"ms", maybe(view.prep_ms)}, {"findings", to_json(view.prep_findings)}, {"break_even", nullptr}};
  if (view.break_even) {
    const BreakEven& even = *view.break_even;
    out["break_even"] = {{"side", to_string(even.side)},
                         {"prep_ms", even.prep_ms},
                         {"also_shared", even.also_shared},
                         {"calls", maybe(even.calls)},
                         {"calls_credited", maybe(even.calls_credited)}};
  }
  return out;
}

}  // namespace

Json confirm_json(const ConfirmView& view) {
  Json sources = Json::array();
  for (const Source& s : view.sources)
    sources.push_back({{"what", s.what}, {"file", s.file}, {"detail", s.detail}});
  return {
      {"card", view.card},
      {"run", view.run.empty() ? Json() : Json(view.run)},
      {"device", view.device},
      {"window", view.window},
      {"raw_ratio", maybe(view.raw_ratio)},
      {"raw_interval", ends(view.raw_interval)},
      {"gate", view.gate},
      {"passed", view.passed},
      {"verdict", view.verdict},
      {"credit", view.credit ? to_json(*view.credit) : Json()},
      {"credited", view.credited ? to_json(*view.credited) : Json()},
      {"credited_interval", credited_interval(view.credited_interval)},
      {"workloads", workloads(view)},
      {"windows", {{"student", window(view.student.window)}, {"reference", window(view.reference.window)}}},
      {"tables",
       {{"student", view.student_table ? to_json(*view.student_table) : Json()},
        {"reference", view.ref_table ? to_json(*view.ref_table) : Json()}}},
      {"prep", prep(view)},
      {"findings", list(view.failures)},
      {"warnings", list(view.doubts)},
      {"sources", sources}};
}

}  // namespace plumbline
