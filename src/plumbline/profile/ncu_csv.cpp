// SPDX-License-Identifier: Apache-2.0
// Nsight Compute's CSV: the details page (long), the raw page (wide) and --print-summary per-kernel. Its
// header is read in ncu_header, its log lines in ncu_log; this file reads the rows, and ncu_launches sums
// them.
#include <fmt/format.h>

#include <cmath>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/profile/csv.h"
#include "plumbline/profile/importers.h"
#include "plumbline/profile/ncu_header.h"
#include "plumbline/profile/ncu_launches.h"
#include "plumbline/profile/ncu_log.h"

namespace plumbline::profile {
namespace {

/// Does an NVTX cell (`13416 "<default domain>:window:none:…"`) name this range? `range` is NAME or
/// NAME@DOMAIN.
bool cell_in_range(std::string_view cell, std::string_view range) {
  const std::size_t split = range.rfind('@');
  const std::string name = fmt::format(":{}:", range.substr(0, split));
  if (split == std::string_view::npos || split == 0) return cell.find(name) != std::string_view::npos;
  return cell.find(fmt::format("\"{}{}", range.substr(split + 1), name)) != std::string_view::npos;
}

class NcuParser {
 public:
  NcuParser(const std::string& path, const ImportOptions& options, std::unique_ptr<ByteSource> source)
      : path_(path), options_(options), csv_(std::move(source)), collector_("ncu-csv", path, options) {}

  Parsed<KernelTable> parse() {
    while (!failed_ && csv_.next_line()) take_line();
    if (csv_.error()) fail(*csv_.error());
    if (!failed_ && segments_ == 0 && log_.text_page_line != 0)
      return kNcuText.parse(path_, options_);  // behind a log so long that its pages were not seen
    if (!failed_ && segments_ == 0) fail(log_.absent_table(path_));
    if (!failed_) finish_launches();
    if (failed_) return {std::nullopt, std::move(diagnostics_)};
    Parsed<KernelTable> result = collector_.finish();
    result.diagnostics.insert(result.diagnostics.begin(), diagnostics_.begin(), diagnostics_.end());
    return result;
  }

 private:
  void fail(Diagnostic diagnostic) {
    diagnostics_.push_back(std::move(diagnostic));
    failed_ = true;
  }
  Location here(std::size_t column = kNoColumn) const {
    int at = 0;
    if (column != kNoColumn && column < csv_.fields().size()) {
      const char* field = csv_.fields()[column].data();
      const char* line = csv_.line().data();
      if (field >= line && field <= line + csv_.line().size()) {
        at = 1 +
             static_cast<int>(display_width(csv_.line().substr(0, static_cast<std::size_t>(field - line))));
      }
    }
    return {path_, csv_.line_number(), at};
  }

  void take_line() {
    const std::string_view line = csv_.line();
    if (line.empty()) return;
    if (is_ncu_header_line(line)) {
      take_header();
    } else if (segments_ > 0 &&
               (line.front() == '"' || (!header_.quoted && line.front() >= '0' && line.front() <= '9') ||
                (header_.page == NcuPage::raw && !header_.has_units && line.front() == ','))) {
      take_row();
    } else {
      log_.take(line, csv_.line_number());
    }
  }

  void take_header() {
    if (!csv_.split()) return fail(diagnose("csv-quote", "a quoted field never closes", here()));
    auto header = read_ncu_header(csv_.fields(), csv_.line().front() == '"', here());
    if (!header.ok()) return fail(header.diagnostics.front());
    header_ = *header.value;
    if (header_.page == NcuPage::summary) collector_.set_has_order(false);
    if (!options_.range.empty() && !header_.has_ranges()) {
      return fail(
          diagnose("import-no-ranges", "the table has no NVTX columns: profile with ncu --nvtx", here()));
    }
    ++segments_;
    launches_.locales.emplace_back();
  }

  void take_row() {
    if (!csv_.split())
      return fail(diagnose("csv-quote", "a quoted field never closes: the file is cut or damaged", here()));
    const auto& fields = csv_.fields();
    std::size_t count = fields.size();
    while (count > header_.count && trim(fields[count - 1]).empty())
      --count;  // a comma behind the last value
    if (count > header_.count) {
      return fail(diagnose(
          "csv-fields",
          fmt::format("{} fields under a header of {}: a decimal comma outside quotes, or a damaged row",
                      count, header_.count),
          here()));
    }
    switch (header_.page) {
      case NcuPage::raw:
        return take_raw();
      case NcuPage::details:
        return take_details();
      case NcuPage::summary:
        return take_summary();
    }
  }

  bool cut(std::size_t needed) {
    if (csv_.fields().size() >= needed) return false;
    fail(diagnose(
        "csv-fields",
        fmt::format("{} fields where the header has {}: the row is cut", csv_.fields().size(), header_.count),
        here()));
    return true;
  }

  std::string_view field(std::size_t column) const {
    return column < csv_.fields().size() ? csv_.fields()[column] : std::string_view();
  }

  /// The launch that the row speaks of; nullptr when the row is outside the asked range, or on an error.
  NcuRow* launch_of_row() {
    ++collector_.account().rows;
    if (!options_.range.empty() && !cell_in_range(field(header_.push_pop), options_.range) &&
        !cell_in_range(field(header_.start_stop), options_.range)) {
      ++collector_.account().ignored;
      return nullptr;
    }
    NcuRow row;
    if (!read_launch(row)) return nullptr;
    const auto [launch, fresh] = launches_.place(row);
    if (!fresh)
      ++collector_.account().ignored;  // one row of a launch stands for it, the others say more of it
    if (!fresh && launch->name != row.name) {
      fail(diagnose(
          "ncu-duplicate-launch",
          fmt::format("launch {} of process {} is another kernel than on line {}: two files in one without "
                      "their headers?",
                      row.id, row.process, launch->line),
          here(header_.id)));
      return nullptr;
    }
    return launch;
  }

  /// What a row says of its launch besides the metrics.
  bool read_launch(NcuRow& row) {
    row.segment = static_cast<std::uint32_t>(segments_);
    row.line = csv_.line_number();
    const auto id = header_.id == kNoColumn
                        ? std::optional<std::int64_t>(static_cast<std::int64_t>(launches_.rows.size()))
                        : parse_int(trim(field(header_.id)));
    if (!id) {
      fail(diagnose("csv-fields",
                    fmt::format("\"{}\" is not a launch ID", printable(cut_middle(field(header_.id), 40))),
                    here(header_.id)));
      return false;
    }
    row.id = *id;
    row.process = parse_int(trim(field(header_.process))).value_or(kUnknownId);
    row.device = parse_int(trim(field(header_.device))).value_or(kUnknownId);
    row.stream = parse_int(trim(field(header_.stream))).value_or(kUnknownId);
    const std::string_view name = field(header_.name);
    if (name.empty()) {
      fail(diagnose("csv-fields", "a launch without a kernel name", here(header_.name)));
      return false;
    }
    row.name = name_of(name);
    if (header_.cc != kNoColumn && device_names_.insert(row.device).second) {
      collector_.set_device_name(row.device, fmt::format("CC {}", printable(field(header_.cc))));
    }
    return true;
  }

  std::uint32_t name_of(std::string_view name) {
    if (name == last_name_) return last_name_id_;  // rows of one launch follow each other
    last_name_ = name;
    last_name_id_ = collector_.name_id(name);
    return last_name_id_;
  }

  std::optional<NumberCell> number(std::size_t column) {
    const auto cell = read_number_cell(field(column));
    if (cell) launches_.locale().add(*cell, csv_.line_number());
    return cell;
  }

  /// A duration into the launch: the better metric wins, two unequal values of one metric are an error.
  void set_time(NcuRow& row, int rank, std::size_t column, const Unit& unit) {
    if (rank < row.time_rank) return;
    const auto cell = number(column);
    if (!cell) {
      if (row.time_rank == 0) row.time_bad = true;
      return;
    }
    if (header_.page == NcuPage::raw && unit.scale > 1)
      launches_.locale().add_scaled_time(*cell, csv_.line_number());
    if (unit.scale == 1) launches_.locale().add_whole_nanoseconds(*cell);
    if (rank == row.time_rank && (cell->if_dot * unit.scale != row.time.if_dot * row.unit.scale) &&
        (cell->if_comma * unit.scale != row.time.if_comma * row.unit.scale)) {
      return fail(diagnose("ncu-duplicate-launch",
                           fmt::format("launch {} has another duration than on line {}", row.id, row.line),
                           here(column)));
    }
    row.time = *cell;
    row.unit = unit;
    row.time_rank = rank;
    row.time_bad = false;
    row.line = csv_.line_number();
  }

  std::optional<Unit> time_unit(std::string_view text, std::size_t column) {
    const auto unit = read_unit(text);
    if (unit && unit->quantity == Quantity::time) return unit;
    fail(diagnose("unit-unknown",
                  fmt::format("a duration in \"{}\": this is not a unit of time that the importer knows",
                              printable(cut_middle(text, 40))),
                  here(column)));
    return std::nullopt;
  }

  void take_raw() {
    if (trim(field(header_.id)).empty()) {
      ++collector_.account().rows;
      ++collector_.account().ignored;
      if (header_.has_units) return fail(diagnose("csv-fields", "a launch without an ID", here(header_.id)));
      header_.has_units = true;
      header_.time_unit = time_unit(field(header_.time), header_.time);
      if (header_.tensor != kNoColumn && field(header_.tensor) != "%") header_.tensor = kNoColumn;
      return;
    }
    if (cut(header_.count)) return;
    if (!header_.has_units)
      return fail(diagnose("unit-unknown", "the row of units is missing below the header", here()));
    const std::size_t launches = launches_.rows.size();
    NcuRow* row = launch_of_row();
    if (row == nullptr) return;
    if (launches_.rows.size() == launches) {
      return fail(diagnose("ncu-duplicate-launch",
                           fmt::format("launch {} of process {} appears twice", row->id, row->process),
                           here(header_.id)));
    }
    for (std::size_t i = header_.first_metric; i < csv_.fields().size(); ++i) {
      if (i != header_.time) witness(i);
    }
    set_time(*row, 1, header_.time, *header_.time_unit);
    if (const auto cell = header_.tensor == kNoColumn ? std::nullopt : number(header_.tensor)) {
      row->tensor = *cell;
      row->tensor_rank = 1;
    }
    if (header_.display_name != kNoColumn && display_names_.insert(row->device).second) {
      collector_.set_device_name(row->device, printable(field(header_.display_name)));
    }
  }

  void take_details() {
    if (cut(header_.value)) return;
    NcuRow* row = launch_of_row();
    if (row == nullptr) return;
    const std::string_view metric = field(header_.metric);
    if (metric.empty()) return;  // a rule's row
    if (cut(header_.value + 1)) return;
    if (header_.rule != kNoColumn && read_number_cell(field(header_.rule))) {
      return fail(diagnose("csv-fields",
                           "a number where a rule's name stands: a decimal comma outside quotes",
                           here(header_.rule)));
    }
    if (const int rank = metric_rank(kTimeMetrics, metric); rank > 0) {
      if (const auto unit = time_unit(field(header_.unit), header_.unit))
        set_time(*row, rank, header_.value, *unit);
    } else if (const int tensor = metric_rank(kTensorMetrics, metric);
               tensor > row->tensor_rank && field(header_.unit) == "%") {
      if (const auto cell = number(header_.value)) {
        row->tensor = *cell;
        row->tensor_rank = tensor;
      }
    } else {
      witness(header_.value);
    }
  }

  /// A number that counts for nothing but for how the table writes its numbers.
  void witness(std::size_t column) {
    if (launches_.locale().settled()) {
      launches_.locale().contradict(field(column), csv_.line_number());
    } else {
      number(column);
    }
  }

  void take_summary() {
    if (cut(header_.average + 1)) return;
    const std::string_view metric = field(header_.metric);
    const int rank = metric_rank(kTimeMetrics, metric);
    if (rank == 0) {
      ++collector_.account().rows;
      ++collector_.account().ignored;
      for (const std::size_t column : {header_.invocations, header_.low, header_.high, header_.average}) {
        witness(column);
      }
      return;
    }
    NcuRow* row = launch_of_row();
    if (row == nullptr) return;
    const auto unit = time_unit(field(header_.unit), header_.unit);
    if (!unit) return;
    row->invocations = number(header_.invocations);
    if (!row->invocations) {
      return fail(diagnose("csv-fields",
                           fmt::format("\"{}\" is not a number of invocations",
                                       printable(cut_middle(field(header_.invocations), 40))),
                           here(header_.invocations)));
    }
    launches_.extremes[row->id] = {number(header_.low), number(header_.high)};
    set_time(*row, rank, header_.average, *unit);
  }

  /// Sums the launches, now that the whole file has shown how it writes numbers, and says what they are.
  void finish_launches() {
    NcuFeeder feeder(header_.page, path_, collector_);
    if (auto problem = feed_ncu_launches(launches_, feeder)) return fail(std::move(*problem));
    if (options_.range.empty()) {
      collector_.set_region("profiler");
    } else if (launches_.rows.empty()) {
      return fail(diagnose("import-no-such-range",
                           fmt::format("no launch lies in the range \"{}\"", printable(options_.range)),
                           {path_}));
    } else {
      collector_.set_region("nvtx:" + options_.range);
    }
    report_absence();
    if (log_.error_line != 0) {
      collector_.lost(fmt::format("ncu said: {}", log_.error_text), {path_, log_.error_line, 1});
    }
    collector_.note(
        "Nsight Compute times: one kernel at a time, by default with flushed caches and locked clocks; do "
        "not compare them with times of a trace");
  }

  /// The log names every launch that was profiled; one without a row is missing.
  void report_absence() {
    const auto launches = static_cast<std::int64_t>(launches_.rows.size());
    if (!options_.range.empty() || header_.page == NcuPage::summary || log_.profiled <= launches) return;
    collector_.lost(
        fmt::format("the log names {} profiled launches, and the table has {}", log_.profiled, launches));
  }

  const std::string& path_;
  const ImportOptions& options_;
  CsvReader csv_;
  Collector collector_;
  Diagnostics diagnostics_;
  bool failed_ = false;
  NcuLog log_;
  NcuHeader header_;
  int segments_ = 0;  ///< tables so far
  NcuLaunches launches_;
  std::set<std::int64_t> device_names_;
  std::set<std::int64_t> display_names_;
  std::string last_name_;
  std::uint32_t last_name_id_ = 0;
};

bool detect(std::string_view head, const std::string& path) {
  if (kNcuText.detect(head, path)) return false;
  return any_line(head, [](std::string_view line, std::string_view from_here) {
    return is_ncu_header_line(line) || line.starts_with("==PROF==") || line.starts_with("==ERROR==") ||
           line.starts_with("==WARNING==") ||
           // A text page that lost the line of its launch: "    Section: GPU Speed Of Light Throughput".
           (trim(line).starts_with("Section: ") && from_here.find("Metric Name") != std::string_view::npos);
  });
}

Parsed<KernelTable> parse(const std::string& path, const ImportOptions& options) {
  auto source = ByteSource::open(path, options.progress);
  if (!source.ok()) return {std::nullopt, std::move(source.diagnostics)};
  return NcuParser(path, options, std::move(*source.value)).parse();
}

}  // namespace

const Importer kNcuCsv = {"ncu-csv", "Nsight Compute CSV: details page, raw page, --print-summary per-kernel",
                          detect, parse};

}  // namespace plumbline::profile
