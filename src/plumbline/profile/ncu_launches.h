// SPDX-License-Identifier: Apache-2.0
// The launches of a Nsight Compute file while it is read, and their sums once its numbers can be understood.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

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
  std::int64_t launches = 1;
  int line = 0;
  int time_rank = 0;      ///< 0: no duration yet
  bool time_bad = false;  ///< there was a duration and it was no number
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
  NumberLocale locale;

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

/// Sums the launches into `collector`, in launch order, and accounts for every row. Errors: number-locale,
/// number-locale-conflict, ncu-no-duration (no launch at all has one).
std::optional<Diagnostic> feed_ncu_launches(NcuLaunches& launches, NcuPage page, const std::string& path,
                                            Collector& collector);

}  // namespace plumbline::profile
