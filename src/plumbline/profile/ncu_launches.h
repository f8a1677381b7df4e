// SPDX-License-Identifier: Apache-2.0
// The launches of a Nsight Compute file while it is read, and their sums once its numbers can be understood.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plumbline/profile/cells.h"
#include "plumbline/profile/collect.h"
#include "plumbline/profile/ncu_header.h"

namespace plumbline::profile {

/// One profiled launch, or one line of a summary.
struct NcuRow {
  std::uint32_t segment = 0;  ///< number of the table in the file, from 1
  std::int64_t process = kUnknownId;
  std::int64_t id = 0;
  std::int64_t device = kUnknownId;
  std::int64_t stream = kUnknownId;
  std::uint32_t name = 0;
  std::optional<NumberCell> invocations;  ///< of a summary's line
  int line = 0;
  int time_rank = 0;      ///< 0: no duration yet
  bool time_bad = false;  ///< there was a duration and it was not a number
  NumberCell time;
  Unit unit;
  int tensor_rank = 0;
  NumberCell tensor;
};

/// The shortest and the longest launch of a summary's line.
struct NcuExtremes {
  std::optional<NumberCell> low, high;
};

/// All launches of a file. Nothing can be summed before the last row: whether "1.234" is a thousand or a
/// fraction may be decided by any cell.
class NcuLaunches {
 public:
  /// The launch that `row` speaks of, and whether it is new. Rows of one launch mostly follow each other,
  /// and need not: tables of several processes may be mixed. The pointer lives as long as this.
  std::pair<NcuRow*, bool> place(const NcuRow& row);

  std::deque<NcuRow> rows;
  std::unordered_map<std::int64_t, NcuExtremes> extremes;  ///< by the id of a summary's row
  /// How each table of the file writes its numbers: a file may hold tables of several runs.
  std::vector<NumberLocale> locales;
  NumberLocale& locale() { return locales.back(); }

 private:
  struct Key {
    std::uint32_t segment;
    std::int64_t process;
    std::int64_t id;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  std::unordered_map<Key, std::size_t, KeyHash> places_;
};

/// Sums launches into a collector, each kept, dropped or ignored.
class NcuFeeder {
 public:
  NcuFeeder(NcuPage page, const std::string& path, Collector& collector)
      : page_(page), path_(path), collector_(collector) {}

  /// One launch. `comma`: its numbers have a decimal comma; `ends`: of a summary's line.
  void feed(const NcuRow& row, bool comma, const NcuExtremes* ends = nullptr);
  /// A line of a summary that says again, and worse, what another one says.
  void ignore();
  /// Says how far the printed durations are rounded, where they are. Errors: ncu-no-duration (no launch at
  /// all has one).
  std::optional<Diagnostic> finish() const;

  NcuPage page() const { return page_; }
  const std::string& path() const { return path_; }

 private:
  void drop(const NcuRow& row, const char* why);

  NcuPage page_;
  const std::string& path_;
  Collector& collector_;
  double step_ns_ = 0;  ///< the coarsest last digit of a duration
  int decimals_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t timed_ = 0;
  int first_line_ = 0;
};

/// Feeds all launches, in launch order. Errors: number-locale, number-locale-conflict, ncu-no-duration.
std::optional<Diagnostic> feed_ncu_launches(NcuLaunches& launches, NcuFeeder& feeder);

/// Feeds and forgets the launches at the front that can be understood already: those whose numbers read the
/// same either way, and all once some number of the table has shown how it writes them. The last launch
/// stays: it may not be whole. For files whose launches stand in order, each in one piece.
void feed_understood(NcuLaunches& launches, NcuFeeder& feeder);

}  // namespace plumbline::profile
