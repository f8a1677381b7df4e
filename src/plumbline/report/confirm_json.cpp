// SPDX-License-Identifier: Apache-2.0
// A ConfirmView as the document that `confirm --json` prints.
#include <nlohmann/json.hpp>

#include "plumbline/report/confirm_view.h"
#include "plumbline/report/verdict.h"

namespace plumbline {
namespace {

Json maybe(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json ends(const std::optional<Interval>& interval) {
  return interval ? Json{{"low", interval->low}, {"high", interval->high}} : Json();
}

Json list(const Diagnostics& diagnostics) {
  Findings findings;
  for (const Diagnostic& d : diagnostics) findings.push_back({d});
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
                   {"per_call_ratio", maybe(w.per_call_ratio)},
                   {"credited_ratio", maybe(w.credited_ratio)},
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

Json numbers(const ConfirmView& view) {
  return {{"raw_ratio", maybe(view.raw_ratio)},
          {"raw_interval", ends(view.raw_interval)},
          {"per_call_ratio", maybe(view.per_call_ratio)},
          {"gate", view.gate},
          {"within_noise", view.within_noise},
          {"credited_ratio", view.credited ? Json(view.credited->credited_ratio) : Json()},
          {"credited_beside_raw", view.credited ? Json(view.credited->raw_ratio) : Json()},
          {"credited_mean", maybe(view.credited_mean)}};
}

Json against(const ConfirmView& view) {
  if (!view.against) return {};
  const Rerun& rerun = *view.against;
  Json lines = Json::array();
  for (const RerunLine& w : rerun.workloads) {
    lines.push_back(
        {{"name", w.name}, {"before", maybe(w.before)}, {"now", maybe(w.now)}, {"noise", maybe(w.noise)}});
  }
  const auto moved = rerun.moved();
  return {{"run", rerun.run},
          {"comparable", rerun.comparable()},
          {"apart", rerun.apart},
          {"before", maybe(rerun.before)},
          {"now", maybe(rerun.now)},
          {"change", maybe(rerun.change())},
          {"noise", maybe(rerun.noise)},
          {"moved", moved ? Json(*moved) : Json()},
          {"workloads", lines}};
}

}  // namespace

Json confirm_json(const ConfirmView& view) {
  Json sources = Json::array();
  for (const Source& s : view.sources) {
    sources.push_back({{"what", s.what}, {"file", s.file}, {"detail", s.detail}});
    if (!s.sha256.empty()) sources.back()["sha256"] = s.sha256;
  }
  Json document = verdict_json(view.passed, view.verdict, view.reasons, numbers(view));
  document.update(Json{
      {"card", view.card},
      {"run", view.run.empty() ? Json() : Json(view.run)},
      {"device", view.device},
      {"window", view.window},
      {"harness",
       {{"name", view.harness.name.empty() ? Json() : Json(view.harness.name)},
        {"version", view.harness.version.empty() ? Json() : Json(view.harness.version)}}},
      {"raw_ratio", maybe(view.raw_ratio)},
      {"raw_interval", ends(view.raw_interval)},
      {"gate", view.gate},
      {"passed", view.passed},
      {"within_noise", view.within_noise},
      {"per_call_ratio", maybe(view.per_call_ratio)},
      {"against", against(view)},
      {"one_sided_kernels", {{"student", view.one_sided.student}, {"reference", view.one_sided.reference}}},
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
      {"sources", sources}});
  return document;
}

}  // namespace plumbline
