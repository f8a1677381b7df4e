// SPDX-License-Identifier: Apache-2.0
// AMD's rocprof and rocprofv3 as CSV: a row a dispatch (results.csv, *_kernel_trace.csv,
// *_counter_collection.csv) or a row a kernel (results.stats.csv, *_kernel_stats.csv). All times are
// nanoseconds.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "plumbline/base/text.h"
#include "plumbline/profile/csv.h"
#include "plumbline/profile/importers.h"
#include "plumbline/profile/table_rows.h"

namespace plumbline::profile {
namespace {

struct KnownTitle {
  std::string_view title;
  std::size_t TableColumns::*column;
};

/// Titles of both generations; the first of a column wins, so that a stream stands before its queue.
constexpr auto kTitles = std::to_array<KnownTitle>({
    // rocprof: "Index","KernelName","gpu-id","queue-id",…,"BeginNs","EndNs","CompleteNs","DurationNs"
    {"Index", &TableColumns::id},
    {"KernelName", &TableColumns::name},
    {"gpu-id", &TableColumns::device},
    {"queue-id", &TableColumns::stream},
    {"pid", &TableColumns::process},
    {"BeginNs", &TableColumns::start},
    {"EndNs", &TableColumns::end},
    {"DurationNs", &TableColumns::duration},
    // rocprofv3 and rocpd2csv
    {"Guid", &TableColumns::process},
    {"Process_Id", &TableColumns::process},
    {"Kind", &TableColumns::kind},
    {"Agent_Id", &TableColumns::device},
    {"Stream_Id", &TableColumns::stream},
    {"Queue_Id", &TableColumns::stream},
    {"Dispatch_Id", &TableColumns::id},
    {"Kernel_Name", &TableColumns::name},
    {"Start_Timestamp", &TableColumns::start},
    {"End_Timestamp", &TableColumns::end},
    // the summaries of both
    {"Name", &TableColumns::name},
    {"Calls", &TableColumns::calls},
    {"TotalDurationNs", &TableColumns::total},
    {"AverageNs", &TableColumns::average},
    {"Percentage", &TableColumns::share},
    {"MinNs", &TableColumns::low},
    {"MaxNs", &TableColumns::high},
});

bool is_header_line(std::string_view line) {
  const auto has = [&](std::string_view word) { return line.find(word) != std::string_view::npos; };
  if (line.find(',') == std::string_view::npos ||
      (line.front() != '"' && std::isalpha(static_cast<unsigned char>(line.front())) == 0))
    return false;
  return (has("KernelName") && has("gpu-id")) || (has("Kernel_Name") && has("Agent_Id")) ||
         (has("Name") && has("TotalDurationNs")) || (has("Start_Timestamp") && has("End_Timestamp"));
}

/// A row of another domain's summary: calls of HIP or HSA, copies, or the domains themselves.
bool is_of_calls(std::string_view name) {
  constexpr auto kDomains = std::to_array<std::string_view>(
      {"KERNEL_DISPATCH", "HIP_API", "HSA_API", "MEMORY_COPY", "MARKER_API", "SCRATCH_MEMORY"});
  constexpr auto kCalls = std::to_array<std::string_view>(
      {"hipLaunchKernel", "hipMemcpy", "hipMalloc", "hipFree", "hipDeviceSynchronize", "hipStreamSynchronize",
       "hipModuleLaunchKernel", "__hipPushCallConfiguration", "hsa_", "MEMORY_COPY_"});
  return std::find(kDomains.begin(), kDomains.end(), name) != kDomains.end() ||
         std::any_of(kCalls.begin(), kCalls.end(),
                     [&](std::string_view call) { return name.starts_with(call); });
}

class RocprofParser {
 public:
  RocprofParser(const std::string& path, const ImportOptions& options, std::unique_ptr<ByteSource> source)
      : path_(path),
        csv_(std::move(source)),
        collector_("rocprof-csv", path, options),
        rows_(collector_, path) {
    if (!options.range.empty())
      fail(diagnose("import-no-ranges", "rocprof's tables of kernels have no ranges", {path}));
  }

  Parsed<KernelTable> parse() {
    while (!failed_ && csv_.next_line()) take_line();
    if (csv_.error()) fail(*csv_.error());
    if (!failed_ && table_line_ == 0)
      fail(diagnose("import-no-kernels", "no table of kernels in this file of rocprof", {path_}));
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
    if (trim(csv_.line()).empty()) return;
    if (is_header_line(csv_.line())) return take_header();
    if (table_line_ == 0) return;
    if (!csv_.split())
      return fail(diagnose("csv-quote", "a quoted field never closes: the file is cut or damaged", here()));
    if (summary_ && name_ < csv_.fields().size() && is_of_calls(trim(csv_.fields()[name_]))) {
      return fail(
          diagnose("import-no-kernels",
                   fmt::format("a summary of calls or copies ({}), not of kernels: import the file of the "
                               "kernels (results.stats.csv, *_kernel_stats.csv)",
                               printable(cut_middle(csv_.fields()[name_], 40))),
                   here()));
    }
    if (auto problem = rows_.take(csv_.fields(), csv_.line_number())) fail(std::move(*problem));
  }

  void take_header() {
    if (!csv_.split()) return fail(diagnose("csv-quote", "a quoted field never closes", here()));
    if (table_line_ != 0) {
      return fail(
          diagnose("import-rows-twice",
                   fmt::format("a second table of kernels (the first is on line {}): import each file by "
                               "itself, ranks with --ranks",
                               table_line_),
                   here()));
    }
    table_line_ = csv_.line_number();
    TableColumns columns;
    columns.fields = csv_.fields().size();
    columns.kernels = "KERNEL_DISPATCH";
    columns.time_unit = columns.clock_unit = read_unit("ns");
    for (const KnownTitle& known : kTitles) {
      for (std::size_t i = 0; i < columns.fields; ++i) {
        if (trim(csv_.fields()[i]) == known.title && columns.*(known.column) == TableColumns::kAbsent)
          columns.*(known.column) = i;
        columns.rows_of_counters = columns.rows_of_counters || trim(csv_.fields()[i]) == "Counter_Name";
      }
    }
    columns.one_row_an_id = !columns.rows_of_counters && columns.id != TableColumns::kAbsent;
    summary_ = columns.summary();
    name_ = columns.name;
    if (!summary_ && !columns.launches()) {
      return fail(
          diagnose("csv-header",
                   "no column of the kernels' names, begins and ends: rocprof --timestamp on, rocprofv3 "
                   "--kernel-trace",
                   here()));
    }
    collector_.set_has_order(!summary_);
    if (auto problem = rows_.begin(columns, table_line_)) fail(std::move(*problem));
  }

  const std::string& path_;
  CsvReader csv_;
  Collector collector_;
  TableRows rows_;
  Diagnostics diagnostics_;
  bool failed_ = false;
  bool summary_ = false;
  std::size_t name_ = TableColumns::kAbsent;
  int table_line_ = 0;
};

bool detect(std::string_view head, const std::string&) {
  return any_line(
      head, [](std::string_view line, std::string_view) { return !line.empty() && is_header_line(line); });
}

Parsed<KernelTable> parse(const std::string& path, const ImportOptions& options) {
  auto source = ByteSource::open(path, options.progress);
  if (!source.ok()) return {std::nullopt, std::move(source.diagnostics)};
  return RocprofParser(path, options, std::move(*source.value)).parse();
}

}  // namespace

const Importer kRocprofCsv = {
    "rocprof-csv",
    "AMD's rocprof (results.csv, results.stats.csv) and rocprofv3 (*_kernel_trace.csv, *_kernel_stats.csv)",
    detect, parse};

}  // namespace plumbline::profile
