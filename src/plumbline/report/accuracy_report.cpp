// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/accuracy_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/base/code_counter.h"
#include "plumbline/base/numbers.h"
#include "plumbline/report/text_table.h"

namespace plumbline {
namespace {

std::string shown(const std::optional<double>& figure, int digits = 2) {
  return figure ? format_fixed(*figure, digits) : "–";
}

}  // namespace

Json accuracy_json(const Accuracy& errors) {
  Json out = Json::object();
  for (const auto& [name, member] : kAccuracyFigures) {
    if (errors.*member) out[std::string(name)] = *(errors.*member);
  }
  return out;
}

std::string calibration_text(const Calibration& calibration, const Look& look) {
  std::int64_t kept = 0, named = 0, rejected = 0;
  for (const RowFile& file : calibration.source.rows) {
    (file.kernel_names ? named : kept) += file.rows;
    rejected += file.rejected;
  }
  std::string out = fmt::format(
      "source {}: {} rows of {} files used, {} rejected{}\n\nErrors on sites that the fold's fit did not "
      "see, "
      "per cent\n",
      calibration.source.name, format_grouped(kept), calibration.source.rows.size(), format_grouped(rejected),
      named > 0 ? fmt::format("; {} kernel names", format_grouped(named)) : "");
  TextTable table;
  table.columns = {{"operation"},
                   {"rows", Align::right},
                   {"sites", Align::right},
                   {"roofline", Align::right},
                   {"formula", Align::right},
                   {"MAPE", Align::right},
                   {"median", Align::right},
                   {"p90", Align::right},
                   {"bias", Align::right},
                   {"pairs", Align::right},
                   {"tau", Align::right},
                   {"band covers", Align::right}};
  for (const FoldReport& fold : calibration.folds) {
    const auto& e = fold.errors;
    table.rows.push_back({fold.op,
                          format_grouped(fold.rows),
                          fold.sites > 0 ? format_grouped(fold.sites) : "–",
                          shown(e.roofline_mape_pct, 1),
                          shown(e.formula_mape_pct, 1),
                          {shown(e.mape_pct), Style::bold},
                          shown(e.median_pct),
                          shown(e.p90_pct),
                          shown(e.bias_pct),
                          shown(e.pair_pct, 1),
                          shown(e.kendall_tau, 3),
                          shown(e.coverage_pct, 1)});
  }
  return out + render_text(table, look);
}

bool usable(const CheckedTable& table) { return !has_errors(table.findings) && table.file.rows > 0; }

std::string checked_text(const std::vector<CheckedTable>& tables, const Look& look) {
  TextTable out{{{"file"}, {"GPU"}, {"rows", Align::right}, {"set apart", Align::right}, {"usable"}}, {}};
  for (const CheckedTable& table : tables) {
    out.rows.push_back({table.file.name, table.hardware, format_grouped(table.file.rows),
                        format_grouped(table.file.rejected),
                        usable(table) ? Cell{"yes"} : Cell{"NO", Style::bad}});
  }
  return render_text(out, look);
}

Json checked_json(const std::vector<CheckedTable>& tables) {
  Json out = Json::array();
  for (const CheckedTable& table : tables) {
    Json findings = Json::array();
    CodeCounter counter;
    for (const Diagnostic& d : table.findings) {
      if (counter.shows(d)) findings.push_back({{"line", d.line}, {"code", d.code}, {"message", d.message}});
    }
    for (const CodeCounter::Rest& rest : counter.rest()) {
      findings.push_back(
          {{"code", rest.diagnostic.code}, {"message", rest.diagnostic.message}, {"left_out", rest.count}});
    }
    out.push_back({{"file", table.file.name},
                   {"sha256", table.file.sha256},
                   {"hardware", table.hardware},
                   {"rows", table.file.rows},
                   {"rejected", table.file.rejected},
                   {"usable", usable(table)},
                   {"findings", findings}});
  }
  return out;
}

Json calibration_json(const Calibration& calibration, const Diagnostics& rejected) {
  Json files = Json::array(), rows = Json::array(), folds = Json::array();
  for (const RowFile& file : calibration.source.rows) {
    files.push_back(
        {{"file", file.name}, {"sha256", file.sha256}, {"rows", file.rows}, {"rejected", file.rejected}});
  }
  CodeCounter counter;
  for (const Diagnostic& d : rejected) {
    if (!counter.shows(d)) continue;
    rows.push_back({{"file", d.file}, {"line", d.line}, {"code", d.code}, {"message", d.message}});
  }
  for (const CodeCounter::Rest& rest : counter.rest()) {
    rows.push_back(
        {{"code", rest.diagnostic.code}, {"message", rest.diagnostic.message}, {"left_out", rest.count}});
  }
  for (const FoldReport& fold : calibration.folds) {
    folds.push_back({{"op", fold.op},
                     {"rows", fold.rows},
                     {"sites", fold.sites},
                     {"errors", accuracy_json(fold.errors)}});
  }
  return {{"source", calibration.source.name}, {"files", files}, {"rejected", rows}, {"folds", folds}};
}

std::string validation_text(const std::vector<OpAccuracy>& ops, const Look& look) {
  TextTable table;
  table.columns = {{"operation"},
                   {"rows", Align::right},
                   {"MAPE", Align::right},
                   {"median", Align::right},
                   {"p90", Align::right},
                   {"bias", Align::right},
                   {"pairs", Align::right},
                   {"tau", Align::right},
                   {"band covers", Align::right},
                   {"budget", Align::right}};
  for (const OpAccuracy& op : ops) {
    const auto& e = op.errors;
    const Style style = op.over_budget() ? Style::bad : op.budget_mape_pct ? Style::good : Style::plain;
    table.rows.push_back({op.op,
                          shown(e.n, 0),
                          {shown(e.mape_pct), style},
                          shown(e.median_pct),
                          shown(e.p90_pct),
                          shown(e.bias_pct),
                          shown(e.pair_pct, 1),
                          shown(e.kendall_tau, 3),
                          shown(e.coverage_pct, 1),
                          op.budget_mape_pct ? format_fixed(*op.budget_mape_pct, 1) : "–"});
  }
  return render_text(table, look);
}

Json validation_json(const std::vector<OpAccuracy>& ops) {
  Json out = Json::array();
  for (const OpAccuracy& op : ops) {
    Json one = {{"op", op.op}, {"over_budget", op.over_budget()}};
    const Accuracy& e = op.errors;
    one["n"] = static_cast<std::int64_t>(e.n.value_or(0));
    for (const auto& [key, value] : {std::pair{"mape_pct", e.mape_pct},
                                     {"median_pct", e.median_pct},
                                     {"p90_pct", e.p90_pct},
                                     {"bias_pct", e.bias_pct},
                                     {"pair_pct", e.pair_pct},
                                     {"kendall_tau", e.kendall_tau},
                                     {"coverage_pct", e.coverage_pct}}) {
      one[key] = value ? Json(*value) : Json(nullptr);
    }
    one["budget_mape_pct"] = op.budget_mape_pct ? Json(*op.budget_mape_pct) : Json(nullptr);
    out.push_back(one);
  }
  return out;
}

}  // namespace plumbline
