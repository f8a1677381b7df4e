// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/gate_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/report/text_table.h"

namespace plumbline {
namespace {

using ledger::GateUnit;
using ledger::GateVerdict;

constexpr std::size_t kMostNamed = 5;

Style style_of(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::slower:
      return Style::bad;
    case GateVerdict::faster:
      return Style::good;
    case GateVerdict::unknown:
      return Style::warn;
    case GateVerdict::same:
      break;
  }
  return Style::plain;
}

std::string percent(double relative) {
  return fmt::format("{}{} %", relative > 0 ? "+" : "", format_fixed(100 * relative, 2));
}

/// What moved first, then what could not be told; the largest change first in each.
std::vector<GateUnit> ordered(const GateReport& report) {
  std::vector<GateUnit> units = report.result.units;
  const auto weight = [](const GateUnit& unit) {
    switch (unit.verdict) {
      case GateVerdict::slower:
        return 0;
      case GateVerdict::faster:
        return 1;
      case GateVerdict::unknown:
        return 2;
      case GateVerdict::same:
        break;
    }
    return 3;
  };
  std::stable_sort(units.begin(), units.end(), [&](const GateUnit& a, const GateUnit& b) {
    return weight(a) != weight(b) ? weight(a) < weight(b) : a.change > b.change;
  });
  return units;
}

TextTable table_of(const std::vector<GateUnit>& units) {
  TextTable table;
  table.columns = {{"", Align::left},          {"workload or kernel", Align::left, 44},
                   {"time", Align::right},     {"95 %", Align::right},
                   {"sessions", Align::right}, {"spread", Align::right},
                   {"could see", Align::right}};
  for (const GateUnit& unit : units) {
    table.rows.push_back({{to_string(unit.verdict), style_of(unit.verdict)},
                          (unit.key.kernel ? "kernel " : "") + one_line(unit.key.name),
                          percent(unit.change),
                          fmt::format("{} to {}", percent(unit.low), percent(unit.high)),
                          fmt::format("{} + {}", unit.before, unit.after),
                          format_fixed(100 * unit.spread, 2) + " %",
                          format_fixed(100 * unit.smallest, 2) + " %"});
  }
  return table;
}

std::string names(const std::vector<std::string>& all, bool markdown) {
  std::string out;
  for (std::size_t i = 0; i < std::min(all.size(), kMostNamed); ++i) {
    const std::string name = cut_middle(one_line(all[i]), 60);
    out += (i == 0 ? "" : ", ") + (markdown ? markdown_text(name) : name);
  }
  if (all.size() > kMostNamed) out += fmt::format(" and {} more", all.size() - kMostNamed);
  return out;
}

std::vector<std::string> remarks(const GateReport& report, bool markdown) {
  const ledger::GateResult& result = report.result;
  std::vector<std::string> out;
  for (const std::string& note : report.notes)
    out.push_back(markdown ? markdown_text(note) : printable(note));
  if (!result.fresh.empty()) out.push_back("new: " + names(result.fresh, markdown));
  if (!result.gone.empty()) out.push_back("gone: " + names(result.gone, markdown));
  if (result.left_out > 0)
    out.push_back(fmt::format("kernels under {} % of the time: {}, not held",
                              format_fixed(100 * report.options.share, 0), result.left_out));
  if (!result.units.empty())
    out.push_back(fmt::format(
        "the spread is what sessions of one code differ by, from {} repeats; at most {} % of what is called "
        "faster or slower may be false",
        format_fixed(result.repeats, 0), format_fixed(100 * report.options.rate, 0)));
  return out;
}

std::string head(const GateReport& report) {
  return fmt::format("run {} against run {}{}", report.candidate, report.baseline,
                     report.same_code ? " (the same code)" : "");
}

Json unit_json(const GateUnit& unit) {
  return {{"name", unit.key.name},
          {"kind", unit.key.kernel ? "kernel" : "workload"},
          {"verdict", to_string(unit.verdict)},
          {"change", unit.change},
          {"interval", {unit.low, unit.high}},
          {"p", unit.p},
          {"smallest_seen", unit.smallest},
          {"spread", unit.spread},
          {"freedom", unit.freedom},
          {"sessions", {unit.before, unit.after}}};
}

}  // namespace

std::string gate_text(const GateReport& report, const Look& look) {
  std::string out =
      fmt::format("{}  {}  {}  {} window\n\n  {}  {}\n", printable(report.card), head(report),
                  printable(report.gpu), printable(report.window),
                  styled(to_string(report.result.verdict), style_of(report.result.verdict), look.color),
                  printable(report.result.why));
  for (const std::string& remark : remarks(report, false)) out += "  - " + remark + "\n";
  if (!report.result.units.empty()) out += "\n" + render_text(table_of(ordered(report)), look);
  return out;
}

std::string gate_markdown(const GateReport& report) {
  std::string out = fmt::format("**{}** {}: {} {}\n", to_string(report.result.verdict),
                                markdown_text(report.card), head(report), markdown_text(report.result.why));
  std::vector<GateUnit> units = ordered(report);
  const auto rest = std::find_if(units.begin(), units.end(),
                                 [](const GateUnit& unit) { return unit.verdict == GateVerdict::same; });
  const std::vector<GateUnit> moved(units.begin(), rest), same(rest, units.end());
  if (!moved.empty()) out += "\n" + render_markdown(table_of(moved));
  if (!same.empty())
    out += fmt::format("\n<details><summary>{} the same</summary>\n\n{}\n</details>\n", same.size(),
                       render_markdown(table_of(same)));
  out += "\n";
  for (const std::string& remark : remarks(report, true)) out += "- " + remark + "\n";
  return out;
}

Json gate_json(const GateReport& report) {
  Json units = Json::array();
  for (const GateUnit& unit : ordered(report)) units.push_back(unit_json(unit));
  return {{"card", report.card},
          {"verdict", to_string(report.result.verdict)},
          {"why", report.result.why},
          {"baseline", report.baseline},
          {"candidate", report.candidate},
          {"same_code", report.same_code},
          {"gpu", report.gpu},
          {"window", report.window},
          {"rate", report.options.rate},
          {"margin", report.options.margin},
          {"repeats", report.result.repeats},
          {"suspect", report.result.suspect},
          {"units", units},
          {"new", report.result.fresh},
          {"gone", report.result.gone},
          {"kernels_left_out", report.result.left_out},
          {"notes", report.notes}};
}

std::string replay_text(const std::string& card, const ledger::Replay& replay) {
  if (replay.held == 0)
    return fmt::format("{}: nothing to replay: no code has four readings or more\n", printable(card));
  std::string out = fmt::format(
      "{}: {} runs held against earlier ones of the same code\n  SLOWER {}, FASTER {}, SAME {}, UNKNOWN {}\n"
      "  false SLOWER: {} % of the runs (under {} % with 95 % confidence), {} of {} workloads and kernels\n"
      "  a fixed threshold of 5 % would have called {} SLOWER\n",
      printable(card), replay.held, replay.slower, replay.faster, replay.same, replay.unknown,
      format_fixed(100.0 * static_cast<double>(replay.slower) / static_cast<double>(replay.held), 1),
      format_fixed(100 * replay.most_false, 1), replay.units_alarmed, replay.units, replay.fixed_slower);
  if (!replay.alarms.empty()) {
    out += "  called SLOWER: run";
    for (std::size_t i = 0; i < std::min<std::size_t>(20, replay.alarms.size()); ++i)
      out += fmt::format(" {}", replay.alarms[i]);
    out += "\n";
  }
  return out;
}

Json replay_json(const std::string& card, const ledger::Replay& replay) {
  return {{"card", card},
          {"held", replay.held},
          {"slower", replay.slower},
          {"faster", replay.faster},
          {"same", replay.same},
          {"unknown", replay.unknown},
          {"units", replay.units},
          {"units_slower", replay.units_alarmed},
          {"fixed_threshold_slower", replay.fixed_slower},
          {"false_slower", replay.held > 0
                               ? Json(static_cast<double>(replay.slower) / static_cast<double>(replay.held))
                               : Json()},
          {"false_slower_at_most", replay.held > 0 ? Json(replay.most_false) : Json()},
          {"alarms", replay.alarms}};
}

}  // namespace plumbline
