// SPDX-License-Identifier: Apache-2.0
// The best shapes so far: the first k in a total order, and the Pareto front.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plumbline {

/// A shape and its objective; less is better, of equal ones the smaller number.
struct Candidate {
  double value = 0;
  std::int64_t number = 0;

  bool operator<(const Candidate& other) const {
    return value != other.value ? value < other.value : number < other.number;
  }
  bool operator==(const Candidate&) const = default;
};

/// The first `limit` candidates, in order.
struct TopList {
  std::size_t limit = 1;
  std::vector<Candidate> best;

  /// True when the candidate may stand in the list.
  bool wants(const Candidate& candidate) const { return best.size() < limit || candidate < best.back(); }
  void add(const Candidate& candidate) {
    if (!wants(candidate)) return;
    best.insert(std::upper_bound(best.begin(), best.end(), candidate), candidate);
    if (best.size() > limit) best.pop_back();
  }
};

/// A point of a front of two or three objectives; the third is 0 where there are two.
struct FrontPoint {
  std::array<double, 3> value{};
  std::int64_t number = 0;

  bool operator==(const FrontPoint&) const = default;
};

/// Points that nothing dominates, ascending by their first objective. Of equal points the smaller number
/// stands.
struct Front {
  std::vector<FrontPoint> points;
  bool flat = true;      ///< the third objective of every point is 0
  std::size_t hint = 0;  ///< the point that dominated last: neighbours are dominated by the same one

  static bool covers(const FrontPoint& a, const FrontPoint& b) {
    if (a.value[0] > b.value[0] || a.value[1] > b.value[1] || a.value[2] > b.value[2]) return false;
    return a.value != b.value || a.number <= b.number;
  }
  /// True when a point is at least as good in everything and better, or earlier, in something.
  bool dominates(const FrontPoint& point) {
    if (hint < points.size() && covers(points[hint], point)) return true;
    const auto end = std::upper_bound(points.begin(), points.end(), point.value[0],
                                      [](double v, const FrontPoint& p) { return v < p.value[0]; });
    // Of two objectives the nearest in the first is the best in the second, and no other need be asked.
    const auto last = flat && point.value[2] >= 0 && end != points.begin() ? end - 1 : points.begin();
    for (auto at = end; at != last;) {
      --at;
      if (!covers(*at, point)) continue;
      hint = static_cast<std::size_t>(at - points.begin());
      return true;
    }
    return false;
  }
  void add(const FrontPoint& point) {
    if (dominates(point)) return;
    std::erase_if(points, [&](const FrontPoint& p) { return covers(point, p); });
    const auto at = std::upper_bound(points.begin(), points.end(), point, [](const auto& a, const auto& b) {
      return a.value != b.value ? a.value < b.value : a.number < b.number;
    });
    points.insert(at, point);
    flat = flat && point.value[2] == 0;
    hint = 0;
  }
};

}  // namespace plumbline
