// SPDX-License-Identifier: Apache-2.0
// A ConfirmView as text and as Markdown.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/report/confirm_tables.h"
#include "plumbline/report/confirm_view.h"
#include "plumbline/report/text_table.h"

namespace plumbline {
namespace {

using namespace detail;

std::string title(const ConfirmView& view) {
  std::string text = view.card;
  if (!view.run.empty()) text += "  run " + view.run;
  if (!view.device.empty()) text += "  " + view.device;
  if (!view.window.empty()) text += "  " + view.window + " window";
  return printable(text);
}

/// Greedy wrapping at blanks behind `lead`; a word that is longer than a line stands alone.
std::string wrapped(std::string_view lead, std::string_view text, int width) {
  std::string out(lead);
  std::size_t column = lead.size();
  for (const std::string_view word : split_any(text, "", true)) {
    const std::size_t length = display_width(word);
    if (column > lead.size() && column + 1 + length > static_cast<std::size_t>(width)) {
      out += "\n" + std::string(lead.size(), ' ');
      column = lead.size();
    }
    if (column > lead.size()) out += ' ';
    out += word;
    column += length + (column > lead.size() ? 1 : 0);
  }
  return out + "\n";
}

std::string bullet(std::string_view text, int width) { return wrapped("  - ", text, width); }

/// "message [code] (file:12)".
std::string diagnostic_words(const Diagnostic& d) {
  const std::string place = d.line > 0 ? fmt::format(" ({}:{})", d.file, d.line) : std::string();
  return fmt::format("{} [{}]{}", d.message, d.code, place);
}

/// Shares of the rows of kernel_table(); none for titles, rules and what is summed up.
std::vector<double> kernel_shares(const ConfirmView& view) {
  std::vector<double> out;
  for (const SideView* side : {&view.student, &view.reference}) {
    if (side != &view.student) out.push_back(-1);
    out.push_back(-1);
    for (const KernelLine& line : side->kernels) out.push_back(line.share_pct / 100);
    if (side->left_out > 0) out.push_back(-1);
  }
  return out;
}

}  // namespace

std::string confirm_text(const ConfirmView& view, const Look& look) {
  const int width = sentence_width(look);
  const auto head = [&](std::string_view text) {
    return "\n" + styled(text, Style::bold, look.color) + "\n";
  };
  std::string out = styled(title(view), Style::bold, look.color) + "\n\n";
  out += render_text(ratio_table(view), look, 2);
  std::string verdict = wrapped("  ", view.verdict, width);
  verdict.pop_back();  // the colour ends before the line does
  out += "\n" + styled(verdict, view.passed ? Style::good : Style::bad, look.color) + "\n";
  for (const std::string& reason : view.because) out += bullet(printable(reason), width);
  if (!view.workloads.empty()) out += head("Workloads") + render_text(workload_table(view), look, 2);
  if (view.student.table || view.reference.table) {
    TextTable kernels = kernel_table(view, false);
    add_bars(kernels, look, 4, kernel_shares(view));
    out += head("Kernels (● priced)") + render_text(kernels, look, 2);
    for (const std::string& words : one_sided_words(view)) out += bullet(printable(words), width);
  }
  if (view.student.window || view.reference.window)
    out += head("Windows") + render_text(window_table(view), look, 2);
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
  if (view.against) {
    out += head("Against run " + view.against->run);
    for (const std::string& words : against_words(*view.against)) out += bullet(printable(words), width);
  }
  out += head("Sources") + render_text(source_table(view), look, 2);
  return out;
}

std::string confirm_markdown(const ConfirmView& view) {
  std::string out = fmt::format("### {}\n\n", markdown_text(title(view)));
  const std::string raw = range(view.raw_interval, view.digits);
  out += fmt::format("**raw ratio {}**{} · gate {}: **{}**\n", fixed(view.raw_ratio, view.digits),
                     raw.empty() ? "" : " (" + raw + ")", format_fixed(view.gate, view.digits),
                     view.passed ? "passed" : "not passed");
  if (view.credited) {
    out += fmt::format(
        "credited ratio {} ({}) beside the raw ratio {} of the same readings, a diagnosis that "
        "changes no verdict\n",
        fixed(view.credited->credited_ratio, 3), range(view.credited_interval->interval, 3),
        fixed(view.credited->raw_ratio, 3));
    if (view.credited_mean)
      out += fmt::format("credited ratio over all workloads {}\n", fixed(view.credited_mean, 3));
  } else if (view.credit) {
    out += "no credited ratio\n";
  }
  const auto list = [&](const std::vector<std::string>& lines) {
    for (const std::string& line : lines) out += fmt::format("- {}\n", markdown_text(line));
  };
  const auto diagnostics = [&](std::string_view head, const Diagnostics& all) {
    if (all.empty()) return;
    out += fmt::format("\n**{}**\n", head);
    for (const Diagnostic& d : all) out += fmt::format("- {}\n", markdown_text(diagnostic_words(d)));
  };
  out += fmt::format("\n{}\n", markdown_text(view.verdict));
  list(view.because);
  if (!view.workloads.empty()) out += "\n" + render_markdown(workload_table(view));
  for (const SideView* side : {&view.student, &view.reference}) {
    if (!side->table) continue;
    ConfirmView one;
    (side == &view.student ? one.student : one.reference) = *side;
    out += "\n" + render_markdown(kernel_table(one, true));
  }
  if (const auto words = one_sided_words(view); !words.empty()) {
    out += "\n";
    list(words);
  }
  if (view.student.window || view.reference.window) out += "\n" + render_markdown(window_table(view));
  if (!view.prep_words.empty()) out += "\n";
  list(view.prep_words);
  diagnostics("Does not hold", view.failures);
  diagnostics("Not to be trusted, or not known", view.doubts);
  if (view.against) {
    out += fmt::format("\n**Against run {}**\n", markdown_text(view.against->run));
    list(against_words(*view.against));
  }
  out += "\n" + render_markdown(source_table(view));
  return out;
}

}  // namespace plumbline
