// SPDX-License-Identifier: Apache-2.0
// `nsys stats --format csv`: the kernel summary (cuda_gpu_kern_sum, before 2023 gpukernsum) and the GPU trace
// (cuda_gpu_trace, gputrace), alone or among other reports.
#include <fmt/format.h>

#include "plumbline/base/text.h"
#include "plumbline/profile/csv.h"
#include "plumbline/profile/importers.h"
#include "plumbline/profile/nsys_table.h"

namespace plumbline::profile {
namespace {

bool is_header_line(std::string_view line) {
  if (line.starts_with('"')) line.remove_prefix(1);
  for (const std::string_view front :
       {"Time(%)", "Time (%)", "Start (", "Start(", "NVTX Range", "API Start (", "Name,Start ("}) {
    if (line.starts_with(front)) return line.find(',') != std::string_view::npos;
  }
  return false;
}

class NsysCsvParser {
 public:
  NsysCsvParser(const std::string& path, const ImportOptions& options, std::unique_ptr<ByteSource> source)
      : path_(path), csv_(std::move(source)), collector_("nsys-csv", path, options), rows_(collector_, path) {
    if (!options.range.empty()) {
      fail(diagnose("import-no-ranges",
                    "nsys stats' tables have no ranges: import the SQLite export with --range", {path}));
    }
  }

  Parsed<KernelTable> parse() {
    while (!failed_ && csv_.next_line()) take_line();
    if (csv_.error()) fail(*csv_.error());
    if (!failed_ && table_line_ == 0) report_no_table();
    if (failed_) return {std::nullopt, std::move(diagnostics_)};
    rows_.finish(csv_.open_end(), csv_.line_number());
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
    } else if (line.find("does not contain CUDA kernel data") != std::string_view::npos) {
      skipped_line_ = csv_.line_number();
    }
  }

  void report_no_table() {
    if (skipped_line_ != 0) {
      return fail(diagnose("import-no-kernels", "nsys stats found no CUDA kernel data in its report",
                           {path_, skipped_line_, 1}));
    }
    fail(diagnose("nsys-other-report", "no kernel summary and no GPU trace in this file of nsys stats",
                  {path_, other_line_, other_line_ == 0 ? 0 : 1}));
  }

  void take_header() {
    if (!csv_.split()) return fail(diagnose("csv-quote", "a quoted field never closes", here()));
    const NsysTable table = nsys_table(csv_.fields());
    in_table_ = true;
    counts_ = table.report != NsysReport::other;
    if (!counts_) {
      other_line_ = csv_.line_number();
      return;
    }
    if (table_line_ != 0) {
      return fail(diagnose(
          "nsys-other-report",
          fmt::format(
              "a second table of kernels (the first is on line {}): the same kernels would count twice",
              table_line_),
          here()));
    }
    table_line_ = csv_.line_number();
    collector_.set_has_order(table.report == NsysReport::trace);
    collector_.set_sees_copies(table.report == NsysReport::trace);
    if (table.unnamed_unit)
      collector_.note("the header names no unit: nanoseconds, as nsys of that age wrote");
    if (auto problem = rows_.begin(table.columns, table_line_)) fail(std::move(*problem));
  }

  void take_row() {
    if (!csv_.split())
      return fail(diagnose("csv-quote", "a quoted field never closes: the file is cut or damaged", here()));
    if (!counts_) {
      ++collector_.account().rows;
      ++collector_.account().ignored;
    } else if (auto problem = rows_.take(csv_.fields(), csv_.line_number())) {
      fail(std::move(*problem));
    }
  }

  const std::string& path_;
  CsvReader csv_;
  Collector collector_;
  TableRows rows_;
  Diagnostics diagnostics_;
  bool failed_ = false;
  bool in_table_ = false;
  bool counts_ = false;  ///< the table holds kernels
  int table_line_ = 0;
  int other_line_ = 0;
  int skipped_line_ = 0;
};

bool detect(std::string_view head, const std::string&) {
  return any_line(head, [](std::string_view line, std::string_view) {
    if (line.starts_with("SKIPPED: "))
      return line.find("does not contain CUDA kernel data") != std::string_view::npos;
    // nvprof's summary begins with "Time(%)" too, and has no column "Total Time".
    return is_header_line(line) &&
           (line.find("Total Time") != std::string_view::npos || !line.starts_with("Time(%)")) &&
           !line.starts_with("\"Time(%)\",\"Time\"");
  });
}

Parsed<KernelTable> parse(const std::string& path, const ImportOptions& options) {
  auto source = ByteSource::open(path, options.progress);
  if (!source.ok()) return {std::nullopt, std::move(source.diagnostics)};
  return NsysCsvParser(path, options, std::move(*source.value)).parse();
}

}  // namespace

const Importer kNsysCsv = {
    "nsys-csv", "nsys stats --format csv: kernel summary (cuda_gpu_kern_sum) or GPU trace (cuda_gpu_trace)",
    detect, parse};

}  // namespace plumbline::profile
