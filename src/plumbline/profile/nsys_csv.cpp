// SPDX-License-Identifier: Apache-2.0
// `nsys stats --format csv`: the kernel summary (cuda_gpu_kern_sum, before 2023 gpukernsum), with or without
// grid and block columns, alone or among other reports.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "plumbline/base/text.h"
#include "plumbline/profile/cells.h"
#include "plumbline/profile/collect.h"
#include "plumbline/profile/csv.h"
#include "plumbline/profile/importers.h"

namespace plumbline::profile {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// "Total Time (ns)" is the column "Total Time" in "ns".
struct Titled {
  std::string_view title;
  std::string_view unit;
};

Titled titled(std::string_view header) {
  header = trim(header);
  const std::size_t open = header.rfind('(');
  if (open == std::string_view::npos || !header.ends_with(')')) return {header, {}};
  return {trim(header.substr(0, open)), header.substr(open + 1, header.size() - open - 2)};
}

struct Columns {
  std::size_t count = 0;
  std::size_t total = kNone, instances = kNone, low = kNone, high = kNone, name = kNone, category = kNone;
  std::optional<Unit> unit;
  std::string unit_text;
  bool old = false;  ///< "Time(%)" without a blank: nsys of 2020 and 2021
  bool kernels() const { return total != kNone && instances != kNone && name != kNone; }
};

bool is_header_line(std::string_view line) {
  return line.starts_with("Time(%),") || line.starts_with("Time (%),") || line.starts_with("\"Time(%)\",") ||
         line.starts_with("\"Time (%)\",");
}

/// A header of another report of nsys stats: a trace, or a summary by range.
bool is_other_header(std::string_view line) {
  return line.starts_with("Start (ns),") || line.starts_with("NVTX Range,") || line.starts_with("Start(ns),");
}

bool is_console_header(std::string_view line) {
  line = trim(line);
  return (line.starts_with("Time (%) ") || line.starts_with("Time(%) ")) &&
         line.find("Total Time") != std::string_view::npos;
}

class NsysCsvParser {
 public:
  NsysCsvParser(const std::string& path, const ImportOptions& options, std::unique_ptr<ByteSource> source)
      : path_(path), csv_(std::move(source)), collector_("nsys-csv", path, options) {
    collector_.set_has_order(false);
    if (!options.range.empty()) {
      fail(diagnose("import-no-ranges", "a summary has no ranges: import the SQLite export with --range",
                    {path}));
    }
  }

  Parsed<KernelTable> parse() {
    while (!failed_ && csv_.next_line()) take_line();
    if (csv_.error()) fail(*csv_.error());
    if (!failed_ && kernel_line_ == 0) report_no_table();
    if (failed_) return {std::nullopt, std::move(diagnostics_)};
    RowAccount& account = collector_.account();
    account.ignored = account.rows - account.kept - account.dropped;
    return collector_.finish();
  }

 private:
  void fail(Diagnostic diagnostic) {
    diagnostics_.push_back(std::move(diagnostic));
    failed_ = true;
  }
  Location here() const { return {path_, csv_.line_number(), 0}; }

  void take_line() {
    const std::string_view line = csv_.line();
    if (trim(line).empty()) {
      in_table_ = false;
    } else if (is_header_line(line)) {
      take_header();
    } else if (in_table_) {
      take_row();
    } else if (is_other_header(line)) {
      other_line_ = csv_.line_number();
      in_table_ = false;
    } else if (is_console_header(line)) {
      console_line_ = csv_.line_number();
    } else if (line.find("does not contain CUDA kernel data") != std::string_view::npos) {
      skipped_line_ = csv_.line_number();
    }
  }

  void report_no_table() {
    if (skipped_line_ != 0) {
      return fail(diagnose("import-no-kernels", "nsys stats found no CUDA kernel data in its report",
                           {path_, skipped_line_, 1}));
    }
    if (console_line_ != 0) {
      return fail(diagnose("nsys-console", "this is nsys stats' console table", {path_, console_line_, 1}));
    }
    fail(diagnose("nsys-other-report", "no kernel summary in this file of nsys stats",
                  {path_, other_line_, other_line_ == 0 ? 0 : 1}));
  }

  void take_header() {
    if (!csv_.split()) return fail(diagnose("csv-quote", "a quoted field never closes", here()));
    columns_ = Columns{};
    columns_.count = csv_.fields().size();
    columns_.old = csv_.line().find("Time(%)") != std::string_view::npos;
    for (std::size_t i = 0; i < columns_.count; ++i) {
      const auto [title, unit] = titled(csv_.fields()[i]);
      if (title == "Total Time") {
        columns_.total = i;
        columns_.unit_text = unit;
      } else if (title == "Instances")
        columns_.instances = i;
      else if (title == "Min" || title == "Minimum")
        columns_.low = i;
      else if (title == "Max" || title == "Maximum")
        columns_.high = i;
      else if (title == "Name")
        columns_.name = i;
      else if (title == "Category")
        columns_.category = i;
      else if (title == "Operation" && columns_.name == kNone)
        columns_.name = i;
    }
    in_table_ = true;
    if (!columns_.kernels()) {
      other_line_ = csv_.line_number();
      return;
    }
    if (kernel_line_ != 0) {
      return fail(diagnose(
          "nsys-other-report",
          fmt::format("a second kernel summary (the first is on line {}): the same kernels would count twice",
                      kernel_line_),
          here()));
    }
    kernel_line_ = csv_.line_number();
    const bool unnamed = columns_.unit_text.empty() && columns_.old;
    columns_.unit = read_unit(unnamed ? "ns" : columns_.unit_text);
    if (!columns_.unit || columns_.unit->quantity != Quantity::time) {
      return fail(diagnose("unit-unknown",
                           fmt::format("\"Total Time\" in \"{}\"", printable(columns_.unit_text)), here()));
    }
    if (unnamed) collector_.note("the header names no unit: nanoseconds, as nsys of that age wrote");
  }

  std::optional<double> number(std::size_t column) const {
    const auto cell = column < csv_.fields().size() ? read_number_cell(csv_.fields()[column]) : std::nullopt;
    if (!cell || (cell->separators != Separators::none && cell->separators != Separators::dot_decimal &&
                  cell->separators != Separators::dot_three)) {
      return std::nullopt;  // nsys writes CSV without thousands separators and with a decimal dot, in every
                            // locale
    }
    return cell->if_dot;
  }

  void take_row() {
    if (!csv_.split())
      return fail(diagnose("csv-quote", "a quoted field never closes: the file is cut or damaged", here()));
    ++collector_.account().rows;
    if (!columns_.kernels()) return;
    if (csv_.fields().size() != columns_.count) {
      return fail(diagnose(
          "csv-fields", fmt::format("{} fields under a header of {}", csv_.fields().size(), columns_.count),
          here()));
    }
    if (columns_.category != kNone && csv_.fields()[columns_.category] != "CUDA_KERNEL") return;
    const auto total = number(columns_.total);
    const auto instances = number(columns_.instances);
    if (!total || !instances)
      return fail(diagnose("csv-fields", "the total or the instances are no plain numbers", here()));
    const auto time = to_picoseconds(*total, *columns_.unit);
    if (!time || *instances < 1 || *instances > 1e12 || *instances != std::floor(*instances) ||
        csv_.fields()[columns_.name].empty()) {
      return fail(diagnose("csv-fields", "a total, an instance count or a name that cannot be", here()));
    }
    Launch launch;
    launch.name = collector_.name_id(csv_.fields()[columns_.name]);
    launch.launches = static_cast<std::int64_t>(*instances);
    launch.time_ps = *time;
    const auto low = number(columns_.low);
    const auto high = number(columns_.high);
    if (low) launch.min_ps = to_picoseconds(*low, *columns_.unit);
    if (high) launch.max_ps = to_picoseconds(*high, *columns_.unit);
    Group& group = collector_.group(kUnknownId, kUnknownId);
    if (!collector_.add(group, launch)) {
      return collector_.drop(diagnose("import-row-dropped", "a sum of durations is over 100 days", here()));
    }
    ++group.kept_rows;
    ++collector_.account().kept;
  }

  const std::string& path_;
  CsvReader csv_;
  Collector collector_;
  Diagnostics diagnostics_;
  bool failed_ = false;
  Columns columns_;
  bool in_table_ = false;
  int kernel_line_ = 0;
  int other_line_ = 0;
  int console_line_ = 0;
  int skipped_line_ = 0;
};

bool detect(std::string_view head, const std::string&) {
  return any_line(head, [](std::string_view line, std::string_view) {
    return is_header_line(line) || is_other_header(line) || is_console_header(line) ||
           (line.starts_with("SKIPPED: ") &&
            line.find("does not contain CUDA kernel data") != std::string_view::npos);
  });
}

Parsed<KernelTable> parse(const std::string& path, const ImportOptions& options) {
  auto source = ByteSource::open(path, options.progress);
  if (!source.ok()) return {std::nullopt, std::move(source.diagnostics)};
  return NsysCsvParser(path, options, std::move(*source.value)).parse();
}

}  // namespace

const Importer kNsysCsv = {
    "nsys-csv", "nsys stats --format csv: the kernel summary (cuda_gpu_kern_sum, gpukernsum)", detect, parse};

}  // namespace plumbline::profile
