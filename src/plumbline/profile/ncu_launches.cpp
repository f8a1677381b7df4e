// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/ncu_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plumbline/base/numbers.h"

namespace plumbline::profile {
namespace {

/// Why the numbers of one table (from 1) cannot be read, if so.
std::optional<Diagnostic> unreadable_numbers(const NcuLaunches& launches, std::size_t table,
                                             const std::string& path) {
  const NumberLocale& locale = launches.locales[table - 1];
  switch (locale.verdict()) {
    case NumberLocale::Verdict::dot:
    case NumberLocale::Verdict::comma:
      return std::nullopt;
    case NumberLocale::Verdict::conflict:
      return diagnose("number-locale-conflict",
                      fmt::format("line {} has a decimal dot and line {} a decimal comma", locale.dot_line(),
                                  locale.comma_line()),
                      {path, std::max(locale.dot_line(), locale.comma_line()), 0});
    case NumberLocale::Verdict::undecided:
      break;
  }
  const auto open = [](const NumberCell& cell) {
    return cell.separators == Separators::comma_three || cell.separators == Separators::dot_three;
  };
  const auto at = std::find_if(launches.rows.begin(), launches.rows.end(), [&](const NcuRow& row) {
    return row.segment == table && (open(row.time) || (row.invocations && open(*row.invocations)));
  });
  if (at == launches.rows.end()) return std::nullopt;  // no number that counts depends on it
  return diagnose("number-locale",
                  "a number such as 1.234 or 1,234 may be a thousand or a fraction, and no other "
                  "number in the table tells",
                  {path, at->line, 0});
}

/// The digits behind the decimal mark, under the table's reading.
int decimals_of(const NumberCell& cell, bool comma) {
  const bool marked = cell.separators == (comma ? Separators::comma_decimal : Separators::dot_decimal) ||
                      cell.separators == (comma ? Separators::comma_three : Separators::dot_three);
  return marked ? cell.decimals : 0;
}

bool earlier(const NcuRow& a, const NcuRow& b) {
  if (a.segment != b.segment) return a.segment < b.segment;
  return a.process != b.process ? a.process < b.process : a.id < b.id;
}

}  // namespace

std::size_t NcuLaunches::KeyHash::operator()(const Key& key) const {
  std::uint64_t h = static_cast<std::uint64_t>(key.id) * 0x9E3779B97F4A7C15ULL;
  h ^= (static_cast<std::uint64_t>(key.process) + (std::uint64_t{key.segment} << 40)) * 0xC2B2AE3D27D4EB4FULL;
  return h ^ (h >> 29);
}

std::pair<NcuRow*, bool> NcuLaunches::place(const NcuRow& row) {
  if (!rows.empty()) {
    NcuRow& last = rows.back();
    if (last.id == row.id && last.process == row.process && last.segment == row.segment &&
        last.name == row.name) {
      return {&last, false};
    }
  }
  const auto [it, fresh] = places_.try_emplace(Key{row.segment, row.process, row.id}, rows.size());
  if (fresh) rows.push_back(row);
  return {&rows[it->second], fresh};
}

void NcuFeeder::feed(const NcuRow& row, bool comma, const NcuExtremes* ends) {
  const auto value = [&](const NumberCell& cell) { return comma ? cell.if_comma : cell.if_dot; };
  if (rows_++ == 0) first_line_ = row.line;
  timed_ += row.time_rank > 0 ? 1 : 0;
  if (row.time_rank == 0)
    return drop(row, row.time_bad ? "its duration is not a number" : "it has no duration");
  const auto each = to_picoseconds(value(row.time), row.unit);
  if (!each) return drop(row, "its duration is negative or absurdly long");
  Launch launch;
  launch.name = row.name;
  if (row.invocations) {
    const double count = value(*row.invocations);
    if (!(count >= 1) || count > 1e12 || count != std::floor(count))
      return drop(row, "its invocations are not a whole number");
    launch.launches = static_cast<std::int64_t>(count);
  }
  const double step = row.unit.scale * std::pow(10.0, -decimals_of(row.time, comma));
  if (row.unit.scale > 1 && step >= step_ns_) {
    step_ns_ = step;
    decimals_ = decimals_of(row.time, comma);
  }
  if (__builtin_mul_overflow(*each, launch.launches, &launch.time_ps))
    return drop(row, "its duration is absurdly long");
  launch.min_ps = launch.max_ps = each;
  if (ends != nullptr && ends->low) launch.min_ps = to_picoseconds(value(*ends->low), row.unit);
  if (ends != nullptr && ends->high) launch.max_ps = to_picoseconds(value(*ends->high), row.unit);
  if (!fit_extremes(launch)) return drop(row, "its shortest and longest launch do not go with the average");
  if (row.tensor_rank > 0) {
    const double pct = value(row.tensor);
    if (pct >= 0 && pct <= 100) launch.tensor_pct = pct;
  }
  if (row.stream != kUnknownId) launch.stream = row.stream;
  Group& group = collector_.group(row.process, row.device);
  if (!collector_.add(group, launch)) return drop(row, "its duration is absurdly long");
  if (row.id >= 0 && page_ != NcuPage::summary) group.sequence.push_back(row.name);
  ++group.kept_rows;
  ++collector_.account().kept;
}

void NcuFeeder::ignore() {
  ++rows_;
  ++collector_.account().ignored;
}

void NcuFeeder::drop(const NcuRow& row, const char* why) {
  collector_.drop(
      diagnose("import-row-dropped", fmt::format("launch {}: {}", row.id, why), {path_, row.line, 0}));
}

std::optional<Diagnostic> NcuFeeder::finish() const {
  if (step_ns_ >= 1) {
    collector_.note(fmt::format(
        "durations are printed with {} decimals of a larger unit: a launch is rounded to {:g} ns (ncu "
        "--print-units base prints whole nanoseconds)",
        decimals_, step_ns_));
  }
  if (timed_ == 0 && rows_ > 0 && collector_.account().dropped == rows_) {
    return diagnose("ncu-no-duration",
                    "no launch has a duration: profile with the SpeedOfLight section or "
                    "--metrics gpu__time_duration.sum",
                    {path_, first_line_, 0});
  }
  return std::nullopt;
}

std::optional<Diagnostic> feed_ncu_launches(NcuLaunches& launches, NcuFeeder& feeder) {
  for (std::size_t table = 1; table <= launches.locales.size(); ++table) {
    if (auto problem = unreadable_numbers(launches, table, feeder.path())) return problem;
  }
  std::deque<NcuRow>& rows = launches.rows;
  if (!std::is_sorted(rows.begin(), rows.end(), earlier)) std::sort(rows.begin(), rows.end(), earlier);
  int best = 0;  // a summary may give the duration under two names: the better one counts
  for (const NcuRow& row : rows) best = std::max(best, row.time_rank);
  for (const NcuRow& row : rows) {
    if (feeder.page() == NcuPage::summary && row.time_rank > 0 && row.time_rank < best) {
      feeder.ignore();
      continue;
    }
    const auto ends = launches.extremes.find(row.id);
    feeder.feed(row, launches.locales[row.segment - 1].verdict() == NumberLocale::Verdict::comma,
                ends == launches.extremes.end() ? nullptr : &ends->second);
  }
  return feeder.finish();
}

void feed_understood(NcuLaunches& launches, NcuFeeder& feeder) {
  const NumberLocale& locale = launches.locale();
  while (launches.rows.size() > 1) {
    const NcuRow& row = launches.rows.front();
    const bool plain = row.time.separators == Separators::none && row.tensor.separators == Separators::none;
    if (!plain && !locale.settled()) return;
    feeder.feed(row, locale.comma_line() != 0);  // with both marks the file is refused at its end
    launches.rows.pop_front();
  }
}

}  // namespace plumbline::profile
