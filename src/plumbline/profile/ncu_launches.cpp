// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/ncu_launches.h"

#include <fmt/format.h>

#include <algorithm>

namespace plumbline::profile {
namespace {

/// Why the file's numbers cannot be read, if so.
std::optional<Diagnostic> unreadable_numbers(const NcuLaunches& launches, const std::string& path) {
  const NumberLocale& locale = launches.locale;
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
  const auto at = std::find_if(launches.rows.begin(), launches.rows.end(), [](const NcuRow& row) {
    return row.time.separators == Separators::comma_three || row.time.separators == Separators::dot_three;
  });
  return diagnose("number-locale",
                  "a number such as 1.234 or 1,234 may be a thousand or a fraction, and no other "
                  "number in the file tells",
                  {path, at == launches.rows.end() ? 0 : at->line, 0});
}

/// Feeds one launch after the other, under one reading of the file's numbers.
class Feeder {
 public:
  Feeder(const NcuLaunches& launches, NcuPage page, const std::string& path, Collector& collector)
      : launches_(launches),
        comma_(launches.locale.verdict() == NumberLocale::Verdict::comma),
        page_(page),
        path_(path),
        collector_(collector) {}

  void feed(const NcuRow& row) {
    if (row.time_rank == 0)
      return drop(row, row.time_bad ? "its duration is no number" : "it has no duration");
    const auto each = to_picoseconds(value(row.time), row.unit);
    if (!each) return drop(row, "its duration is negative or absurdly long");
    Launch launch;
    launch.name = row.name;
    launch.launches = row.launches;
    if (__builtin_mul_overflow(*each, row.launches, &launch.time_ps))
      return drop(row, "its duration is absurdly long");
    launch.min_ps = launch.max_ps = each;
    if (const auto ends = launches_.extremes.find(row.id); ends != launches_.extremes.end()) {
      if (ends->second.low) launch.min_ps = to_picoseconds(value(*ends->second.low), row.unit);
      if (ends->second.high) launch.max_ps = to_picoseconds(value(*ends->second.high), row.unit);
    }
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

 private:
  double value(const NumberCell& cell) const { return comma_ ? cell.if_comma : cell.if_dot; }
  void drop(const NcuRow& row, const char* why) {
    collector_.drop(
        diagnose("import-row-dropped", fmt::format("launch {}: {}", row.id, why), {path_, row.line, 0}));
  }

  const NcuLaunches& launches_;
  bool comma_;
  NcuPage page_;
  const std::string& path_;
  Collector& collector_;
};

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

std::optional<Diagnostic> feed_ncu_launches(NcuLaunches& launches, NcuPage page, const std::string& path,
                                            Collector& collector) {
  if (auto problem = unreadable_numbers(launches, path)) return problem;
  std::deque<NcuRow>& rows = launches.rows;
  if (!std::is_sorted(rows.begin(), rows.end(), earlier)) std::sort(rows.begin(), rows.end(), earlier);
  std::int64_t timed = 0;
  int best = 0;  // a summary may give the duration under two names: the better one counts
  for (const NcuRow& row : rows) best = std::max(best, row.time_rank);
  Feeder feeder(launches, page, path, collector);
  for (const NcuRow& row : rows) {
    if (page == NcuPage::summary && row.time_rank > 0 && row.time_rank < best) continue;
    timed += row.time_rank > 0 ? 1 : 0;
    feeder.feed(row);
  }
  RowAccount& account = collector.account();
  account.ignored = account.rows - account.kept - account.dropped;
  if (timed == 0 && !rows.empty() && account.dropped == static_cast<std::int64_t>(rows.size())) {
    return diagnose("ncu-no-duration",
                    "no launch has a duration: profile with the SpeedOfLight section or "
                    "--metrics gpu__time_duration.sum",
                    {path, rows.front().line, 0});
  }
  return std::nullopt;
}

}  // namespace plumbline::profile
