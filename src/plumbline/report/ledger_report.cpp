// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/ledger_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/report/text_table.h"

namespace plumbline {
namespace {

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

std::string fixed_or_dash(const std::optional<double>& value, int digits) {
  return value ? format_fixed(*value, digits) : "-";
}

Style outcome_style(const std::string& outcome) {
  if (outcome == "pass") return Style::good;
  if (outcome == "within-noise" || outcome == "infrastructure" || outcome == "withdrawn") return Style::warn;
  return Style::bad;
}

std::string with_interval(const std::optional<double>& value, const std::optional<double>& low,
                          const std::optional<double>& high) {
  std::string out = fixed_or_dash(value, 4);
  if (low && high) out += fmt::format("  {} to {}", format_fixed(*low, 4), format_fixed(*high, 4));
  return out;
}

}  // namespace

Json run_line_json(const ledger::RunLine& line) {
  return {{"run", line.id},
          {"ident", line.ident},
          {"card", line.card},
          {"made_at", line.made_at},
          {"name", line.name},
          {"outcome", line.outcome},
          {"series", line.series},
          {"gate", number_or_null(line.gate)},
          {"raw_ratio", number_or_null(line.raw_ratio)},
          {"raw_low", number_or_null(line.raw_low)},
          {"raw_high", number_or_null(line.raw_high)},
          {"credited_ratio", number_or_null(line.credited_ratio)},
          {"student_ms", number_or_null(line.student_ms)},
          {"ref_ms", number_or_null(line.ref_ms)},
          {"corrects", line.corrects ? Json(*line.corrects) : Json()},
          {"corrected_by", line.corrected_by ? Json(*line.corrected_by) : Json()},
          {"note", line.note}};
}

std::string run_list_text(const std::vector<ledger::RunLine>& lines, const Look& look) {
  if (lines.empty()) return "no runs\n";
  TextTable table;
  table.columns = {{"run", Align::right},
                   {"made at (UTC)"},
                   {"card", Align::left, 28},
                   {"outcome"},
                   {"raw", Align::right},
                   {"credited", Align::right},
                   {"student ms", Align::right},
                   {"ref ms", Align::right},
                   {"remark", Align::left, 40, true}};
  for (const auto& line : lines) {
    std::string remark = one_line(line.note);
    if (line.corrects)
      remark = fmt::format("corrects {}{}{}", *line.corrects, remark.empty() ? "" : ": ", remark);
    if (line.corrected_by) remark = fmt::format("corrected by {}", *line.corrected_by);
    table.rows.push_back({std::to_string(line.id), line.made_at.substr(0, 16), printable(line.card),
                          Cell(line.outcome, outcome_style(line.outcome)), fixed_or_dash(line.raw_ratio, 4),
                          fixed_or_dash(line.credited_ratio, 4), fixed_or_dash(line.student_ms, 5),
                          fixed_or_dash(line.ref_ms, 5), remark});
  }
  return render_text(table, look);
}

Json stored_run_json(const ledger::StoredRun& run) {
  Json out = ledger::to_json(run.record);
  out["run"] = run.id;
  out["series_number"] = run.series;
  out["corrected_by"] = run.corrected_by ? Json(*run.corrected_by) : Json();
  out["student"] = run.record.code.student;
  out["contract"] = run.record.code.contract;
  out["bench"] = run.record.code.bench;
  return out;
}

std::string stored_run_text(const ledger::StoredRun& run, const Look& look) {
  const ledger::RunRecord& r = run.record;
  std::string out = fmt::format("run {}  {}  {}  {}\n", run.id, printable(r.card),
                                styled(r.outcome, outcome_style(r.outcome), look.color), r.made_at);
  const auto line = [&](std::string_view what, const std::string& value) {
    if (!value.empty()) out += fmt::format("  {:<16} {}\n", what, value);
  };
  line("ident", r.ident);
  line("name", one_line(r.name));
  line("corrects", r.corrects);
  if (run.corrected_by) line("corrected by", fmt::format("run {}", *run.corrected_by));
  line("note", one_line(r.note));
  if (r.raw_ratio) {
    line("raw ratio",
         with_interval(r.raw_ratio, r.raw_low, r.raw_high) + "  the gate, " + fixed_or_dash(r.gate, 3));
    line("credited ratio", with_interval(r.credited_ratio, r.credited_low, r.credited_high));
    line("student", fixed_or_dash(r.student_ms, 5) + " ms");
    line("reference", fixed_or_dash(r.ref_ms, 5) + " ms");
    if (r.prep_ms) line("prep", fixed_or_dash(r.prep_ms, 4) + " ms");
    if (r.sm_mhz) line("SM clock", fixed_or_dash(r.sm_mhz, 0) + " MHz");
  }
  line("GPU", one_line(r.series.gpu));
  line("driver", one_line(r.series.driver));
  line("window", one_line(r.series.timed));
  line("harness", one_line(r.series.harness));
  if (!r.readings.empty()) {
    TextTable table;
    table.columns = {{"workload", Align::left, 40},
                     {"ratio", Align::right},
                     {"student ms", Align::right},
                     {"ref ms", Align::right},
                     {"noise %", Align::right}};
    for (const ledger::Reading& w : r.readings) {
      table.rows.push_back({one_line(w.workload), fixed_or_dash(w.ratio, 4), fixed_or_dash(w.student_ms, 5),
                            fixed_or_dash(w.ref_ms, 5),
                            w.noise ? format_fixed(100 * *w.noise, 2) : std::string("-")});
    }
    out += "\n" + render_text(table, look, 2);
  }
  if (!r.parts.empty() || !r.code.files.empty()) {
    TextTable table;
    table.columns = {{"document"}, {"SHA-256"}};
    for (const auto& [kind, hash] : r.parts) table.rows.push_back({kind, hash.substr(0, 16)});
    for (const auto& [path, hash] : r.code.files) table.rows.push_back({one_line(path), hash.substr(0, 16)});
    out += "\n" + render_text(table, look, 2);
  }
  return out;
}

}  // namespace plumbline
