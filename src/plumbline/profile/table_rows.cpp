// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/table_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"

namespace plumbline::profile {
namespace {

constexpr std::size_t kAbsent = TableColumns::kAbsent;

/// "[CUDA memcpy HtoD]", "[CUDA memset]", "[CUDA Unified Memory memcpy DtoH]": no kernels.
bool is_copy(std::string_view name) { return name.starts_with("[CUDA "); }

/// "1,234,567.5" without its grouping commas; none where they do not stand before three digits each.
std::optional<std::string> ungrouped(std::string_view text) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ',') {
      out.push_back(text[i]);
      continue;
    }
    if (i == 0 || i > dot || (dot - i) % 4 != 0) return std::nullopt;
  }
  return out;
}

/// The digits behind a decimal dot.
int decimals(std::string_view text) {
  const std::size_t dot = text.find('.');
  return dot == std::string_view::npos ? 0 : static_cast<int>(text.size() - dot - 1);
}

/// No tool prints a thousandth of a nanosecond: "1.234" ns may be 1,234 ns of another locale.
bool is_open(std::string_view nanoseconds) {
  return decimals(nanoseconds) == 3 && nanoseconds.find_first_of("eE") == std::string_view::npos;
}

constexpr std::int64_t kLongestPs = kLongestNs * 1000;

}  // namespace

TitledColumn titled_column(std::string_view header) {
  header = trim(header);
  const std::size_t open = header.rfind('(');
  if (open == std::string_view::npos || !header.ends_with(')')) return {header, {}};
  return {trim(header.substr(0, open)), header.substr(open + 1, header.size() - open - 2)};
}

bool IdSet::insert(std::int64_t id) {
  const std::int64_t key = id >> 6;
  if (key != last_ || last_chunk_ == nullptr) {
    last_ = key;
    last_chunk_ = &chunks_[key];
  }
  const std::uint64_t bit = std::uint64_t{1} << (static_cast<std::uint64_t>(id) & 63U);
  const bool fresh = (*last_chunk_ & bit) == 0;
  *last_chunk_ |= bit;
  return fresh;
}

std::optional<Diagnostic> TableRows::wrong(std::string what, int line) const {
  return diagnose("csv-fields", std::move(what), {path_, line, 1});
}

std::optional<Diagnostic> TableRows::begin(const TableColumns& columns, int line) {
  check_shares(line);
  columns_ = columns;
  const auto is_time = [](const std::optional<Unit>& unit) {
    return unit && unit->quantity == Quantity::time;
  };
  const bool clock = columns.summary() || is_time(columns.clock_unit);
  const bool times =
      columns.duration == kAbsent && columns.total == kAbsent ? true : is_time(columns.time_unit);
  if (!clock || !times)
    return diagnose("unit-unknown", "the times of this table have no unit that the importer knows",
                    {path_, line, 1});
  if (columns.clock_unit) clock_power_ = power_of_time(*columns.clock_unit);
  if (columns.time_unit) time_power_ = power_of_time(*columns.time_unit) + 3;
  return std::nullopt;
}

std::string_view TableRows::cell(std::span<const std::string_view> fields, std::size_t column) const {
  return column < fields.size() ? trim(fields[column]) : std::string_view();
}

std::optional<std::int64_t> TableRows::scaled(std::string_view text, int power) const {
  if (text.empty() || text.size() > 64) return std::nullopt;
  if (text.find(',') == std::string_view::npos) return scaled_integer(text, power);
  const auto whole = columns_.grouped ? ungrouped(text) : std::nullopt;
  return whole ? scaled_integer(*whole, power) : std::nullopt;
}

std::optional<std::int64_t> TableRows::clock(std::string_view text) {
  open_ = open_ || (clock_power_ == 0 && is_open(text));
  return scaled(text, clock_power_);
}

std::optional<std::int64_t> TableRows::duration(std::string_view text, const std::optional<Unit>& unit) {
  const int power = unit ? power_of_time(*unit) + 3 : time_power_;
  open_ = open_ || (power == 3 && is_open(text));
  return scaled(text, power);
}

void TableRows::take_share(std::span<const std::string_view> fields) {
  if (const auto share = plain(cell(fields, columns_.share))) {
    shares_ += *share;
    ++shared_rows_;
  }
}

/// A summary that is whole has all of the time. Each share is printed to 0.1 %, at worst.
void TableRows::check_shares(int line) {
  const double slack = 0.2 + 0.051 * static_cast<double>(shared_rows_);
  if (shared_rows_ > 0 && std::abs(shares_ - 100) > slack) {
    collector_.lost(fmt::format("the shares of the {} rows sum to {} %, not to 100 %: {}", shared_rows_,
                                format_fixed(shares_, 1),
                                shares_ < 100 ? "rows are missing" : "rows of more than one table"),
                    {path_, line, 0});
  }
  shares_ = 0;
  shared_rows_ = 0;
}

std::optional<double> TableRows::plain(std::string_view text) const {
  if (text.find(',') == std::string_view::npos) return parse_double(text);
  const auto whole = columns_.grouped ? ungrouped(text) : std::nullopt;
  return whole ? parse_double(*whole) : std::nullopt;
}

std::int64_t TableRows::process_of(std::span<const std::string_view> fields, std::int64_t process) {
  if (columns_.process == kAbsent) return process;
  const std::string_view text = cell(fields, columns_.process);
  if (text.empty()) return process;
  if (const auto id = parse_int(text)) return *id;
  return collector_.process_by_name(text);
}

/// "NVIDIA H200 (0)", "Agent 2", "3": the number behind the name is the device's.
std::int64_t TableRows::device_of(std::span<const std::string_view> fields) {
  if (columns_.device == kAbsent) return kUnknownId;
  const std::string_view text = cell(fields, columns_.device);
  if (const auto known = devices_.find(text); known != devices_.end()) return known->second;
  std::string_view name = text;
  std::optional<std::int64_t> id;
  if (text.ends_with(')') && text.find('(') != std::string_view::npos) {
    const TitledColumn parts = titled_column(text);
    id = parse_int(parts.unit);
    if (id) name = parts.title;
  } else if (const std::size_t digits = text.find_last_not_of("0123456789");
             !text.empty() && digits + 1 < text.size()) {
    // A number that is all of the text, or stands behind "Agent" or "GPU".
    const std::string_view word = text.substr(0, digits + 1);
    if (digits == std::string_view::npos || word == "Agent " || word == "GPU ") {
      id = parse_int(text.substr(digits + 1));
      name = {};
    }
  }
  const std::int64_t device = id ? *id : -2 - static_cast<std::int64_t>(devices_.size());
  devices_.emplace(std::string(text), device);
  if (!name.empty()) collector_.set_device_name(device, printable(name));
  return device;
}

/// Whether the launch of this row stood in the table before.
bool TableRows::seen_before(std::span<const std::string_view> fields, std::int64_t process) {
  if (!columns_.one_row_an_id && !columns_.rows_of_counters) return false;
  const auto id = parse_int(cell(fields, columns_.id));
  return id && !ids_[process].insert(*id);
}

std::span<const std::string_view> TableRows::joined(std::span<const std::string_view> fields) {
  if (fields.size() <= columns_.fields || columns_.name + 1 != columns_.fields) return fields;
  const std::string_view first = fields[columns_.name];
  const std::string_view last = fields.back();
  std::size_t length = fields.size() - columns_.fields;  // the commas
  for (const std::string_view part : fields.subspan(columns_.name)) length += part.size();
  if (last.data() + last.size() != first.data() + length) return fields;  // quoted somewhere
  const std::string_view name(first.data(), length);
  int depth = 0;  // a comma outside brackets parts columns: a decimal comma has moved them
  for (const char c : name) {
    depth += c == '(' || c == '<' || c == '[' || c == '{'   ? 1
             : c == ')' || c == '>' || c == ']' || c == '}' ? -1
                                                            : 0;
    if (c == ',' && depth <= 0) return fields;
  }
  joined_.assign(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(columns_.name));
  joined_.push_back(name);
  return joined_;
}

std::optional<Diagnostic> TableRows::take(std::span<const std::string_view> fields, int line,
                                          std::int64_t process) {
  ++collector_.account().rows;
  fields = joined(fields);
  std::size_t count = fields.size();
  while (count > columns_.fields && trim(fields[count - 1]).empty())
    --count;  // a comma behind the last value
  if (count != columns_.fields) {
    return wrong(
        fmt::format("{} fields under a header of {}: the row is cut, or a decimal comma stands outside "
                    "quotes",
                    count, columns_.fields),
        line);
  }
  if (columns_.share != kAbsent && !columns_.shares_of_kernels) take_share(fields);
  if (columns_.kind != kAbsent && cell(fields, columns_.kind) != columns_.kernels) {
    ++collector_.account().ignored;
    return std::nullopt;
  }
  if (columns_.share != kAbsent && columns_.shares_of_kernels) take_share(fields);
  if (cell(fields, columns_.name).empty()) return wrong("a row without a kernel's name", line);
  process = process_of(fields, process);
  return columns_.summary() ? take_sums(fields, line, process) : take_launch(fields, line, process);
}

std::optional<Diagnostic> TableRows::thousands_or_fraction(int line) const {
  return diagnose("number-locale",
                  "whole nanoseconds with three digits behind a dot: thousands of another locale?",
                  {path_, line, 1});
}

std::optional<Diagnostic> TableRows::read_times(std::span<const std::string_view> fields, int line,
                                                Times& times) {
  open_ = false;
  times.start = clock(cell(fields, columns_.start));
  if (columns_.duration != kAbsent) times.duration_ps = duration(cell(fields, columns_.duration));
  bool read = times.start && (columns_.duration == kAbsent || times.duration_ps);
  if (columns_.end != kAbsent) {
    const auto end = clock(cell(fields, columns_.end));
    std::int64_t span = -1;
    read = read && end;
    if (!times.start || !end || __builtin_sub_overflow(*end, *times.start, &span) || span < 0 ||
        span > kLongestNs) {
      times.duration_ps.reset();
    } else if (times.duration_ps && *times.duration_ps != span * 1000) {
      return wrong(fmt::format("a duration of {} ns between a start and an end {} ns apart",
                               *times.duration_ps / 1000, span),
                   line);
    } else {
      times.duration_ps = span * 1000;
    }
  }
  if (open_) return thousands_or_fraction(line);
  for (const std::size_t column : {columns_.start, columns_.duration, columns_.end}) {
    const std::string_view text = cell(fields, column);
    if (read || text.find(',') == std::string_view::npos) continue;
    return wrong(
        fmt::format("\"{}\" is not a number as this tool writes them: was the file saved again by another "
                    "program?",
                    printable(cut_middle(text, 40))),
        line);
  }
  return std::nullopt;
}

std::optional<Diagnostic> TableRows::take_launch(std::span<const std::string_view> fields, int line,
                                                 std::int64_t process) {
  RowAccount& account = collector_.account();
  Times times;
  if (auto problem = read_times(fields, line, times)) return problem;
  if (seen_before(fields, process)) {
    if (columns_.rows_of_counters) {
      ++account.ignored;
      return std::nullopt;
    }
    return diagnose("import-rows-twice",
                    fmt::format("launch {} appears twice: rows of two files, or one file twice",
                                printable(cell(fields, columns_.id))),
                    {path_, line, 1});
  }
  const bool timed =
      times.start && times.duration_ps && *times.duration_ps >= 0 && *times.duration_ps <= kLongestPs;
  const std::string_view name = cell(fields, columns_.name);
  if (is_copy(name)) {
    ++account.ignored;
    if (!timed) return std::nullopt;
    Group& group = collector_.group(process, device_of(fields));
    add_copy(name.find("memset") != std::string_view::npos ? group.memset : group.memcpy,
             *times.duration_ps / 1000);
    return std::nullopt;
  }
  if (!timed) {
    collector_.drop(diagnose("import-row-dropped", "no start, no duration, or an end before its start",
                             {path_, line, 0}));
    return std::nullopt;
  }
  if (*times.start != 0) {
    const int lacking = clock_power_ - decimals(cell(fields, columns_.start));
    lacking_ = lacking_ ? std::min(*lacking_, lacking) : lacking;
  }
  Launch launch;
  launch.name = collector_.name_id(name);
  launch.time_ps = *times.duration_ps;
  launch.stream = parse_int(cell(fields, columns_.stream));
  Group& group = collector_.group(process, device_of(fields));
  return keep(group, launch, collector_.add_timed(group, launch, *times.start, (launch.time_ps + 500) / 1000),
              line);
}

std::optional<Diagnostic> TableRows::keep(Group& group, const Launch& launch, bool added, int line) {
  if (!added) {
    collector_.drop(diagnose("import-row-dropped", "a sum of durations is over 100 days", {path_, line, 0}));
    return std::nullopt;
  }
  last_ = launch.name;
  ++group.kept_rows;
  ++collector_.account().kept;
  return std::nullopt;
}

std::optional<Diagnostic> TableRows::take_sums(std::span<const std::string_view> fields, int line,
                                               std::int64_t process) {
  const std::string_view name = cell(fields, columns_.name);
  open_ = false;
  const auto total = duration(cell(fields, columns_.total));
  if (open_) return thousands_or_fraction(line);
  const auto calls = scaled(cell(fields, columns_.calls), 0);
  if (!total || !calls) return wrong("the total or the calls are not plain numbers", line);
  if (*total < 0 || *calls < 1 || *calls > 1'000'000'000'000 || decimals(cell(fields, columns_.calls)) > 0)
    return wrong("a total or a number of calls that cannot be", line);
  if (const auto average = duration(cell(fields, columns_.average), columns_.average_unit)) {
    const double sum = static_cast<double>(*average) * static_cast<double>(*calls);
    const double slack = 0.02 * static_cast<double>(*total) + 1000.0 * static_cast<double>(*calls);
    if (std::abs(sum - static_cast<double>(*total)) > slack)
      return wrong("the average times the calls is not the total: columns of another table?", line);
  }
  Group& group = collector_.group(process, device_of(fields));
  if (is_copy(name)) {
    ++collector_.account().ignored;
    CopySums& sums = name.find("memset") != std::string_view::npos ? group.memset : group.memcpy;
    sums.count += *calls;
    if (__builtin_add_overflow(sums.time_ps, *total, &sums.time_ps)) sums.time_ps = 0;
    return std::nullopt;
  }
  std::string row = fmt::format("{} {} {}", process, cell(fields, columns_.device), name);
  for (std::size_t i = columns_.grid; i != kAbsent && i < fields.size(); ++i)
    row += fmt::format("\n{}", trim(fields[i]));
  if (!rows_.insert(std::move(row)).second && !is_truncated_name(name)) {
    return diagnose("import-rows-twice",
                    fmt::format("{} appears twice in one summary", printable(cut_middle(name, 60))),
                    {path_, line, 1});
  }
  Launch launch;
  launch.name = collector_.name_id(name);
  launch.launches = *calls;
  launch.time_ps = *total;
  launch.min_ps = duration(cell(fields, columns_.low), columns_.low_unit);
  launch.max_ps = duration(cell(fields, columns_.high), columns_.high_unit);
  launch.extremes = launch.min_ps && launch.max_ps;
  if (!fit_extremes(launch))
    return wrong("the shortest and the longest launch do not go with the calls and the total", line);
  return keep(group, launch, collector_.add(group, launch), line);
}

void TableRows::finish(bool open_end, int line) {
  check_shares(line);
  const auto names = collector_.names();
  if (open_end && last_ && *last_ + 1 == names.size()) {
    const std::string& cut = *names[*last_];
    const bool part = std::any_of(names.begin(), names.end(), [&](const std::string* name) {
      return name->size() > cut.size() && name->starts_with(cut);
    });
    if (part)
      collector_.lost("the file ends inside its last row: the name there is the front of another kernel's",
                      {path_, line, 0});
  }
  if (lacking_ && *lacking_ > 0) collector_.set_clock_step(std::llround(std::pow(10.0, *lacking_)));
}

}  // namespace plumbline::profile
