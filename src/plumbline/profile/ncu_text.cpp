// SPDX-License-Identifier: Apache-2.0
// Nsight Compute's text pages: what ncu prints on the console or into --log-file. A line names a launch
// ("name (grid)x(block), Context 1, Stream 7, Device 0, CC 9.0"), and tables of metrics follow it.
#include <fmt/format.h>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/profile/csv.h"
#include "plumbline/profile/importers.h"
#include "plumbline/profile/ncu_header.h"
#include "plumbline/profile/ncu_launches.h"
#include "plumbline/profile/ncu_log.h"

namespace plumbline::profile {
namespace {

bool is_rule(std::string_view line) {
  line = trim(line);
  return line.size() > 3 && line.find_first_not_of("- ") == std::string_view::npos;
}

/// The number behind `word` in a launch's line.
std::optional<std::int64_t> number_behind(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + word.size());
  while (!text.empty() && (text.front() == ' ' || text.front() == ':')) text.remove_prefix(1);
  return parse_int(text.substr(0, text.find_first_not_of("0123456789")));
}

/// "(16, 2, 16)x(128, 1, 1)" behind a name.
std::string_view without_shape(std::string_view name) {
  name = trim(name);
  const std::size_t cross = name.rfind(")x(");
  if (cross == std::string_view::npos || !name.ends_with(')')) return name;
  const std::size_t open = name.rfind('(', cross);
  if (open == std::string_view::npos) return name;
  const std::string_view numbers = name.substr(open);
  if (numbers.find_first_not_of("0123456789,()x ") != std::string_view::npos) return name;
  return trim(name.substr(0, open));
}

/// ", 2020-Mar-11 10:00:00" behind a name: ncu of 2019 and 2020.
std::string_view without_date(std::string_view name) {
  const std::size_t comma = name.rfind(", ");
  if (comma == std::string_view::npos) return name;
  const std::string_view date = name.substr(comma + 2);
  const bool is_date = date.size() > 10 && date[4] == '-' &&
                       date.substr(0, 4).find_first_not_of("0123456789") == std::string_view::npos;
  return is_date ? name.substr(0, comma) : name;
}

/// The launch that a line names; nullopt for other lines.
struct LaunchLine {
  std::string_view name;
  std::string_view rest;  ///< "Context 1, Stream 7, …"
};
std::optional<LaunchLine> launch_line(std::string_view line) {
  const std::size_t at = line.rfind(", Context ");
  if (at == std::string_view::npos || line.find(", Stream ", at) == std::string_view::npos)
    return std::nullopt;
  const std::string_view name = without_date(without_shape(line.substr(0, at)));
  if (trim(name).empty()) return std::nullopt;
  return LaunchLine{trim(name), line.substr(at + 2)};
}

class TextParser {
 public:
  TextParser(const std::string& path, const ImportOptions& options, std::unique_ptr<ByteSource> source)
      : path_(path),
        lines_(std::move(source)),
        collector_("ncu-text", path, options),
        feeder_(NcuPage::details, path_, collector_) {
    launches_.locales.emplace_back();
    if (!options.range.empty())
      fail(diagnose("import-no-ranges", "the text pages have no ranges: run ncu --csv --nvtx", {path}));
  }

  Parsed<KernelTable> parse() {
    while (!failed_ && lines_.next_line()) take_line();
    if (lines_.error()) fail(*lines_.error());
    if (!failed_ && launches_read_ == 0) fail(log_.absent_table(path_));
    if (!failed_) finish();
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
  Location here() const { return {path_, lines_.line_number(), 1}; }

  void take_line() {
    const std::string_view line = lines_.line();
    if (is_rule(line)) {
      rules_ = rules_ == 3 ? 1 : rules_ + 1;
    } else if (NcuLog::is_message(line)) {
      log_.take(line, lines_.line_number());
      rules_ = 0;
    } else if (const auto launch = launch_line(line)) {
      take_launch(*launch);
    } else if (line.starts_with('[')) {
      process_ = number_behind(line, "[").value_or(kUnknownId);
    } else if (trim(line).starts_with("Section: ")) {
      rules_ = 0;
      if (log_.text_page_line == 0) log_.text_page_line = lines_.line_number();
    } else if (trim(line).starts_with("Metric Name")) {
      summary_ =
          line.find("Average") != std::string_view::npos && line.find("Minimum") != std::string_view::npos;
    } else if (rules_ > 0 && rules_ < 3) {
      take_metric(line);
    }
  }

  void take_launch(const LaunchLine& line) {
    rules_ = 0;
    if (!summary_) feed_understood(launches_, feeder_);
    ++collector_.account().rows;
    NcuRow row;
    row.segment = 1;
    row.line = lines_.line_number();
    row.id = launches_read_++;
    row.process = process_;
    row.device = number_behind(line.rest, "Device ").value_or(kUnknownId);
    row.stream = number_behind(line.rest, "Stream ").value_or(kUnknownId);
    row.name = collector_.name_id(line.name);
    if (const std::size_t cc = line.rest.find("CC "); cc != std::string_view::npos) {
      const std::string_view text = line.rest.substr(cc, line.rest.find(',', cc) - cc);
      collector_.set_device_name(row.device, printable(trim(text)));
    }
    invocations_ = number_behind(line.rest, "Invocations");
    if (invocations_) row.invocations = read_number_cell(std::to_string(*invocations_));
    launches_.rows.push_back(row);
  }

  /// "Duration    us    175.49"; in a summary the unit is followed by minimum, maximum and average.
  void take_metric(std::string_view line) {
    if (launches_.rows.empty()) return;
    line = trim(line);
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) return;
    const std::string_view metric = line.substr(0, blank);
    const int rank = metric_rank(kTimeMetrics, metric);
    const int tensor = metric_rank(kTensorMetrics, metric);
    if (rank == 0 && tensor == 0) return witness(line.substr(line.rfind(' ') + 1));
    const auto words = split_any(line, "", true);
    const auto value = read_number_cell(words.back());
    if (value) launches_.locale().add(*value, lines_.line_number());
    if (rank > 0) {
      ++collector_.account().rows;
      ++collector_.account().ignored;  // the launch's line stands for it
      const std::size_t values = summary_ ? 3 : 1;
      if (words.size() != 2 + values) {
        return fail(
            diagnose("unit-unknown", "a duration without its unit, or with more than one value", here()));
      }
      take_time(rank, words, value);
      return;
    }
    if (NcuRow& row = launches_.rows.back();
        value && tensor > row.tensor_rank && words.size() == 3 && words[1] == "%") {
      row.tensor = *value;
      row.tensor_rank = tensor;
    }
  }

  /// A number that counts for nothing but for how the pages write their numbers.
  void witness(std::string_view text) {
    NumberLocale& locale = launches_.locale();
    if (locale.settled()) return locale.contradict(text, lines_.line_number());
    if (const auto value = read_number_cell(text)) locale.add(*value, lines_.line_number());
  }

  void take_time(int rank, const std::vector<std::string_view>& words,
                 const std::optional<NumberCell>& value) {
    NcuRow& row = launches_.rows.back();
    if (rank < row.time_rank) return;
    const auto unit = read_unit(words[1]);
    if (!unit || unit->quantity != Quantity::time) {
      return fail(
          diagnose("unit-unknown",
                   fmt::format("a duration in \"{}\": this is not a unit of time that the importer knows",
                               printable(cut_middle(words[1], 40))),
                   here()));
    }
    if (summary_ && !invocations_) {
      return fail(
          diagnose("csv-fields", "a summary that does not say how often its kernel was launched", here()));
    }
    if (!value) {
      if (row.time_rank == 0) row.time_bad = true;
      return;
    }
    if (unit->scale == 1) launches_.locale().add_whole_nanoseconds(*value);
    if (unit->scale > 1) launches_.locale().add_scaled_time(*value, lines_.line_number());
    if (rank == row.time_rank && value->if_dot * unit->scale != row.time.if_dot * row.unit.scale &&
        value->if_comma * unit->scale != row.time.if_comma * row.unit.scale) {
      return fail(diagnose("ncu-duplicate-launch",
                           fmt::format("the launch of line {} has a second duration", row.line), here()));
    }
    row.time = *value;
    row.unit = *unit;
    row.time_rank = rank;
    row.time_bad = false;
    if (summary_) launches_.extremes[row.id] = {read_number_cell(words[2]), read_number_cell(words[3])};
  }

  void finish() {
    if (summary_) collector_.set_has_order(false);
    NcuFeeder summary(NcuPage::summary, path_, collector_);
    if (auto problem = feed_ncu_launches(launches_, summary_ ? summary : feeder_))
      return fail(std::move(*problem));
    collector_.set_region("profiler");
    const std::int64_t launches = launches_read_;
    if (!summary_ && log_.profiled > launches) {
      collector_.lost(
          fmt::format("the log names {} profiled launches, and the pages have {}", log_.profiled, launches));
    } else if (!summary_ && log_.profiled > 0 && log_.profiled < launches) {
      return fail(diagnose(
          "import-rows-twice",
          fmt::format("the log names {} profiled launches, and the pages have {}: pages of two runs, "
                      "or one run twice",
                      log_.profiled, launches),
          {path_}));
    }
    if (log_.error_line != 0)
      collector_.lost(fmt::format("ncu said: {}", log_.error_text), {path_, log_.error_line, 1});
    collector_.note(
        "Nsight Compute times: one kernel at a time, by default with flushed caches and locked clocks; do "
        "not compare them with times of a trace");
  }

  const std::string& path_;
  CsvReader lines_;
  Collector collector_;
  Diagnostics diagnostics_;
  bool failed_ = false;
  NcuLog log_;
  NcuLaunches launches_;  ///< those that are not fed yet
  NcuFeeder feeder_;
  std::int64_t launches_read_ = 0;
  std::int64_t process_ = kUnknownId;
  std::optional<std::int64_t> invocations_;
  bool summary_ = false;
  int rules_ = 0;  ///< lines of dashes of the current table: above the header, below it, below the rows
};

bool detect(std::string_view head, const std::string&) {
  bool pages = false;
  const bool csv = any_line(head, [&](std::string_view line, std::string_view) {
    pages = pages || launch_line(line).has_value();
    return is_ncu_header_line(line);
  });
  return pages && !csv;
}

Parsed<KernelTable> parse(const std::string& path, const ImportOptions& options) {
  auto source = ByteSource::open(path, options.progress);
  if (!source.ok()) return {std::nullopt, std::move(source.diagnostics)};
  return TextParser(path, options, std::move(*source.value)).parse();
}

}  // namespace

const Importer kNcuText = {"ncu-text", "Nsight Compute's text pages (console, --log-file)", detect, parse};

}  // namespace plumbline::profile
