// SPDX-License-Identifier: Apache-2.0
// A ConfirmView as text and as Markdown.
#include <fmt/format.h>

#include <algorithm>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/report/confirm_view.h"
#include "plumbline/report/text_table.h"

namespace plumbline {
namespace {

constexpr std::string_view kAbsent = "–";

std::string fixed(const std::optional<double>& value, int digits) {
  return value ? format_fixed(*value, digits) : std::string(kAbsent);
}
std::string fixed(double value, int digits) { return format_fixed(value, digits); }
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
  table.columns = {{"", Align::left, 0}, {"", Align::right, 0}, {"", Align::left, 0}, {"", Align::left, 0}};
  const Style style = view.passed ? Style::good : Style::bad;
  table.rows.push_back({Cell("raw ratio", Style::bold), Cell(fixed(view.raw_ratio, view.digits), style),
                        Cell(range(view.raw_interval, view.digits)),
                        Cell(fmt::format("the gate, {}: {}", format_fixed(view.gate, view.digits),
                                         view.passed ? "passed" : "not passed"),
                             style)});
  if (view.credit) {
    const std::optional<Interval> interval =
        view.credited_interval ? std::optional(view.credited_interval->interval) : std::nullopt;
    table.rows.push_back(
        {Cell("credited ratio", Style::bold),
         Cell(view.credited ? fixed(view.credited->credited_ratio, 3) : std::string(kAbsent)),
         Cell(range(interval, 3)), Cell("a diagnosis; it changes no verdict", Style::dim)});
  }
  return table;
}

TextTable workload_table(const ConfirmView& view) {
  TextTable table;
  table.columns = {
      {"workload", Align::left, 40}, {"reference ms", Align::right, 0}, {"student ms", Align::right, 0},
      {"ratio", Align::right, 0},    {"A/A", Align::right, 0},          {"samples", Align::right, 0},
      {"", Align::left, 0}};
  for (const WorkloadLine& w : view.workloads) {
    table.rows.push_back({Cell(w.name), Cell(fixed(w.ref_ms, 4)), Cell(fixed(w.student_ms, 4)),
                          Cell(fixed(w.ratio, 3)), Cell(fixed(w.aa_ratio, 4)),
                          Cell(fmt::format("{} + {}", w.ref_samples, w.student_samples)),
                          Cell(w.campaign ? "campaign: profiled and priced" : "", Style::dim)});
  }
  return table;
}

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

/// Columns of a terminal that the kernel table needs for everything but the names.
int taken_beside_names(const ConfirmView& view) {
  std::size_t pays = 0;
  for (const SideView* side : {&view.student, &view.reference}) {
    for (const KernelLine& line : side->kernels) pays = std::max(pays, display_width(line.pays_for));
  }
  return 52 + static_cast<int>(std::min<std::size_t>(pays, 40));
}

/// Both sides in one table, so that their columns line up.
TextTable kernel_table(const ConfirmView& view, std::size_t name_width, bool with_side) {
  const bool tensor = any_tensor(view.student) || any_tensor(view.reference);
  TextTable table;
  if (with_side) table.columns.push_back({"side", Align::left, 0});
  table.columns.insert(table.columns.end(), {{"", Align::left, 0},
                                             {"kernel", Align::left, name_width},
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
  table.columns = {{"what", Align::left, 0}, {"from", Align::left, 0}, {"", Align::left, 0}};
  for (const Source& source : view.sources)
    table.rows.push_back({Cell(source.what), Cell(source.file), Cell(source.detail, Style::dim)});
  return table;
}

std::string title(const ConfirmView& view) {
  std::string text = view.card;
  if (!view.run.empty()) text += "  run " + view.run;
  if (!view.device.empty()) text += "  " + view.device;
  if (!view.window.empty()) text += "  " + view.window + " window";
  return printable(text);
}

/// Greedy wrapping at blanks; a word that is longer than a line stands alone.
std::string bullet(std::string_view text, int width) {
  std::string out = "  - ";
  std::size_t column = 4;
  for (const std::string_view word : split_any(text, "", true)) {
    const std::size_t length = display_width(word);
    if (column > 4 && column + 1 + length > static_cast<std::size_t>(width)) {
      out += "\n    ";
      column = 4;
    }
    if (column > 4) out += ' ';
    out += word;
    column += length + (column > 4 ? 1 : 0);
  }
  return out + "\n";
}

/// "message [code] (file:12)".
std::string diagnostic_words(const Diagnostic& d) {
  const std::string place = d.line > 0 ? fmt::format(" ({}:{})", d.file, d.line) : std::string();
  return fmt::format("{} [{}]{}", d.message, d.code, place);
}

/// The table without its (empty) header line.
std::string headless(const TextTable& table, bool color, std::size_t indent) {
  const std::string text = render_text(table, color, indent);
  return text.substr(std::min(text.find('\n') + 1, text.size()));
}

}  // namespace

std::string confirm_text(const ConfirmView& view, bool color, int width) {
  const auto head = [&](std::string_view text) { return "\n" + styled(text, Style::bold, color) + "\n"; };
  std::string out = styled(title(view), Style::bold, color) + "\n\n";
  out += headless(ratio_table(view), color, 2);
  out += "\n  " + styled(view.verdict, view.passed ? Style::good : Style::bad, color) + "\n";
  for (const std::string& reason : view.because) out += bullet(printable(reason), width);
  if (!view.workloads.empty()) out += head("Workloads") + render_text(workload_table(view), color, 2);
  if (view.student.table || view.reference.table) {
    const auto room = static_cast<std::size_t>(std::max(28, width - taken_beside_names(view)));
    out += head("Kernels (● priced)") + render_text(kernel_table(view, room, false), color, 2);
  }
  if (view.student.window || view.reference.window)
    out += head("Windows") + render_text(window_table(view), color, 2);
  if (!view.prep_words.empty()) {
    out += head("Prep");
    for (const std::string& words : view.prep_words) out += bullet(printable(words), width);
  }
  if (!view.failures.empty()) {
    out += head("Does not hold");
    for (const Diagnostic& d : view.failures) out += bullet(printable(diagnostic_words(d)), width);
  }
  out += head("Not to be trusted, or not known");
  for (const Diagnostic& d : view.doubts) out += bullet(printable(diagnostic_words(d)), width);
  if (view.doubts.empty()) out += "  nothing\n";
  out += head("Sources") + headless(source_table(view), color, 2);
  return out;
}

std::string confirm_markdown(const ConfirmView& view) {
  std::string out = fmt::format("### {}\n\n", title(view));
  const std::string raw = range(view.raw_interval, view.digits);
  out += fmt::format("**raw ratio {}**{} · gate {}: **{}**\n", fixed(view.raw_ratio, view.digits),
                     raw.empty() ? "" : " (" + raw + ")", format_fixed(view.gate, view.digits),
                     view.passed ? "passed" : "not passed");
  if (view.credited) {
    out += fmt::format("credited ratio {} ({}), a diagnosis that changes no verdict\n",
                       fixed(view.credited->credited_ratio, 3), range(view.credited_interval->interval, 3));
  } else if (view.credit) {
    out += "no credited ratio\n";
  }
  const auto list = [&](const std::vector<std::string>& lines) {
    for (const std::string& line : lines) out += fmt::format("- {}\n", printable(line));
  };
  const auto diagnostics = [&](std::string_view head, const Diagnostics& all) {
    if (all.empty()) return;
    out += fmt::format("\n**{}**\n", head);
    for (const Diagnostic& d : all) out += fmt::format("- {}\n", printable(diagnostic_words(d)));
  };
  out += fmt::format("\n{}\n", view.verdict);
  list(view.because);
  if (!view.workloads.empty()) out += "\n" + render_markdown(workload_table(view));
  for (const SideView* side : {&view.student, &view.reference}) {
    if (!side->table) continue;
    ConfirmView one;
    (side == &view.student ? one.student : one.reference) = *side;
    out += "\n" + render_markdown(kernel_table(one, 0, true));
  }
  if (view.student.window || view.reference.window) out += "\n" + render_markdown(window_table(view));
  if (!view.prep_words.empty()) out += "\n";
  list(view.prep_words);
  diagnostics("Does not hold", view.failures);
  diagnostics("Not to be trusted, or not known", view.doubts);
  out += "\n" + render_markdown(source_table(view));
  return out;
}

}  // namespace plumbline
