// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/kernel_table_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/report/text_table.h"

namespace plumbline {
namespace {

std::string micros(double ns) { return format_fixed(ns / 1e3, 2); }

std::string signed_micros(double ns) { return (ns >= 0 ? "+" : "") + micros(ns); }

/// What stands for a kernel in a column of `width`: its name, or, where that is too long, its identity,
/// unless another kernel of the table has the same one.
std::string shown_name(const KernelTable& table, const KernelRow& row, std::size_t width) {
  if (display_width(row.name) <= width) return row.name;
  const auto same = std::count_if(table.kernels.begin(), table.kernels.end(),
                                  [&](const KernelRow& other) { return other.identity == row.identity; });
  return same == 1 ? row.identity : row.name;
}

/// "ncu-csv of NVIDIA H200, region profiler" and the sums below it.
std::string summary(const KernelTable& table) {
  std::string out = table.source;
  if (!table.device.empty()) out += fmt::format(", {}", one_line(table.device));
  if (!table.region.empty()) out += fmt::format(", region {}", one_line(table.region));
  out += "\n";
  std::int64_t launches = 0;
  for (const KernelRow& row : table.kernels) launches += row.launches;
  out += fmt::format("{} kernel{}, {} launch{}, {} us in all", table.kernels.size(),
                     table.kernels.size() == 1 ? "" : "s", launches, launches == 1 ? "" : "es",
                     micros(table.total_ns));
  if (table.calls) {
    out += fmt::format(", {} call{}", *table.calls, *table.calls == 1 ? "" : "s");
    if (table.time_ns_per_call) out += fmt::format(", {} us a call", micros(*table.time_ns_per_call));
  }
  out += "\n";
  if (table.busy_ns) {
    out += fmt::format("busy {} us, gaps {} us", micros(*table.busy_ns), micros(table.gaps_ns.value_or(0)));
    if (table.overlap_ns) out += fmt::format(", overlap {} us", micros(*table.overlap_ns));
    if (table.streams) out += fmt::format(", {} stream{}", *table.streams, *table.streams == 1 ? "" : "s");
    out += "\n";
  }
  if (table.memcpy && table.memset && table.memcpy->count + table.memset->count > 0) {
    out += fmt::format("apart from the kernels: {} memcpy {} us, {} memset {} us\n", table.memcpy->count,
                       micros(table.memcpy->time_ns), table.memset->count, micros(table.memset->time_ns));
  }
  const RowAccount& account = table.account;
  out += fmt::format("rows {} = kept {} + dropped {} + ignored {}\n", account.rows, account.kept,
                     account.dropped, account.ignored);
  if (table.lossy) out += "records are missing: a credit refuses this table\n";
  return out;
}

TextTable rows_of(const KernelTable& table, std::size_t name_width) {
  const bool tensor = std::any_of(table.kernels.begin(), table.kernels.end(),
                                  [](const KernelRow& row) { return row.tensor_pct.has_value(); });
  const bool per_call = table.calls.has_value();
  TextTable out;
  out.columns = {{per_call ? "us/call" : "us", Align::right},
                 {"%", Align::right},
                 {per_call ? "launches/call" : "launches", Align::right}};
  if (tensor) out.columns.push_back({"tensor %", Align::right});
  out.columns.push_back({"kernel"});
  const double calls = per_call ? static_cast<double>(*table.calls) : 1;
  for (const KernelRow& row : table.kernels) {
    std::vector<Cell> cells = {micros(row.time_ns / calls), format_fixed(row.pct, 1)};
    const double launches = static_cast<double>(row.launches) / calls;
    cells.emplace_back(launches == std::floor(launches) ? std::to_string(static_cast<std::int64_t>(launches))
                                                        : format_fixed(launches, 2));
    if (tensor) cells.emplace_back(row.tensor_pct ? format_fixed(*row.tensor_pct, 1) : std::string());
    const std::string name = shown_name(table, row, name_width);
    cells.emplace_back(row.truncated ? name + "  (cut by the profiler: never priced)" : name,
                       row.truncated ? Style::warn : Style::plain);
    out.rows.push_back(std::move(cells));
  }
  return out;
}

std::string notes_of(const KernelTable& table, std::string_view bullet) {
  std::string out;
  for (const std::string& note : table.notes) out += fmt::format("{}{}\n", bullet, printable(note));
  return out;
}

const std::string& name_of(const DiffRow& row) { return row.before ? row.before->name : row.after->name; }

/// The identity where only one row has it, else enough of the whole name to tell the rows apart.
std::string label_of(const DiffRow& row, const std::map<std::string, std::size_t>& rows_of_identity) {
  const bool alone = rows_of_identity.at(row.identity) == 1;
  return (alone ? row.identity : cut_middle(printable(name_of(row)), 72)) + (row.ambiguous ? " *" : "");
}

TextTable rows_of(const TableDiff& diff) {
  TextTable out;
  out.columns = {{"before us", Align::right}, {"after us", Align::right}, {"change us", Align::right},
                 {"change %", Align::right},  {"launches", Align::right}, {"kernel"}};
  std::map<std::string, std::size_t> rows_of_identity;
  for (const DiffRow& row : diff.rows) ++rows_of_identity[row.identity];
  const auto count = [](const std::optional<DiffSide>& side) {
    if (!side) return std::string("–");
    const double n = side->launches_per_call;
    return n == std::floor(n) ? std::to_string(static_cast<std::int64_t>(n)) : format_fixed(n, 2);
  };
  for (const DiffRow& row : diff.rows) {
    const Style style = row.delta_ns > 0 ? Style::bad : row.delta_ns < 0 ? Style::good : Style::plain;
    const double before = row.before ? row.before->time_ns_per_call : 0;
    out.rows.push_back({row.before ? micros(before) : std::string("–"),
                        row.after ? micros(row.after->time_ns_per_call) : std::string("–"),
                        Cell(signed_micros(row.delta_ns), style),
                        before > 0 ? format_fixed(100 * row.delta_ns / before, 1) : std::string("new"),
                        count(row.before) + " → " + count(row.after), label_of(row, rows_of_identity)});
  }
  return out;
}

std::string diff_summary(const TableDiff& diff) {
  const double change = diff.after_ns - diff.before_ns;
  std::string out = fmt::format("{} us → {} us{}: {} us", micros(diff.before_ns), micros(diff.after_ns),
                                diff.per_call ? " a call" : "", signed_micros(change));
  if (diff.before_ns > 0) out += fmt::format(" ({:+.1f} %)", 100 * change / diff.before_ns);
  out += "\n";
  if (!diff.caution.empty()) out += fmt::format("note: {}\n", diff.caution);
  return out;
}

std::string ambiguous_rows(const TableDiff& diff) {
  const bool any =
      std::any_of(diff.rows.begin(), diff.rows.end(), [](const DiffRow& r) { return r.ambiguous; });
  return any ? "* several kernels share this short name and their whole names differ between the tables, or "
               "a "
               "name is cut: which became which cannot be told\n"
             : "";
}

/// Columns for a kernel's name; without a terminal those that decide between a name and its identity.
std::size_t name_width(const Look& look) {
  constexpr int kBeside = 36;
  return static_cast<std::size_t>(std::max(24, sentence_width(look) - kBeside));
}

std::vector<double> shares_of(const KernelTable& table) {
  std::vector<double> out;
  for (const KernelRow& row : table.kernels) out.push_back(row.pct / 100);
  return out;
}

}  // namespace

std::string render_kernel_table(const KernelTable& table, const Look& look) {
  TextTable rows = rows_of(table, name_width(look));
  add_bars(rows, look, 1, shares_of(table));
  return summary(table) + "\n" + render_text(rows, look) + "\n" + notes_of(table, "note: ");
}

std::string render_kernel_table_markdown(const KernelTable& table) {
  std::string head = summary(table);
  std::string out;
  for (std::size_t at = 0; at < head.size();) {  // one line of the summary is one Markdown list entry
    const std::size_t end = head.find('\n', at);
    out += "- " + markdown_text(std::string_view(head).substr(at, end - at)) + "\n";
    at = end + 1;
  }
  out += "\n" + render_markdown(rows_of(table, 64)) + "\n";
  for (const std::string& note : table.notes) out += "- " + markdown_text(note) + "\n";
  return out;
}

std::string render_table_diff(const TableDiff& diff, const Look& look) {
  return diff_summary(diff) + "\n" + render_text(rows_of(diff), look) + ambiguous_rows(diff);
}

std::string render_table_diff_markdown(const TableDiff& diff) {
  const std::string ambiguous = ambiguous_rows(diff);
  return diff_summary(diff) + "\n" + render_markdown(rows_of(diff)) + "\n" +
         (ambiguous.empty() ? "" : "\\" + ambiguous);
}

}  // namespace plumbline
