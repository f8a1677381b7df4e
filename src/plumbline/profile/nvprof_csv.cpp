// SPDX-License-Identifier: Apache-2.0
// nvprof --csv: the summary of GPU activities, or a row a launch (--print-gpu-trace). A row of units follows
// the header; every table stands behind its process's lines ("==1234== Profiling result:").
#include <fmt/format.h>

#include <array>
#include <set>

#include "plumbline/base/numbers.h"
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

constexpr auto kTitles = std::to_array<KnownTitle>({
    {"Time(%)", &TableColumns::share},
    {"Time", &TableColumns::total},
    {"Calls", &TableColumns::calls},
    {"Avg", &TableColumns::average},
    {"Min", &TableColumns::low},
    {"Max", &TableColumns::high},
    {"Name", &TableColumns::name},
    {"Type", &TableColumns::kind},
    {"Start", &TableColumns::start},
    {"Duration", &TableColumns::duration},
    {"Device", &TableColumns::device},
    {"Stream", &TableColumns::stream},
});

bool is_header_line(std::string_view line) {
  if (line.starts_with('"')) line.remove_prefix(1);
  const bool summary =
      (line.starts_with("Type\",") || line.starts_with("Type,") || line.starts_with("Time(%)")) &&
      line.find("Calls") != std::string_view::npos && line.find("Avg") != std::string_view::npos;
  const bool trace = (line.starts_with("Start\",") || line.starts_with("Start,")) &&
                     line.find("Duration") != std::string_view::npos;
  return summary || trace;
}

/// "f(int) [108]" is f(int): the number is the launch's.
std::string_view without_correlation(std::string_view name) {
  name = trim(name);
  if (!name.ends_with(']')) return name;
  const std::size_t open = name.rfind(" [");
  if (open == std::string_view::npos || !parse_int(name.substr(open + 2, name.size() - open - 3)))
    return name;
  return name.substr(0, open);
}

class NvprofParser {
 public:
  NvprofParser(const std::string& path, const ImportOptions& options, std::unique_ptr<ByteSource> source)
      : path_(path),
        csv_(std::move(source)),
        collector_("nvprof-csv", path, options),
        rows_(collector_, path) {
    collector_.set_sees_copies(true);
    if (!options.range.empty()) fail(diagnose("import-no-ranges", "nvprof's tables have no ranges", {path}));
  }

  Parsed<KernelTable> parse() {
    while (!failed_ && csv_.next_line()) take_line();
    if (csv_.error()) fail(*csv_.error());
    if (!failed_ && tables_.empty()) report_no_table();
    if (failed_) return {std::nullopt, std::move(diagnostics_)};
    rows_.finish(csv_.open_end(), csv_.line_number());
    return collector_.finish();
  }

 private:
  enum class State { outside, units, rows };

  void fail(Diagnostic diagnostic) {
    diagnostics_.push_back(std::move(diagnostic));
    failed_ = true;
  }
  Location here() const { return {path_, csv_.line_number(), 0}; }

  void report_no_table() {
    const char* why = calls_line_ != 0 ? "a table of calls, none of GPU activities"
                      : no_kernels_    ? "nvprof profiled no kernels"
                                       : "nvprof's messages and no CSV table: run nvprof --csv";
    fail(diagnose("import-no-kernels", why, {path_, calls_line_, calls_line_ == 0 ? 0 : 1}));
  }

  void take_line() {
    const std::string_view line = csv_.line();
    if (trim(line).empty()) {
      state_ = State::outside;
    } else if (line.starts_with("==")) {
      state_ = State::outside;
      take_message(line);
    } else if (is_header_line(line)) {
      take_header();
    } else if (state_ == State::units) {
      take_units();
    } else if (state_ == State::rows) {
      take_row();
    }
  }

  void take_message(std::string_view line) {
    const std::size_t end = line.find("==", 2);
    if (const auto process =
            end == std::string_view::npos ? std::nullopt : parse_int(line.substr(2, end - 2)))
      process_ = *process;
    const auto has = [&](std::string_view word) { return line.find(word) != std::string_view::npos; };
    no_kernels_ = no_kernels_ || has("No kernels were profiled") || has("No profile data collected");
    if (has("Warning: ") &&
        (has("records have invalid timestamps") || has("dropped") || has("lost") || has("overflow")))
      collector_.lost("nvprof said: " + printable(cut_middle(line, 160)), here());
  }

  void take_header() {
    if (!csv_.split()) return fail(diagnose("csv-quote", "a quoted field never closes", here()));
    columns_ = TableColumns();
    columns_.fields = csv_.fields().size();
    columns_.kernels = "GPU activities";
    bool of_gpu = false;
    for (std::size_t i = 0; i < columns_.fields; ++i) {
      const std::string_view title = trim(csv_.fields()[i]);
      of_gpu = of_gpu || title == "Grid X" || title == "Stream";
      for (const KnownTitle& known : kTitles) {
        if (known.title == title) columns_.*(known.column) = i;
      }
    }
    columns_.shares_of_kernels = true;  // the shares of the calls sum to 100 % apart
    counts_ = columns_.summary() || (columns_.launches() && of_gpu);
    state_ = State::units;
    if (!counts_) {
      calls_line_ = csv_.line_number();
    } else if (!tables_.insert(process_).second) {
      fail(diagnose("import-rows-twice",
                    "a second table of the same process: the same kernels would count twice", here()));
    }
  }

  void take_units() {
    if (!csv_.split()) return fail(diagnose("csv-quote", "a quoted field never closes", here()));
    ++collector_.account().rows;
    ++collector_.account().ignored;
    state_ = State::rows;
    if (!counts_) return;
    const auto unit = [&](std::size_t column) {
      return column < csv_.fields().size() ? read_unit(csv_.fields()[column]) : std::nullopt;
    };
    columns_.time_unit = unit(columns_.summary() ? columns_.total : columns_.duration);
    columns_.clock_unit = unit(columns_.start);
    columns_.average_unit = unit(columns_.average);  // each column has its own
    columns_.low_unit = unit(columns_.low);
    columns_.high_unit = unit(columns_.high);
    collector_.set_has_order(!columns_.summary());
    if (auto problem = rows_.begin(columns_, csv_.line_number())) fail(std::move(*problem));
  }

  void take_row() {
    if (!csv_.split())
      return fail(diagnose("csv-quote", "a quoted field never closes: the file is cut or damaged", here()));
    if (!counts_) {
      ++collector_.account().rows;
      ++collector_.account().ignored;
      return;
    }
    fields_.assign(csv_.fields().begin(), csv_.fields().end());
    if (columns_.name < fields_.size()) fields_[columns_.name] = without_correlation(fields_[columns_.name]);
    if (auto problem = rows_.take(fields_, csv_.line_number(), process_)) fail(std::move(*problem));
  }

  const std::string& path_;
  CsvReader csv_;
  Collector collector_;
  TableRows rows_;
  Diagnostics diagnostics_;
  bool failed_ = false;
  State state_ = State::outside;
  TableColumns columns_;
  std::vector<std::string_view> fields_;
  bool counts_ = false;  ///< the table holds GPU activities
  bool no_kernels_ = false;
  std::int64_t process_ = kUnknownId;
  std::set<std::int64_t> tables_;  ///< processes whose table was read
  int calls_line_ = 0;
};

bool detect(std::string_view head, const std::string&) {
  return any_line(head, [](std::string_view line, std::string_view) {
    return is_header_line(line) ||
           (line.starts_with("==") && (line.find("== NVPROF is profiling") != std::string_view::npos ||
                                       line.find("== Profiling application:") != std::string_view::npos));
  });
}

Parsed<KernelTable> parse(const std::string& path, const ImportOptions& options) {
  auto source = ByteSource::open(path, options.progress);
  if (!source.ok()) return {std::nullopt, std::move(source.diagnostics)};
  return NvprofParser(path, options, std::move(*source.value)).parse();
}

}  // namespace

const Importer kNvprofCsv = {"nvprof-csv", "nvprof --csv: summary, or launches (--print-gpu-trace)", detect,
                             parse};

}  // namespace plumbline::profile
