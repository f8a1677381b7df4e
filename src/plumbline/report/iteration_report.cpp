// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/iteration_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "plumbline/base/text.h"
#include "plumbline/ledger/record.h"
#include "plumbline/report/verdict.h"

namespace plumbline {
namespace {

/// How much of everything is written.
struct Room {
  std::size_t items;
  std::size_t text;
};

Json maybe(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json ends(const std::optional<Interval>& interval) {
  return interval ? Json{interval->low, interval->high} : Json();
}

std::string cut(const std::string& text, const Room& room) { return cut_middle(printable(text), room.text); }

Json reasons(const Diagnostics& all, const Room& room) {
  Json out = Json::array();
  for (std::size_t i = 0; i < std::min(all.size(), room.items); ++i) {
    Json reason = reason_json(all[i]);
    reason["message"] = cut(all[i].message, room);
    if (reason["file"].is_string()) reason["file"] = cut(all[i].file, room);
    out.push_back(std::move(reason));
  }
  return out;
}

Json workloads(const ConfirmView& view, const Room& room) {
  Json out = Json::array();
  for (const WorkloadLine& w : view.workloads) {
    if (out.size() == room.items) break;
    out.push_back({{"name", cut(w.name, room)},
                   {"ratio", maybe(w.ratio)},
                   {"student_ms", maybe(w.student_ms)},
                   {"ref_ms", maybe(w.ref_ms)},
                   {"credited_ratio", maybe(w.credited_ratio)}});
  }
  return out;
}

Json kernels(const SideView& side, const Room& room) {
  Json out = Json::array();
  for (const KernelLine& kernel : side.kernels) {
    if (out.size() == std::min<std::size_t>(8, room.items)) break;
    out.push_back({{"name", cut(kernel.name, room)},
                   {"launches", kernel.launches_shown},
                   {"us", kernel.us},
                   {"share", kernel.share_pct / 100},
                   {"pays_for", cut(kernel.pays_for, room)}});
  }
  return out;
}

Json evidence(const Iteration& it, bool reading, const Room& room) {
  Json out = Json::object();
  if (it.view && reading) {
    out["workloads"] = workloads(*it.view, room);
    out["student_kernels"] = kernels(it.view->student, room);
    out["ref_kernels"] = kernels(it.view->reference, room);
  }
  if (it.use) {
    out["step"] = {{"seconds", it.use->seconds},
                   {"memory_bytes", it.use->most_memory},
                   {"processes", it.use->most_processes},
                   {"written_bytes", it.use->written_bytes},
                   {"output_bytes", it.use->output_bytes}};
  }
  if (!it.output.empty()) {
    // The end of what a program says is where it says why it ended.
    const std::size_t keep = 8 * room.text;
    std::size_t from = it.output.size() > keep ? it.output.size() - keep : 0;
    while (from < it.output.size() && (static_cast<unsigned char>(it.output[from]) & 0xC0U) == 0x80U) ++from;
    out["output"] = printable(it.output.substr(from));
  }
  return out;
}

Json document(const Iteration& it, const Room& room) {
  const bool reading = ledger::is_reading(it.outcome);
  const auto number = [&](const std::optional<double>& value) { return reading ? maybe(value) : Json(); };
  const ConfirmView* view = it.view ? &*it.view : nullptr;
  const std::optional<double> ratio = view ? view->raw_ratio : std::nullopt;
  Json next = Json::array();
  for (std::size_t i = 0; i < std::min(it.read_next.size(), room.items); ++i)
    next.push_back({{"read", cut(it.read_next[i].what, room)}, {"why", cut(it.read_next[i].why, room)}});
  Json earlier;
  if (it.earlier && reading && ratio) {
    earlier = {{"run", it.earlier->run},
               {"made_at", it.earlier->made_at},
               {"raw_ratio", it.earlier->raw_ratio},
               {"change", *ratio / it.earlier->raw_ratio - 1}};
  }
  return {
      {"plumbline_iteration", 1},
      {"card", it.card},
      {"run", it.run.empty() ? Json() : Json(it.run)},
      {"folder", it.folder.empty() ? Json() : Json(it.folder)},
      {"class", it.outcome},
      {"passed", it.outcome == "pass"},
      {"score", number(ratio)},
      {"retryable", it.outcome == "infrastructure" || it.outcome == "within-noise"},
      {"verdict", cut(it.verdict, room)},
      {"gate", it.gate},
      {"raw_ratio", number(ratio)},
      {"raw_interval", reading && view ? ends(view->raw_interval) : Json()},
      {"credited_ratio", reading && view && view->credited ? Json(view->credited->credited_ratio) : Json()},
      {"credited_interval",
       reading && view && view->credited_interval ? ends(view->credited_interval->interval) : Json()},
      {"prep_ms", number(view ? view->prep_ms : std::nullopt)},
      {"earlier", earlier},
      {"reasons", reasons(it.reasons, room)},
      {"reasons_left_out", it.reasons.size() - std::min(it.reasons.size(), room.items)},
      {"evidence", evidence(it, reading, room)},
      {"read_next", next},
      {"banked", it.banked}};
}

}  // namespace

int iteration_status(const std::string& outcome) {
  if (outcome == "pass") return kExitOk;
  if (outcome == "refused") return kExitRefused;
  return outcome == "bench-defect" || outcome == "infrastructure" ? kExitUsage : kExitGate;
}

Json iteration_json(const Iteration& iteration) {
  Room room{32, 1024};
  for (;;) {
    Json made = document(iteration, room);
    if (write_json_line(made).size() < kLongestIteration || room.text <= 32) return made;
    room = {std::max<std::size_t>(1, room.items / 2), room.text / 2};
  }
}

}  // namespace plumbline
