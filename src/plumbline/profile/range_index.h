// SPDX-License-Identifier: Apache-2.0
// Which of many stretches of time holds a moment: where importers place a launch in its range.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace plumbline::profile {

/// Stretches with a `begin` and an `end` (not included), in nanoseconds. They may nest and overlap: ranges of
/// one name do. Also remembers in which something was launched.
template <class Range>
class RangeIndex {
 public:
  RangeIndex() = default;
  explicit RangeIndex(std::vector<Range> ranges) : ranges_(std::move(ranges)), entered_(ranges_.size(), 0) {
    std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;  // the inner one last
    });
    reach_.reserve(ranges_.size());
    for (const Range& range : ranges_)
      reach_.push_back(reach_.empty() ? range.end : std::max(reach_.back(), range.end));
  }

  bool empty() const { return ranges_.empty(); }

  /// The number of the range that holds `at` and that `accept` takes, the one that began last first.
  template <class Accept>
  std::optional<std::size_t> find(std::int64_t at, const Accept& accept) const {
    const auto behind =
        std::upper_bound(ranges_.begin(), ranges_.end(), at,
                         [](std::int64_t time, const Range& range) { return time < range.begin; });
    for (auto i = static_cast<std::size_t>(behind - ranges_.begin()); i > 0 && at < reach_[i - 1]; --i) {
      if (at < ranges_[i - 1].end && accept(ranges_[i - 1])) return i - 1;
    }
    return std::nullopt;
  }

  void enter(std::size_t range) { entered_[range] = 1; }
  /// Ranges in which something was launched, each counted once.
  std::int64_t entered() const { return std::count(entered_.begin(), entered_.end(), 1); }

  /// How often the program entered the range, whether it launched anything or not: a range inside another one
  /// of its owner (a thread) is not an entry of its own. By whatever `owner` and `group` give for a range.
  template <class Owner, class Group>
  auto entries(const Owner& owner, const Group& group) const {
    std::map<decltype(group(std::declval<const Range&>())), std::int64_t> counts;
    std::map<decltype(owner(std::declval<const Range&>())), std::int64_t> reach;
    for (const Range& range : ranges_) {
      const auto [it, fresh] = reach.try_emplace(owner(range), range.end);
      if (!fresh && range.end <= it->second) continue;
      it->second = range.end;
      ++counts[group(range)];
    }
    return counts;
  }

 private:
  std::vector<Range> ranges_;
  std::vector<std::int64_t> reach_;  ///< the furthest end of the ranges so far: how far back to look
  std::vector<char> entered_;
};

/// The ranges that a file has, for the message that it lacks the asked one: bounded, safe to print.
std::string list_ranges(const std::set<std::string>& names);

}  // namespace plumbline::profile
