// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/confirm_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"

namespace plumbline::detail {
namespace {

constexpr std::string_view kAbsent = "–";

}  // namespace

std::string fixed(const std::optional<double>& value, int digits) {
  return value ? format_fixed(*value, digits) : std::string(kAbsent);
}
std::string percent(double value) { return format_fixed(value, 1) + " %"; }
std::string range(const std::optional<Interval>& interval, int digits) {
  return interval ? fmt::format("{} to {}", format_fixed(interval->low, digits),
                                format_fixed(interval->high, digits))
                  : std::string();
}
std::string counted(double value) {
  return value == static_cast<double>(static_cast<std::int64_t>(value))
             ? format_grouped(static_cast<std::int64_t>(value))
             : format_fixed(value, 1);
}

TextTable ratio_table(const ConfirmView& view) {
  TextTable table;
  table.columns = {
      {"", Align::left, 0}, {"", Align::right, 0}, {"", Align::left, 0}, {"", Align::left, 0, true}};
  const Style style = view.passed ? Style::good : Style::bad;
  table.rows.push_back({Cell("raw ratio", Style::bold), Cell(fixed(view.raw_ratio, view.digits), style),
                        Cell(range(view.raw_interval, view.digits)),
                        Cell(fmt::format("the gate, {}: {}", format_fixed(view.gate, view.digits),
                                         view.passed ? "passed" : "not passed"),
                             style)});
  if (view.per_call_ratio) {
    table.rows.push_back({Cell("per call"), Cell(fixed(view.per_call_ratio, view.digits)), Cell(""),
                          Cell("with the host's part in; not the gate", Style::dim)});
  }
  if (view.credit) {
    const std::optional<Interval> interval =
        view.credited_interval ? std::optional(view.credited_interval->interval) : std::nullopt;
    table.rows.push_back(
        {Cell("credited ratio", Style::bold),
         Cell(view.credited ? fixed(view.credited->credited_ratio, 3) : std::string(kAbsent)),
         Cell(range(interval, 3)), Cell("a diagnosis; it changes no verdict", Style::dim)});
    if (view.credited) {
      table.rows.push_back({Cell("its raw ratio"), Cell(fixed(view.credited->raw_ratio, 3)), Cell(""),
                            Cell(view.campaign.empty() ? std::string("the readings that are credited")
                                                       : "of " + view.campaign + ", which is credited",
                                 Style::dim)});
    }
    if (view.credited_mean) {
      table.rows.push_back({Cell("credited, mean", Style::bold), Cell(fixed(view.credited_mean, 3)), Cell(""),
                            Cell("over all workloads, beside the raw ratio above", Style::dim)});
    }
  }
  return table;
}

TextTable workload_table(const ConfirmView& view) {
  TextTable table;
  table.columns = {{"workload", Align::left, 40},
                   {"reference ms", Align::right, 0},
                   {"student ms", Align::right, 0},
                   {"ratio", Align::right, 0}};
  const bool credited = view.credited_mean.has_value();
  if (view.per_call_ratio) table.columns.push_back({"per call", Align::right, 0});
  if (credited) table.columns.push_back({"credited", Align::right, 0});
  table.columns.insert(table.columns.end(),
                       {{"A/A", Align::right, 0}, {"samples", Align::right, 0}, {"", Align::left, 0}});
  for (const WorkloadLine& w : view.workloads) {
    std::vector<Cell> cells = {Cell(w.name), Cell(fixed(w.ref_ms, 4)), Cell(fixed(w.student_ms, 4)),
                               Cell(fixed(w.ratio, 3))};
    if (view.per_call_ratio) cells.emplace_back(fixed(w.per_call_ratio, 3));
    if (credited) cells.emplace_back(fixed(w.credited_ratio, 3));
    cells.emplace_back(fixed(w.aa_ratio, 4));
    cells.emplace_back(fmt::format("{} + {}", w.ref_samples, w.student_samples));
    cells.emplace_back(w.campaign ? "campaign: profiled and priced" : "", Style::dim);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

namespace {

bool any_tensor(const SideView& side) {
  return std::any_of(side.kernels.begin(), side.kernels.end(),
                     [](const KernelLine& line) { return line.tensor_pct.has_value(); });
}

void add_kernels(TextTable& table, const SideView& side, bool tensor, bool with_side) {
  const auto row = [&](Cell mark, Cell name, std::string launches, std::string us, std::string share,
                       std::string tensor_pct, Cell pays) {
    std::vector<Cell> cells;
    if (with_side) cells.emplace_back(side.title);
    for (Cell cell : {std::move(mark), std::move(name), Cell(std::move(launches)), Cell(std::move(us)),
                      Cell(std::move(share))}) {
      cells.push_back(std::move(cell));
    }
    if (tensor) cells.emplace_back(std::move(tensor_pct));
    cells.push_back(std::move(pays));
    table.rows.push_back(std::move(cells));
  };
  for (const KernelLine& line : side.kernels) {
    const bool pays = !line.pays_for.empty();
    row(pays ? Cell("●", Style::warn) : Cell(""), Cell(line.name, pays ? Style::warn : Style::plain),
        counted(line.launches_shown), fixed(line.us, 2), percent(line.share_pct),
        line.tensor_pct ? percent(*line.tensor_pct) : "",
        pays ? Cell("pays for " + line.pays_for, Style::warn) : Cell(""));
  }
  if (side.left_out > 0) {
    row("", Cell(fmt::format("{} more kernels", side.left_out), Style::dim), "", fixed(side.left_out_us, 2),
        percent(side.total_us > 0 ? 100 * side.left_out_us / side.total_us : 0), "", "");
  }
}

}  // namespace

TextTable kernel_table(const ConfirmView& view, bool with_side) {
  const bool tensor = any_tensor(view.student) || any_tensor(view.reference);
  TextTable table;
  if (with_side) table.columns.push_back({"side", Align::left, 0});
  table.columns.insert(table.columns.end(), {{"", Align::left, 0},
                                             {"kernel", Align::left, 0},
                                             {"launches", Align::right, 0},
                                             {"µs", Align::right, 0},
                                             {"share", Align::right, 0}});
  if (tensor) table.columns.push_back({"tensor", Align::right, 0});
  table.columns.push_back({"", Align::left, 0});
  for (const SideView* side : {&view.student, &view.reference}) {
    if (!with_side) {
      if (side != &view.student) table.rows.emplace_back();
      const std::string scope = side->per_call ? ", one call" : ", whole region";
      table.rows.push_back({Cell(""),
                            Cell(side->table ? side->title + scope : side->title + ": no table", Style::bold),
                            Cell(""), Cell(side->table ? fixed(side->total_us, 2) : "", Style::bold)});
    }
    add_kernels(table, *side, tensor, with_side);
  }
  return table;
}

TextTable window_table(const ConfirmView& view) {
  TextTable table;
  table.columns = {{"side", Align::left, 0},        {"window ms", Align::right, 0},
                   {"kernels ms", Align::right, 0}, {"covered", Align::right, 0},
                   {"gaps ms", Align::right, 0},    {"unaccounted", Align::right, 0},
                   {"priced", Align::right, 0}};
  for (const SideView* side : {&view.student, &view.reference}) {
    if (!side->window) continue;
    const WindowShare& w = *side->window;
    table.rows.push_back({Cell(side->title), Cell(fixed(w.window_ms, 4)), Cell(fixed(w.busy_ms, 4)),
                          Cell(fixed(w.coverage, 3)), Cell(fixed(w.gaps_ms, 4)),
                          Cell(percent(100 * w.unaccounted)),
                          Cell(side->priced.empty() ? std::string(kAbsent) : percent(side->priced_pct))});
  }
  return table;
}

TextTable source_table(const ConfirmView& view) {
  TextTable table;
  table.columns = {{"what", Align::left, 0}, {"from", Align::left, 0}, {"", Align::left, 0, true}};
  for (const Source& source : view.sources)
    table.rows.push_back({Cell(source.what), Cell(source.file), Cell(source.detail, Style::dim)});
  return table;
}

std::vector<std::string> one_sided_words(const ConfirmView& view) {
  constexpr std::size_t kNamed = 6;
  std::vector<std::string> out;
  for (const auto& [side, names] :
       {std::pair{"student", &view.one_sided.student}, std::pair{"reference", &view.one_sided.reference}}) {
    if (names->empty()) continue;
    std::string words;
    for (std::size_t i = 0; i < std::min(kNamed, names->size()); ++i)
      words.append(i == 0 ? "" : ", ").append(cut_middle((*names)[i], 60));
    if (names->size() > kNamed) words += fmt::format(" and {} more", names->size() - kNamed);
    out.push_back(fmt::format("Only the {} launches {}.", side, words));
  }
  return out;
}

namespace {

std::string signed_percent(double value) {
  return fmt::format("{}{} %", value >= 0 ? "+" : "", format_fixed(100 * value, 2));
}

}  // namespace

std::vector<std::string> against_words(const Rerun& rerun) {
  if (!rerun.comparable()) return {"They cannot be compared: see above."};
  std::vector<std::string> out;
  const auto line = [&](const std::string& what, std::optional<double> before, std::optional<double> now,
                        std::optional<double> noise) {
    if (!before || !now) return;
    out.push_back(fmt::format(
        "{}: {} then, {} now, {}{}.", what, fixed(before, 4), fixed(now, 4),
        signed_percent(*now / *before - 1),
        noise ? fmt::format("; noise of both {}, {}", percent(100 * *noise),
                            std::abs(*now / *before - 1) > *noise ? "so it has moved" : "so it has not moved")
              : ""));
  };
  line("Raw ratio", rerun.before, rerun.now, rerun.noise);
  for (const RerunLine& w : rerun.workloads) line(w.name, w.before, w.now, w.noise);
  return out;
}

}  // namespace plumbline::detail
