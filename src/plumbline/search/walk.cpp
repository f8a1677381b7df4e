// SPDX-License-Identifier: Apache-2.0
// A tree of boxes: each level splits one dimension's range in up to eight. Every quantity has an interval
// over a box; constraints refuse a box whole, bounds prune it, and what is left is evaluated row by row.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "plumbline/search/search_plan.h"

namespace plumbline {
namespace {

/// f over rows and numbers: whichever operand is not a row stands for all of it.
template <class F>
void over(double* out, const double* a, double x, const double* b, double y, std::size_t length, F f) {
  if (a != nullptr && b != nullptr) {
    for (std::size_t i = 0; i < length; ++i) out[i] = f(a[i], b[i]);
  } else if (a != nullptr) {
    for (std::size_t i = 0; i < length; ++i) out[i] = f(a[i], y);
  } else {
    for (std::size_t i = 0; i < length; ++i) out[i] = f(x, b[i]);
  }
}

/// a + b of every part. False: one may be no number, and apply() decides.
template <class Parts>
bool add_parts(const Parts& a, const Parts& b, Parts& out, std::size_t count) {
  for (std::size_t i = 0; i < a.low.size(); ++i) {
    out.low[i] = a.low[i] + b.low[i];
    out.high[i] = a.high[i] + b.high[i];
  }
  bool numbers = true;
  for (std::size_t i = 0; i < count; ++i) numbers = numbers && out.low[i] <= out.high[i];
  return numbers;
}

/// a · b of every part where all are finite and none is negative. False: apply() decides.
template <class Parts>
bool multiply_parts(const Parts& a, const Parts& b, Parts& out, std::size_t count) {
  constexpr double most = std::numeric_limits<double>::max();
  bool plain = true;
  for (std::size_t i = 0; i < count; ++i)
    plain = plain && a.low[i] >= 0 && b.low[i] >= 0 && a.high[i] <= most && b.high[i] <= most;
  if (!plain) return false;
  for (std::size_t i = 0; i < a.low.size(); ++i) {
    out.low[i] = a.low[i] * b.low[i];
    out.high[i] = a.high[i] * b.high[i];
  }
  return true;
}

}  // namespace

Walk::Walk(const SearchPlan& plan, SlabResult& result, TopList top, Front front)
    : plan_(plan), result_(result), top_(std::move(top)), front_(std::move(front)) {
  const std::size_t nodes = plan.problem.program.nodes.size();
  ranges_.assign(plan.levels.size() + 1, std::vector<Range>(nodes));
  parts_.assign(plan.levels.size(), std::vector<Parts>(nodes));
  rows_.resize(nodes);
  row_of_.assign(nodes, 0);
  for (const RowRoot& root : plan.rows) {
    for (const int each : root.nodes) rows_[static_cast<std::size_t>(each)].resize(kRow);
  }
  result_.tally.rejected.assign(plan.problem.constraints.size(), 0);
  result_.top.limit = top_.limit;
}

std::size_t Walk::place_in(const Coarse& coarse, const CostTable& table) const {
  std::size_t place = 0;
  for (std::size_t i = 0; i < coarse.sizes.size(); ++i) {
    const auto low = box_.low[static_cast<std::size_t>(table.dimensions[i])];
    place = place * coarse.sizes[i] + static_cast<std::size_t>(low / coarse.block[i]);
  }
  return place;
}

void Walk::enter(const Slab& box, std::size_t level) {
  box_ = box;
  depth_ = 0;
  const std::vector<const Coarse*>& tables = level == 0 ? plan_.top_tables : plan_.levels[level - 1].tables;
  std::vector<Range>& ranges = ranges_[0];
  const auto of = [&](int at) { return at < 0 ? Range{} : ranges[static_cast<std::size_t>(at)]; };
  for (const int at : plan_.needed) {
    const ProgramNode& node = plan_.node(at);
    Range& out = ranges[static_cast<std::size_t>(at)];
    const auto index = static_cast<std::size_t>(std::max(node.index, 0));
    if (node.op == Op::constant) {
      out = {node.value, node.value};
    } else if (node.op == Op::dimension) {
      const auto& values = plan_.problem.space.dimensions[index].values;
      out = {values[static_cast<std::size_t>(box_.low[index])],
             values[static_cast<std::size_t>(box_.high[index]) - 1]};
    } else if (node.op == Op::table) {
      const std::size_t place = place_in(*tables[index], plan_.problem.tables[index]);
      out = {tables[index]->low[place], tables[index]->high[place]};
    } else {
      out = apply(node.op, of(node.a), of(node.b), of(node.c));
    }
  }
}

Walk::Parts Walk::operand(const Level& split, int at) const {
  Parts out;
  if (at < 0) return out;
  if ((plan_.node(at).support >> split.dimension & 1U) != 0)
    return parts_[depth_][static_cast<std::size_t>(at)];
  out.low.fill(range(at).low);
  out.high.fill(range(at).high);
  return out;
}

void Walk::evaluate(const Level& split, const std::vector<int>& nodes, std::int32_t low, std::int32_t high,
                    std::size_t count) {
  for (const int at : nodes) {
    const ProgramNode& node = plan_.node(at);
    Parts& out = parts_[depth_][static_cast<std::size_t>(at)];
    const auto index = static_cast<std::size_t>(std::max(node.index, 0));
    if (node.op == Op::dimension) {
      const auto& values = plan_.problem.space.dimensions[index].values;
      for (std::size_t i = 0; i < count; ++i) {
        const std::int32_t from = low + static_cast<std::int32_t>(i) * split.block;
        out.low[i] = values[static_cast<std::size_t>(from)];
        out.high[i] = values[static_cast<std::size_t>(std::min(high, from + split.block)) - 1];
      }
      continue;
    }
    if (node.op == Op::table) {
      const Coarse& coarse = *split.tables[index];
      const CostTable& table = plan_.problem.tables[index];
      std::size_t step = 1;  // between neighbours of the dimension
      for (std::size_t i = coarse.sizes.size(); table.dimensions[--i] != split.dimension;)
        step *= coarse.sizes[i];
      const std::size_t first = place_in(coarse, table);
      for (std::size_t i = 0; i < count; ++i) {
        out.low[i] = coarse.low[first + i * step];
        out.high[i] = coarse.high[first + i * step];
      }
      continue;
    }
    const Parts a = operand(split, node.a), b = operand(split, node.b);
    if (node.op == Op::add && add_parts(a, b, out, count)) continue;
    if (node.op == Op::multiply && multiply_parts(a, b, out, count)) continue;
    const Parts c = operand(split, node.c);
    for (std::size_t i = 0; i < count; ++i) {
      const Range r =
          apply(node.op, Range{a.low[i], a.high[i]}, Range{b.low[i], b.high[i]}, Range{c.low[i], c.high[i]});
      out.low[i] = r.low;
      out.high[i] = r.high;
    }
  }
}

int Walk::refused_by() const {
  for (const int c : plan_.constraints) {
    const Range& r = range(plan_.problem.constraints[static_cast<std::size_t>(c)].node);
    if (r.low == 0 && r.high == 0) return c;
  }
  return -1;
}

std::int64_t Walk::first_number() const {
  std::int64_t first = 0;
  for (std::size_t d = 0; d < box_.low.size(); ++d) first += plan_.strides[d] * box_.low[d];
  return first;
}

/// No shape from the box's first on, with these least values or more, can be in the answer.
template <class Least>
bool Walk::behind(double bound, Least least) const {
  if (!plan_.options.prune) return false;
  const std::int64_t first = first_number();
  if (plan_.options.seek == Seek::best && top_.wants({bound, first})) return false;
  if (plan_.front.empty()) return true;
  FrontPoint point;
  // An uncovered shape may stand in the front itself: of equal points only an earlier number covers it.
  point.number = plan_.options.seek == Seek::uncovered ? first - 1 : first;
  for (std::size_t i = 0; i < plan_.front.size(); ++i) point.value[i] = least(plan_.front[i]);
  return front_.dominates(point);
}

bool Walk::pruned() const {
  return behind(bound(), [&](int at) { return range(at).low; });
}

bool Walk::search(std::size_t level) {
  if (level == plan_.levels.size()) {
    row();
    return plan_.options.stop == nullptr || !plan_.options.stop->load(std::memory_order_relaxed);
  }
  const Level& split = plan_.levels[level];
  const auto d = static_cast<std::size_t>(split.dimension);
  const std::int32_t low = box_.low[d], high = box_.high[d];
  const auto count = static_cast<std::size_t>((high - low + split.block - 1) / split.block);
  std::vector<Parts>& parts = parts_[depth_];
  evaluate(split, split.nodes, low, high, count);
  std::array<int, kSplit> refused{};
  std::size_t open = count;
  for (std::size_t i = 0; i < count; ++i) {
    const auto none = std::find_if(split.constraints.begin(), split.constraints.end(), [&](int c) {
      const Parts& truth =
          parts[static_cast<std::size_t>(plan_.problem.constraints[static_cast<std::size_t>(c)].node)];
      return truth.low[i] == 0 && truth.high[i] == 0;
    });
    refused[i] = none == split.constraints.end() ? -1 : *none;
    if (refused[i] >= 0) --open;
  }
  if (open > 0) evaluate(split, split.more, low, high, count);
  bool going = true;
  for (std::size_t i = 0; i < count && going; ++i) {
    box_.low[d] = low + static_cast<std::int32_t>(i) * split.block;
    box_.high[d] = std::min(high, box_.low[d] + split.block);
    const auto least = [&](int at) {
      const bool changes = (plan_.node(at).support >> split.dimension & 1U) != 0;
      return changes ? parts[static_cast<std::size_t>(at)].low[i] : range(at).low;
    };
    if (refused[i] >= 0) {
      result_.tally.rejected[static_cast<std::size_t>(refused[i])] += volume(box_);
    } else if (behind(least(plan_.problem.objective.node), least)) {
      result_.tally.pruned += volume(box_);
    } else {
      std::vector<Range>& below = ranges_[depth_ + 1];
      below = ranges_[depth_];
      for (const std::vector<int>* nodes : {&split.nodes, &split.more}) {
        for (const int at : *nodes) {
          const Parts& of = parts[static_cast<std::size_t>(at)];
          below[static_cast<std::size_t>(at)] = {of.low[i], of.high[i]};
        }
      }
      ++depth_;
      going = search(level + 1);
      --depth_;
    }
    if (plan_.options.first_only && !result_.top.best.empty()) going = false;
  }
  box_.low[d] = low;
  box_.high[d] = high;
  return going;
}

void Walk::row_node(int at, std::size_t length) {
  const ProgramNode& node = plan_.node(at);
  double* const out = rows_[static_cast<std::size_t>(at)].data();
  const auto inner = static_cast<std::size_t>(plan_.problem.inner);
  if (node.op == Op::dimension) {
    const double* values = plan_.problem.space.dimensions[inner].values.data() + box_.low[inner];
    std::copy(values, values + length, out);
    return;
  }
  if (node.op == Op::table) {
    const CostTable& table = plan_.problem.tables[static_cast<std::size_t>(node.index)];
    const double* values = table.values.data() + table.place(box_.low);
    std::copy(values, values + length, out);
    return;
  }
  const auto row = [&](int operand) -> const double* {
    if (operand < 0 || rows_[static_cast<std::size_t>(operand)].empty()) return nullptr;
    return rows_[static_cast<std::size_t>(operand)].data();
  };
  const auto number = [&](int operand) { return operand < 0 ? 0.0 : range(operand).low; };
  const double *a = row(node.a), *b = row(node.b), *c = row(node.c);
  const double x = number(node.a), y = number(node.b), z = number(node.c);
  switch (node.op) {
    case Op::add:
      return over(out, a, x, b, y, length, [](double u, double v) { return u + v; });
    case Op::subtract:
      return over(out, a, x, b, y, length, [](double u, double v) { return u - v; });
    case Op::multiply:
      return over(out, a, x, b, y, length, [](double u, double v) { return u * v; });
    case Op::less:
      return over(out, a, x, b, y, length, [](double u, double v) { return u < v ? 1.0 : 0.0; });
    case Op::less_equal:
      return over(out, a, x, b, y, length, [](double u, double v) { return u <= v ? 1.0 : 0.0; });
    case Op::logical_and:
      return over(out, a, x, b, y, length,
                  [](double u, double v) { return u * v; });  // of truths, each 0 or 1
    default:
      for (std::size_t i = 0; i < length; ++i) {
        out[i] = apply(node.op, a != nullptr ? a[i] : x, b != nullptr ? b[i] : y, c != nullptr ? c[i] : z);
      }
  }
}

void Walk::row() {
  const auto inner = static_cast<std::size_t>(plan_.problem.inner);
  const auto length = static_cast<std::size_t>(box_.high[inner] - box_.low[inner]);
  const std::int64_t first = first_number();
  const std::int64_t stride = plan_.strides[inner];
  ++row_number_;
  std::array<std::uint8_t, kRow> alive{};
  std::size_t left = length;
  std::fill_n(alive.begin(), length, std::uint8_t{1});
  std::array<const double*, 4> goal{};
  std::array<double, 4> same{};
  std::size_t goals = 0;
  for (const RowRoot& root : plan_.rows) {
    const std::vector<double>& values = rows_[static_cast<std::size_t>(root.node)];
    if (root.constraint >= 0) {
      if (range(root.node).low != 0) continue;  // every shape of the row fulfils it
    }
    for (const int each : root.nodes) {
      if (std::exchange(row_of_[static_cast<std::size_t>(each)], row_number_) != row_number_)
        row_node(each, length);
    }
    if (root.constraint < 0) {
      goal[goals] = values.empty() ? nullptr : values.data();
      same[goals++] = range(root.node).low;
      continue;
    }
    std::size_t passed = 0;
    for (std::size_t i = 0; i < length; ++i) {
      alive[i] = static_cast<std::uint8_t>(alive[i] & (values[i] != 0 ? 1 : 0));
      passed += alive[i];
    }
    result_.tally.rejected[static_cast<std::size_t>(root.constraint)] +=
        static_cast<std::int64_t>(left - passed);
    left = passed;
    if (left == 0) return;
  }
  result_.tally.seen += static_cast<std::int64_t>(left);
  const auto value = [&](std::size_t g, std::size_t i) { return goal[g] != nullptr ? goal[g][i] : same[g]; };
  const Seek seek = plan_.options.seek;
  const auto worst_listed = [&] {
    if (seek == Seek::front) return -std::numeric_limits<double>::infinity();
    return top_.best.size() < top_.limit ? std::numeric_limits<double>::infinity() : top_.best.back().value;
  };
  double worst = worst_listed();
  const auto list = [&](const Candidate& candidate) {
    if (candidate.value > worst || !top_.wants(candidate)) return;
    top_.add(candidate);
    result_.top.add(candidate);
    worst = worst_listed();
  };
  for (std::size_t i = 0; i < length; ++i) {
    if (alive[i] == 0) continue;
    const std::int64_t number = first + stride * static_cast<std::int64_t>(i);
    if (seek == Seek::best) list({value(0, i), number});
    if (goals == 1) continue;
    FrontPoint point;
    point.number = seek == Seek::uncovered ? number - 1 : number;
    for (std::size_t g = 1; g < goals; ++g) point.value[g - 1] = value(g, i);
    if (front_.dominates(point)) continue;
    if (seek == Seek::uncovered) {
      const auto& known = *plan_.options.known;
      if (std::binary_search(known.begin(), known.end(), number)) continue;
      ++result_.uncovered;
      list({value(0, i), number});
      continue;
    }
    front_.add(point);
    result_.front.add(point);
  }
}

}  // namespace plumbline
