// SPDX-License-Identifier: Apache-2.0
// A confirmation as a page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plumbline/base/codes.h"
#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/html/charts_common.h"
#include "plumbline/html/page.h"
#include "plumbline/html/pages.h"
#include "plumbline/report/confirm_tables.h"
#include "plumbline/report/window_view.h"

namespace plumbline::html {
namespace {

using plumbline::detail::fixed;
using plumbline::detail::range;

constexpr std::size_t kMostBoundaryRows = 60;

std::string says(const std::optional<double>& value, const std::optional<Interval>& interval, int digits) {
  const std::string between = range(interval, digits);
  return fixed(value, digits) + (between.empty() ? "" : " (" + between + ")");
}

Html ratios(const ConfirmView& view) {
  std::vector<IntervalRow> rows;
  const auto row = [&](const std::string& label, std::optional<double> value,
                       std::optional<Interval> interval, Tone tone, int digits) {
    IntervalRow out{label, value, {}, {}, tone, fixed(value, digits)};
    if (interval) {
      out.low = interval->low;
      out.high = interval->high;
    }
    rows.push_back(std::move(out));
  };
  row("raw ratio", view.raw_ratio, view.raw_interval, Tone::reference, view.digits);
  if (view.per_call_ratio) row("per call", view.per_call_ratio, {}, Tone::dim, view.digits);
  if (view.credited) {
    row("credited ratio", view.credited->credited_ratio,
        view.credited_interval ? std::optional(view.credited_interval->interval) : std::nullopt, Tone::good,
        3);
  }
  if (view.credited_mean) row("credited, mean", view.credited_mean, {}, Tone::good, 3);
  Html out;
  begin_section(out, "ratios", "Ratios");
  out.leaf("p",
           fmt::format("Raw ratio {}, gate {}: {}.", says(view.raw_ratio, view.raw_interval, view.digits),
                       format_fixed(view.gate, view.digits), view.passed ? "passed" : "not passed"));
  if (view.within_noise) out.leaf("p", "The gate lies within the noise of the raw ratio.");
  out.add(interval_chart("Ratios and their intervals: the reference's time over the student's", rows,
                         view.gate, "gate " + format_fixed(view.gate, view.digits)));
  out.add(table_html(plumbline::detail::ratio_table(view), {"Ratios", false, ""}));
  add_list(out, view.because);
  end_section(out);
  return out;
}

void add_reasons(Html& out, const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics) {
    out.open("li").leaf("strong", d.message).text(" ").leaf("code", d.code);
    if (d.line > 0) out.text(fmt::format(" {}:{}", d.file, d.line));
    if (const CodeInfo* info = find_code(d.code))
      out.open("br").raw("\n").text("Fix: " + std::string(info->fix));
    out.close("li");
  }
}

Html findings(const ConfirmView& view) {
  Html out;
  begin_section(out, "findings", "Findings and doubts");
  if (view.failures.empty() && view.doubts.empty())
    out.leaf("p", "Nothing was found, and there is nothing to doubt.");
  if (!view.failures.empty()) {
    out.leaf("h3", "Does not hold").open("ul");
    add_reasons(out, view.failures);
    out.close("ul");
  }
  if (!view.doubts.empty()) {
    out.leaf("h3", "Not to be trusted, or not known").open("ul");
    add_reasons(out, view.doubts);
    out.close("ul");
  }
  end_section(out);
  return out;
}

Tone tone_of(Style style) {
  switch (style) {
    case Style::good:
      return Tone::good;
    case Style::bad:
      return Tone::bad;
    case Style::warn:
      return Tone::warn;
    default:
      return Tone::dim;
  }
}

/// Both windows side by side. A tensor of both is a line between them; what only one has stands in a frame of
/// its entry's colour, with the entry's class.
Html boundary_chart(const WindowView& window) {
  using namespace detail;
  constexpr double kBox = 230, kLeftBox = 12, kRightBox = kWidth - 12 - kBox, kLine = 24;
  const std::size_t count = std::min(window.rows.size(), kMostBoundaryRows);
  const double height = 56 + kLine * static_cast<double>(count);
  Html out;
  begin_chart(out, "The boundary: what each window receives and makes", height + 10);
  for (const double x : {kLeftBox, kRightBox}) {
    out.empty("rect", {{"x", px(x)},
                       {"y", "24"},
                       {"width", px(kBox)},
                       {"height", px(height - 24)},
                       {"fill", "#f5f6f7"},
                       {"stroke", kRule},
                       {"class", "box"}});
  }
  label(out, kLeftBox, 16, "reference's window");
  label(out, kRightBox, 16, "student's window");
  double y = 36;
  for (std::size_t i = 0; i < count; ++i) {
    const WindowRow& row = window.rows[i];
    const std::string name = cut_middle((row.output ? "out " : "in ") + one_line(row.tensor), 26);
    if (row.reference && row.student) line(out, kLeftBox + kBox, y + 8, kRightBox, y + 8, kRule, 1);
    for (const auto& [there, x] : {std::pair{row.reference, kLeftBox}, std::pair{row.student, kRightBox}}) {
      if (!there) continue;
      if (!row.entry_class.empty()) {
        out.empty("rect", {{"x", px(x + 4)},
                           {"y", px(y - 3)},
                           {"width", px(kBox - 8)},
                           {"height", px(kLine - 3)},
                           {"fill", "none"},
                           {"stroke", colour(tone_of(row.style))},
                           {"stroke-width", "2"}});
      }
      label(out, x + 12, y + 12, name);
    }
    if (!row.entry_class.empty()) label(out, kWidth / 2, y + 12, row.entry_class, "middle", 18);
    y += kLine;
  }
  end_chart(out);
  return out;
}

Html boundary(const WindowView& window) {
  TextTable table;
  table.columns = {{"tensor"}, {"is an"}, {"reference"}, {"student"}, {"entry"}, {"who pays"}, {"how"}};
  for (const WindowRow& row : window.rows) {
    table.rows.push_back({row.tensor, row.output ? "output" : "input", row.reference ? "yes" : "no",
                          row.student ? "yes" : "no", Cell(row.entry_class, row.style), row.payer,
                          row.detail});
  }
  Html out;
  begin_section(out, "boundary", "Boundary");
  if (!window.reference_window.empty()) out.leaf("p", "Reference: " + window.reference_window);
  if (!window.student_window.empty()) out.leaf("p", "Student: " + window.student_window);
  out.leaf("p", window.summary);
  out.add(boundary_chart(window));
  out.add(table_html(table, {"Tensors of the boundary", false, ""}));
  end_section(out);
  return out;
}

Html kernels_of(const SideView& side) {
  Html out;
  out.leaf("h3", fmt::format("{}: {} µs{}", side.title, format_fixed(side.total_us, 2),
                             side.per_call ? " a call" : " over the whole region"));
  if (!side.table) return Html().leaf("p", fmt::format("The {} has no kernel table.", side.title));
  double most = 0;
  for (const KernelLine& kernel : side.kernels) most = std::max(most, kernel.us);
  out.open("div", {{"class", "scroll"},
                   {"tabindex", "0"},
                   {"role", "group"},
                   {"aria-label", "kernels of the " + side.title}});
  out.open("table", {{"class", "data"}})
      .leaf("caption", "Kernels of the " + side.title + ", the longest first");
  out.open("thead").open("tr");
  for (const auto& [head, align] : {std::pair{"kernel", "text"},
                                    {"launches", "number"},
                                    {"µs", "number"},
                                    {"share", "number"},
                                    {"time", "text"},
                                    {"pays for", "text"}})
    out.leaf("th", head, {{"scope", "col"}, {"class", align}});
  out.close("tr").close("thead").open("tbody");
  for (const KernelLine& kernel : side.kernels) {
    const bool pays = !kernel.pays_for.empty();
    out.open("tr").leaf("td", kernel.name, {{"class", "name"}});
    out.leaf("td", plumbline::detail::counted(kernel.launches_shown), {{"class", "number"}});
    out.leaf("td", format_fixed(kernel.us, 2), {{"class", "number"}});
    out.leaf("td", plumbline::detail::percent(kernel.share_pct), {{"class", "number"}});
    out.open("td").add(bar(kernel.us, most, pays ? Tone::warn : Tone::reference)).close("td");
    out.leaf("td", kernel.pays_for, {{"class", pays ? "warn" : "text"}}).close("tr");
  }
  out.close("tbody").close("table").close("div");
  if (side.left_out > 0) {
    out.leaf("p", fmt::format("{} more kernels, {} µs, are not listed.", side.left_out,
                              format_fixed(side.left_out_us, 2)));
  }
  if (side.window) {
    out.leaf("p", fmt::format("{} % of the window of {} ms is accounted for by no kernel.",
                              format_fixed(100 * side.window->unaccounted, 1),
                              format_fixed(side.window->window_ms, 4)));
  }
  return out;
}

Html kernels(const ConfirmView& view) {
  Html out;
  begin_section(out, "kernels", "Kernels");
  out.add(kernels_of(view.student)).add(kernels_of(view.reference));
  add_list(out, plumbline::detail::one_sided_words(view));
  if (view.student.window || view.reference.window)
    out.add(table_html(plumbline::detail::window_table(view), {"Windows and what fills them", false, ""}));
  end_section(out);
  return out;
}

/// Samples of both sides, as multiples of the reference's reading, so that all workloads share an axis.
Html readings(const ConfirmView& view, const EvalReport& eval) {
  Html out;
  begin_section(out, "readings", "Readings");
  if (view.workloads.empty()) {
    out.leaf("p", "The bench lists no workloads.");
  } else {
    out.add(table_html(plumbline::detail::workload_table(view), {"Workloads", true, ""}));
    std::vector<StripRow> rows;
    for (std::size_t i = 0; i < eval.workloads.size() && rows.size() < 40; ++i) {
      const WorkloadReading& w = eval.workloads[i];
      const auto ref = reading_of(w.ref, eval.timed), student = reading_of(w.student, eval.timed);
      if (!ref || !student || !(*ref > 0)) continue;
      const auto relative = [&](std::vector<double> samples) {
        for (double& s : samples) s /= *ref;
        return samples;
      };
      rows.push_back({w.name + ", reference", relative(w.ref.samples_ms), 1.0, Tone::reference});
      rows.push_back({w.name + ", student", relative(w.student.samples_ms), *student / *ref, Tone::student});
    }
    if (!rows.empty())
      out.add(strip_chart("Samples, each over the reference's reading of its workload (stroke: the reading)",
                          rows, "of the reference's reading"));
  }
  end_section(out);
  return out;
}

Html prep(const ConfirmView& view) {
  Html out;
  begin_section(out, "prep", "Prep");
  add_list(out, view.prep_words);
  if (view.prep_ms) out.leaf("p", fmt::format("The prep step takes {} ms.", format_fixed(*view.prep_ms, 4)));
  end_section(out);
  return out;
}

}  // namespace

std::string confirm_page(const Confirmation& confirmation, const ConfirmView& view) {
  Page page;
  page.title = view.card + (view.run.empty() ? "" : ", run " + view.run);
  page.verdict = view.verdict;
  page.tone = view.passed ? Tone::good : Tone::bad;
  Html& out = page.body;
  out.leaf("p", fmt::format("{}{}", view.device.empty() ? "GPU not named" : view.device,
                            view.window.empty() ? "" : ", " + view.window + " window"));
  out.add(ratios(view)).add(findings(view));
  out.add(boundary(collect_window(confirmation.in.contract, {}, confirmation.in.contract_warnings)));
  if (view.student.table || view.reference.table) out.add(kernels(view));
  out.add(readings(view, confirmation.in.eval));
  if (!view.prep_words.empty() || view.prep_ms) out.add(prep(view));
  if (view.against) {
    begin_section(out, "against", "Against run " + view.against->run);
    add_list(out, plumbline::detail::against_words(*view.against));
    end_section(out);
  }
  begin_section(out, "sources", "Where each number comes from");
  TextTable sources = plumbline::detail::source_table(view);
  out.add(table_html(sources, {"Sources", false, ""}));
  end_section(out);
  return render_page(page);
}

}  // namespace plumbline::html
