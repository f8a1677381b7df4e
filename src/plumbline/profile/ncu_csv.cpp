// SPDX-License-Identifier: Apache-2.0
// Nsight Compute's CSV: the details page (long), the raw page (wide) and --print-summary per-kernel. A little
// over the usual length: one format, one file.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <unordered_map>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/profile/cells.h"
#include "plumbline/profile/collect.h"
#include "plumbline/profile/csv.h"
#include "plumbline/profile/importers.h"

namespace plumbline::profile {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// Metrics that are a launch's duration, best first. The section's "Duration" is gpu__time_duration.sum.
constexpr auto kTimeMetrics =
    std::to_array<std::string_view>({"gpu__time_duration.sum", "Duration", "gpu__time_duration.avg",
                                     "gpu__time_duration.max", "gpu__time_duration"});

/// Metrics that are the tensor pipe's activity in percent, best first (names differ between chips and
/// versions).
constexpr auto kTensorMetrics = std::to_array<std::string_view>({
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
    "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active",
    "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed",
});

template <std::size_t N>
int rank_of(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<int>(N - i);
  }
  return 0;
}

enum class Page { details, raw, summary };

/// Where the columns stand, by name.
struct Header {
  Page page = Page::details;
  bool quoted = true;
  std::size_t count = 0;
  std::size_t id = kNone, process = kNone, name = kNone, device = kNone, cc = kNone, stream = kNone;
  std::size_t push_pop = kNone, start_stop = kNone;                             // NVTX
  std::size_t metric = kNone, unit = kNone, value = kNone, rule = kNone;        // details, summary
  std::size_t invocations = kNone, low = kNone, high = kNone, average = kNone;  // summary
  std::size_t time = kNone, tensor = kNone, display_name = kNone;               // raw
  std::size_t first_metric = kNone;                                             // raw: where numbers begin
  bool has_units = false;                                                       // raw
  std::optional<Unit> time_unit;
  std::string time_unit_text;
};

/// One profiled launch, or one line of a summary.
struct Row {
  std::uint32_t segment = 0;
  std::int64_t process = kUnknownId;
  std::int64_t id = 0;
  std::int64_t device = kUnknownId;
  std::int64_t stream = kUnknownId;
  std::uint32_t name = 0;
  std::int64_t launches = 1;
  int line = 0;
  int time_rank = 0;  ///< 0: no duration yet
  bool time_bad = false;
  NumberCell time;
  Unit unit;
  int tensor_rank = 0;
  NumberCell tensor;
};

/// The shortest and the longest launch of a summary's line.
struct Extremes {
  std::optional<NumberCell> low, high;
};

struct RowKey {
  std::uint32_t segment;
  std::int64_t process;
  std::int64_t id;
  bool operator==(const RowKey&) const = default;
};
struct RowKeyHash {
  std::size_t operator()(const RowKey& k) const {
    std::uint64_t h = static_cast<std::uint64_t>(k.id) * 0x9E3779B97F4A7C15ULL;
    h ^= (static_cast<std::uint64_t>(k.process) + (std::uint64_t{k.segment} << 40)) * 0xC2B2AE3D27D4EB4FULL;
    return h ^ (h >> 29);
  }
};

bool is_header_line(std::string_view line) {
  const bool first = line.starts_with("\"ID\",") || line.starts_with("ID,") ||
                     line.starts_with("\"Process ID\",") || line.starts_with("Process ID,");
  return first && line.find("Kernel Name") != std::string_view::npos;
}

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
    if (!failed_ && segments_ == 0) report_no_table();
    if (!failed_) feed();
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
  Location here(std::size_t column = kNone) const {
    int at = 0;
    if (column != kNone && column < csv_.fields().size()) {
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
    if (is_header_line(line)) {
      take_header();
    } else if (line.starts_with("==")) {
      take_message(line);
    } else if (segments_ > 0 &&
               (line.front() == '"' || (!header_.quoted && line.front() >= '0' && line.front() <= '9') ||
                (header_.page == Page::raw && !header_.has_units && line.front() == ','))) {
      take_row();
    } else if (text_page_line_ == 0 && (line.find("Section: ") != std::string_view::npos)) {
      text_page_line_ = csv_.line_number();
    }
  }

  void take_message(std::string_view line) {
    if (line.find("ERR_NVGPUCTRPERM") != std::string_view::npos && permission_line_ == 0) {
      permission_line_ = csv_.line_number();
    }
    if (line.starts_with("==ERROR==") && error_line_ == 0) {
      error_line_ = csv_.line_number();
      error_text_ = printable(trim(line.substr(9)));
    }
    if (line.find("No kernels were profiled") != std::string_view::npos) no_kernels_ = true;
    if (line.starts_with("==PROF== Profiling")) ++profiled_;
  }

  void report_no_table() {
    if (permission_line_ != 0) {
      return fail(diagnose("ncu-permission",
                           "ncu was not allowed to read the performance counters (ERR_NVGPUCTRPERM)",
                           {path_, permission_line_, 1}));
    }
    if (text_page_line_ != 0) {
      return fail(diagnose("ncu-text-page", "this is ncu's text output; the importer reads its CSV",
                           {path_, text_page_line_, 1}));
    }
    std::string why = "no CSV table, only the tool's messages";
    if (error_line_ != 0)
      why = fmt::format("no CSV table; ncu said: {}", error_text_);
    else if (no_kernels_)
      why = "no CSV table: no kernels were profiled";
    else if (profiled_ > 0)
      why = fmt::format("no CSV table: the log of {} profiled launches, without their values", profiled_);
    fail(diagnose("ncu-no-table", why, {path_, error_line_, error_line_ != 0 ? 1 : 0}));
  }

  void take_header() {
    if (!csv_.split()) return fail(diagnose("csv-quote", "a quoted field never closes", here()));
    header_ = Header{};
    header_.quoted = csv_.line().front() == '"';
    const auto& fields = csv_.fields();
    header_.count = fields.size();
    int time_rank = 0;
    int tensor_rank = 0;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string_view f = fields[i];
      if (f == "ID")
        header_.id = i;
      else if (f == "Process ID")
        header_.process = i;
      else if (f == "Kernel Name")
        header_.name = i;
      else if (f == "Device")
        header_.device = i;
      else if (f == "CC")
        header_.cc = i;
      else if (f == "Stream")
        header_.stream = i;
      else if (f.find("Push/Pop_Range") != std::string_view::npos)
        header_.push_pop = i;
      else if (f.find("Start/Stop_Range") != std::string_view::npos)
        header_.start_stop = i;
      else if (f == "Metric Name")
        header_.metric = i;
      else if (f == "Metric Unit")
        header_.unit = i;
      else if (f == "Metric Value")
        header_.value = i;
      else if (f == "Rule Name")
        header_.rule = i;
      else if (f == "Invocations")
        header_.invocations = i;
      else if (f == "Minimum")
        header_.low = i;
      else if (f == "Maximum")
        header_.high = i;
      else if (f == "Average")
        header_.average = i;
      else if (f == "device__attribute_display_name")
        header_.display_name = i;
      else if (const int r = rank_of(kTimeMetrics, f); r > time_rank)
        header_.time = i, time_rank = r;
      else if (const int t = rank_of(kTensorMetrics, f); t > tensor_rank)
        header_.tensor = i, tensor_rank = t;
    }
    header_.page = header_.metric == kNone        ? Page::raw
                   : header_.invocations != kNone ? Page::summary
                                                  : Page::details;
    const bool complete = header_.page == Page::raw ? header_.id != kNone
                          : header_.page == Page::details
                              ? header_.id != kNone && header_.unit != kNone && header_.value != kNone
                              : header_.unit != kNone && header_.average != kNone;
    if (!complete)
      return fail(diagnose("csv-header",
                           "the header lacks columns of this page (ID, Metric Unit, Metric Value, Average)",
                           here()));
    if (header_.page == Page::raw) {
      if (header_.time == kNone) {
        return fail(diagnose("ncu-no-duration", "no gpu__time_duration column in the raw page", here()));
      }
      std::size_t last_base = header_.name;
      for (const std::size_t base :
           {header_.id, header_.process, header_.device, header_.cc, header_.stream}) {
        if (base != kNone) last_base = std::max(last_base, base);
      }
      header_.first_metric = last_base + 1;
    }
    if (header_.page == Page::summary) collector_.set_has_order(false);
    if (!options_.range.empty() && header_.push_pop == kNone && header_.start_stop == kNone) {
      return fail(
          diagnose("import-no-ranges", "the table has no NVTX columns: profile with ncu --nvtx", here()));
    }
    ++segments_;
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
      case Page::raw:
        return take_raw();
      case Page::details:
        return take_details();
      case Page::summary:
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
  Row* launch_of_row() {
    ++collector_.account().rows;
    if (!options_.range.empty() && !cell_in_range(field(header_.push_pop), options_.range) &&
        !cell_in_range(field(header_.start_stop), options_.range)) {
      return nullptr;
    }
    Row row;
    row.segment = static_cast<std::uint32_t>(segments_);
    row.line = csv_.line_number();
    const auto id = header_.id == kNone ? std::optional<std::int64_t>(static_cast<std::int64_t>(rows_.size()))
                                        : parse_int(trim(field(header_.id)));
    if (!id) {
      fail(diagnose("csv-fields",
                    fmt::format("\"{}\" is no launch ID", printable(cut_middle(field(header_.id), 40))),
                    here(header_.id)));
      return nullptr;
    }
    row.id = *id;
    row.process = parse_int(trim(field(header_.process))).value_or(kUnknownId);
    row.device = parse_int(trim(field(header_.device))).value_or(kUnknownId);
    row.stream = parse_int(trim(field(header_.stream))).value_or(kUnknownId);
    const std::string_view name = field(header_.name);
    if (name.empty()) {
      fail(diagnose("csv-fields", "a launch without a kernel name", here(header_.name)));
      return nullptr;
    }
    row.name = name_of(name);
    if (header_.cc != kNone && device_names_.insert(row.device).second) {
      collector_.set_device_name(row.device, fmt::format("CC {}", printable(field(header_.cc))));
    }
    if (!rows_.empty()) {  // rows of one launch follow each other
      Row& last = rows_.back();
      if (last.id == row.id && last.process == row.process && last.segment == row.segment &&
          last.name == row.name) {
        return &last;
      }
    }
    const auto [it, fresh] = places_.try_emplace(RowKey{row.segment, row.process, row.id}, rows_.size());
    if (fresh) {
      rows_.push_back(row);
    } else if (rows_[it->second].name != row.name) {
      fail(diagnose(
          "ncu-duplicate-launch",
          fmt::format("launch {} of process {} is another kernel than on line {}: two files in one without "
                      "their headers?",
                      row.id, row.process, rows_[it->second].line),
          here(header_.id)));
      return nullptr;
    }
    return &rows_[it->second];
  }

  std::uint32_t name_of(std::string_view name) {
    if (name == last_name_) return last_name_id_;  // rows of one launch follow each other
    last_name_ = name;
    last_name_id_ = collector_.name_id(name);
    return last_name_id_;
  }

  std::optional<NumberCell> number(std::size_t column) {
    const auto cell = read_number_cell(field(column));
    if (cell) locale_.add(*cell, csv_.line_number());
    return cell;
  }

  /// A duration into the launch: the better metric wins, two unequal values of one metric are an error.
  void set_time(Row& row, int rank, std::size_t column, const Unit& unit) {
    if (rank < row.time_rank) return;
    const auto cell = number(column);
    if (!cell) {
      if (row.time_rank == 0) row.time_bad = true;
      return;
    }
    if (unit.scale == 1) locale_.add_whole_nanoseconds(*cell);
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
                  fmt::format("a duration in \"{}\": this is no unit of time that the importer knows",
                              printable(cut_middle(text, 40))),
                  here(column)));
    return std::nullopt;
  }

  void take_raw() {
    if (trim(field(header_.id)).empty()) {
      ++collector_.account().rows;
      if (header_.has_units) return fail(diagnose("csv-fields", "a launch without an ID", here(header_.id)));
      header_.has_units = true;
      header_.time_unit = time_unit(field(header_.time), header_.time);
      if (header_.tensor != kNone && field(header_.tensor) != "%") header_.tensor = kNone;
      return;
    }
    if (cut(header_.count)) return;
    if (!header_.has_units)
      return fail(diagnose("unit-unknown", "the row of units is missing below the header", here()));
    const std::size_t launches = rows_.size();
    Row* row = launch_of_row();
    if (row == nullptr) return;
    if (rows_.size() == launches) {
      return fail(diagnose("ncu-duplicate-launch",
                           fmt::format("launch {} of process {} stands twice", row->id, row->process),
                           here(header_.id)));
    }
    if (!locale_.settled()) {
      for (std::size_t i = header_.first_metric; i < csv_.fields().size(); ++i) {
        if (i != header_.time) number(i);
      }
    }
    set_time(*row, 1, header_.time, *header_.time_unit);
    if (const auto cell = header_.tensor == kNone ? std::nullopt : number(header_.tensor)) {
      row->tensor = *cell;
      row->tensor_rank = 1;
    }
    if (header_.display_name != kNone && display_names_.insert(row->device).second) {
      collector_.set_device_name(row->device, printable(field(header_.display_name)));
    }
  }

  void take_details() {
    if (cut(header_.value)) return;
    Row* row = launch_of_row();
    if (row == nullptr) return;
    const std::string_view metric = field(header_.metric);
    if (metric.empty()) return;  // a rule's row
    if (cut(header_.value + 1)) return;
    if (header_.rule != kNone && read_number_cell(field(header_.rule))) {
      return fail(diagnose("csv-fields",
                           "a number where a rule's name stands: a decimal comma outside quotes",
                           here(header_.rule)));
    }
    if (const int rank = rank_of(kTimeMetrics, metric); rank > 0) {
      if (const auto unit = time_unit(field(header_.unit), header_.unit))
        set_time(*row, rank, header_.value, *unit);
    } else if (const int tensor = rank_of(kTensorMetrics, metric);
               tensor > row->tensor_rank && field(header_.unit) == "%") {
      if (const auto cell = number(header_.value)) {
        row->tensor = *cell;
        row->tensor_rank = tensor;
      }
    } else if (!locale_.settled()) {
      number(header_.value);
    }
  }

  void take_summary() {
    if (cut(header_.average + 1)) return;
    const std::string_view metric = field(header_.metric);
    const int rank = rank_of(kTimeMetrics, metric);
    if (rank == 0) {
      ++collector_.account().rows;
      for (const std::size_t column : {header_.low, header_.high, header_.average}) {
        if (!locale_.settled()) number(column);
      }
      return;
    }
    Row* row = launch_of_row();
    if (row == nullptr) return;
    const auto unit = time_unit(field(header_.unit), header_.unit);
    if (!unit) return;
    const auto invocations = read_number_cell(field(header_.invocations));
    const double count = invocations ? (std::isnan(invocations->if_dot) ? -1 : invocations->if_dot) : -1;
    if (count < 1 || count > 1e12 || count != std::floor(count)) {
      return fail(diagnose("csv-fields",
                           fmt::format("\"{}\" is no number of invocations",
                                       printable(cut_middle(field(header_.invocations), 40))),
                           here(header_.invocations)));
    }
    row->launches = static_cast<std::int64_t>(count);
    extremes_[row->id] = {number(header_.low), number(header_.high)};
    set_time(*row, rank, header_.average, *unit);
  }

  /// Sums the launches, once the file's way of writing numbers is known.
  void feed() {
    const auto verdict = locale_.verdict();
    if (verdict == NumberLocale::Verdict::conflict) {
      return fail(diagnose("number-locale-conflict",
                           fmt::format("line {} has a decimal dot and line {} a decimal comma",
                                       locale_.dot_line(), locale_.comma_line()),
                           {path_, std::max(locale_.dot_line(), locale_.comma_line()), 0}));
    }
    if (verdict == NumberLocale::Verdict::undecided) {
      const auto at = std::find_if(rows_.begin(), rows_.end(), [](const Row& row) {
        return row.time.separators == Separators::comma_three || row.time.separators == Separators::dot_three;
      });
      return fail(diagnose("number-locale",
                           "a number such as 1.234 or 1,234 may be a thousand or a fraction, and no other "
                           "number in the file tells",
                           {path_, at == rows_.end() ? 0 : at->line, 0}));
    }
    const bool comma = verdict == NumberLocale::Verdict::comma;
    const auto value = [comma](const NumberCell& cell) { return comma ? cell.if_comma : cell.if_dot; };
    const auto earlier = [](const Row& a, const Row& b) {
      if (a.segment != b.segment) return a.segment < b.segment;
      return a.process != b.process ? a.process < b.process : a.id < b.id;
    };
    if (!std::is_sorted(rows_.begin(), rows_.end(), earlier)) std::sort(rows_.begin(), rows_.end(), earlier);
    std::int64_t timed = 0;
    int best = 0;  // a summary may give the duration under two names: the better one counts
    for (const Row& row : rows_) best = std::max(best, row.time_rank);
    for (const Row& row : rows_) {
      if (header_.page == Page::summary && row.time_rank > 0 && row.time_rank < best) continue;
      timed += row.time_rank > 0 ? 1 : 0;
      feed_row(row, value);
    }
    RowAccount& account = collector_.account();
    account.ignored = account.rows - account.kept - account.dropped;
    if (timed == 0 && !rows_.empty() && account.dropped == static_cast<std::int64_t>(rows_.size())) {
      return fail(diagnose("ncu-no-duration",
                           "no launch has a duration: profile with the SpeedOfLight section or "
                           "--metrics gpu__time_duration.sum",
                           {path_, rows_.front().line, 0}));
    }
    if (!options_.range.empty()) {
      if (rows_.empty()) {
        return fail(diagnose("import-no-such-range",
                             fmt::format("no launch lies in the range \"{}\"", printable(options_.range)),
                             {path_}));
      }
      collector_.set_region("nvtx:" + options_.range);
    } else {
      collector_.set_region("profiler");
    }
    if (error_line_ != 0) {
      collector_.lost(fmt::format("ncu said: {}", error_text_), {path_, error_line_, 1});
    }
    collector_.note(
        "Nsight Compute times: one kernel at a time, by default with flushed caches and locked clocks; do "
        "not compare them with times of a trace");
  }

  template <class Value>
  void feed_row(const Row& row, const Value& value) {
    RowAccount& account = collector_.account();
    const auto drop = [&](const char* why) {
      collector_.drop(
          diagnose("import-row-dropped", fmt::format("launch {}: {}", row.id, why), {path_, row.line, 0}));
    };
    if (row.time_rank == 0) return drop(row.time_bad ? "its duration is no number" : "it has no duration");
    const auto each = to_picoseconds(value(row.time), row.unit);
    if (!each) return drop("its duration is negative or absurdly long");
    Launch launch;
    launch.name = row.name;
    launch.launches = row.launches;
    if (__builtin_mul_overflow(*each, row.launches, &launch.time_ps))
      return drop("its duration is absurdly long");
    launch.min_ps = launch.max_ps = each;
    if (const auto ends = extremes_.find(row.id); ends != extremes_.end()) {
      if (ends->second.low) launch.min_ps = to_picoseconds(value(*ends->second.low), row.unit);
      if (ends->second.high) launch.max_ps = to_picoseconds(value(*ends->second.high), row.unit);
    }
    if (row.tensor_rank > 0) {
      const double pct = value(row.tensor);
      if (pct >= 0 && pct <= 100) launch.tensor_pct = pct;
    }
    if (row.stream != kUnknownId) launch.stream = row.stream;
    Group& group = collector_.group(row.process, row.device);
    if (!collector_.add(group, launch)) return drop("its duration is absurdly long");
    if (row.id >= 0 && header_.page != Page::summary) group.sequence.push_back(row.name);
    ++group.kept_rows;
    ++account.kept;
  }

  const std::string& path_;
  const ImportOptions& options_;
  CsvReader csv_;
  Collector collector_;
  Diagnostics diagnostics_;
  bool failed_ = false;
  Header header_;
  int segments_ = 0;
  NumberLocale locale_;
  std::deque<Row> rows_;
  std::unordered_map<std::int64_t, Extremes> extremes_;  ///< by the id of a summary's row
  std::unordered_map<RowKey, std::size_t, RowKeyHash> places_;
  std::set<std::int64_t> device_names_;
  std::set<std::int64_t> display_names_;
  std::string last_name_;
  std::uint32_t last_name_id_ = 0;
  int permission_line_ = 0;
  int error_line_ = 0;
  std::string error_text_;
  int text_page_line_ = 0;
  bool no_kernels_ = false;
  int profiled_ = 0;
};

bool detect(std::string_view head, const std::string&) {
  std::size_t at = 0;
  while (at < head.size()) {
    const std::size_t end = std::min(head.find('\n', at), head.size());
    const std::string_view line = head.substr(at, end - at);
    if (is_header_line(line) || line.starts_with("==PROF==") || line.starts_with("==ERROR==") ||
        line.starts_with("==WARNING==")) {
      return true;
    }
    // The text page without its log: "    Section: GPU Speed Of Light Throughput".
    if (trim(line).starts_with("Section: ") && head.find("Metric Name", at) != std::string_view::npos)
      return true;
    at = end + 1;
  }
  return false;
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
