// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/booster.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plumbline/base/statistics.h"

namespace plumbline {
namespace {

constexpr std::size_t kBins = kMaxCuts + 1;

struct Cell {
  double gradient = 0;
  double weight = 0;
};
using Histogram = std::vector<Cell>;  // drawn columns × kBins

struct Split {
  double gain = 0;
  std::uint8_t feature = 0;
  std::uint8_t bin = 0;
};

/// A leaf that may still be split: its rows are order[begin, end).
struct Leaf {
  std::size_t begin = 0, end = 0;
  Cell total;
  Histogram histogram;
  Split best;
  int parent = -1;  ///< node that points here, and by which side
  bool is_right = false;
};

struct Grower {
  const std::vector<std::uint8_t>& bins;  ///< rows × columns
  std::size_t columns;
  const BoostOptions& options;
  std::span<const double> weight;
  std::vector<double>& gradient;       ///< what is left to explain, times the weight
  std::vector<std::uint32_t> order{};  ///< drawn rows, grouped by leaf
  std::vector<std::uint8_t> drawn{};   ///< drawn columns
  std::vector<std::uint32_t> scratch{};
  std::vector<Histogram> spare{};  ///< of leaves that are no more: a histogram is large, so it is used again
  std::vector<std::size_t> bin_counts{};

  double weight_of(std::size_t row) const { return weight.empty() ? 1.0 : weight[row]; }

  void fill(Leaf& leaf) {
    if (!spare.empty()) {
      leaf.histogram = std::move(spare.back());
      spare.pop_back();
    }
    leaf.histogram.assign(drawn.size() * kBins, {});
    for (std::size_t i = leaf.begin; i < leaf.end; ++i) {
      const std::size_t row = order[i];
      const std::uint8_t* b = bins.data() + row * columns;
      const double g = gradient[row];
      const double w = weight_of(row);
      for (std::size_t c = 0; c < drawn.size(); ++c) {
        Cell& cell = leaf.histogram[c * kBins + b[drawn[c]]];
        cell.gradient += g;
        cell.weight += w;
      }
    }
  }

  double score(const Cell& cell) const {
    return cell.gradient * cell.gradient / (cell.weight + options.ridge);
  }

  void find_best(Leaf& leaf) const {
    leaf.best = {};
    const double whole = score(leaf.total);
    for (std::size_t c = 0; c < drawn.size(); ++c) {
      Cell left;
      const Cell* cells = leaf.histogram.data() + c * kBins;
      for (std::size_t b = 0; b + 1 < bin_counts[drawn[c]]; ++b) {
        if (cells[b].weight == 0) continue;
        left.gradient += cells[b].gradient;
        left.weight += cells[b].weight;
        const Cell right{leaf.total.gradient - left.gradient, leaf.total.weight - left.weight};
        if (left.weight < options.min_weight) continue;
        if (right.weight < options.min_weight) break;
        const double gain = score(left) + score(right) - whole;
        if (gain > leaf.best.gain + 1e-12) {
          leaf.best = {gain, drawn[c], static_cast<std::uint8_t>(b)};
        }
      }
    }
  }

  /// Rows of `leaf` that go left first, keeping their order. Returns where the right ones begin.
  std::size_t partition(const Leaf& leaf) {
    scratch.clear();
    std::size_t write = leaf.begin;
    for (std::size_t i = leaf.begin; i < leaf.end; ++i) {
      const std::uint32_t row = order[i];
      if (bins[row * columns + leaf.best.feature] > leaf.best.bin) {
        scratch.push_back(row);
      } else {
        order[write++] = row;
      }
    }
    std::copy(scratch.begin(), scratch.end(), order.begin() + static_cast<std::ptrdiff_t>(write));
    return write;
  }

  void sum(Leaf& leaf) const {
    leaf.total = {};
    for (std::size_t i = leaf.begin; i < leaf.end; ++i) {
      leaf.total.gradient += gradient[order[i]];
      leaf.total.weight += weight_of(order[i]);
    }
  }

  /// The children of `leaf`: the smaller one is counted, the larger one is what remains.
  std::pair<Leaf, Leaf> split(Leaf& leaf, int node) {
    const std::size_t middle = partition(leaf);
    Leaf left{leaf.begin, middle, {}, {}, {}, node, false};
    Leaf right{middle, leaf.end, {}, {}, {}, node, true};
    sum(left);
    sum(right);
    Leaf& small = left.end - left.begin <= right.end - right.begin ? left : right;
    Leaf& large = &small == &left ? right : left;
    fill(small);
    large.histogram = std::move(leaf.histogram);
    for (std::size_t i = 0; i < large.histogram.size(); ++i) {
      large.histogram[i].gradient -= small.histogram[i].gradient;
      large.histogram[i].weight -= small.histogram[i].weight;
      if (std::abs(large.histogram[i].weight) < 1e-9) large.histogram[i] = {};
    }
    find_best(left);
    find_best(right);
    return {std::move(left), std::move(right)};
  }
};

struct Tree {
  std::vector<ForestNode> nodes;
  std::vector<double> leaves;
};

Tree grow(Grower& grower) {
  std::vector<Leaf> open(1);
  open[0].end = grower.order.size();
  grower.sum(open[0]);
  grower.fill(open[0]);
  grower.find_best(open[0]);
  Tree tree;
  while (static_cast<int>(open.size()) < grower.options.leaves) {
    std::size_t pick = 0;
    for (std::size_t i = 1; i < open.size(); ++i) {
      if (open[i].best.gain > open[pick].best.gain) pick = i;
    }
    if (open[pick].best.gain <= 0) break;
    const auto node = static_cast<int>(tree.nodes.size());
    tree.nodes.push_back({open[pick].best.feature, open[pick].best.bin, 0, 0});
    if (open[pick].parent >= 0) {
      ForestNode& parent = tree.nodes[static_cast<std::size_t>(open[pick].parent)];
      (open[pick].is_right ? parent.right : parent.left) = static_cast<std::int8_t>(node);
    }
    auto [left, right] = grower.split(open[pick], node);
    open[pick] = std::move(left);
    open.push_back(std::move(right));
  }
  for (Leaf& leaf : open) grower.spare.push_back(std::move(leaf.histogram));
  for (std::size_t i = 0; i < open.size(); ++i) {
    tree.leaves.push_back(grower.options.rate * open[i].total.gradient /
                          (open[i].total.weight + grower.options.ridge));
    if (open[i].parent < 0) continue;
    ForestNode& parent = tree.nodes[static_cast<std::size_t>(open[i].parent)];
    (open[i].is_right ? parent.right : parent.left) = static_cast<std::int8_t>(~static_cast<int>(i));
  }
  return tree;
}

/// Thresholds between distinct values, at even ranks when there are too many.
std::vector<float> choose_cuts(std::vector<float> values) {
  std::sort(values.begin(), values.end());
  std::vector<float> distinct = values;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<float> cuts;
  if (distinct.size() <= kMaxCuts) {
    for (std::size_t i = 0; i + 1 < distinct.size(); ++i)
      cuts.push_back(0.5F * distinct[i] + 0.5F * distinct[i + 1]);
  } else {
    for (std::size_t i = 1; i <= kMaxCuts; ++i) {
      const std::size_t rank = i * (values.size() - 1) / (kMaxCuts + 1);
      const auto next = std::upper_bound(distinct.begin(), distinct.end(), values[rank]);
      if (next != distinct.end()) cuts.push_back(0.5F * values[rank] + 0.5F * *next);
    }
  }
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

/// `share` of 0..count−1, ascending, drawn without replacement.
template <class T>
std::vector<T> draw(std::size_t count, double share, std::uint64_t seed, std::uint64_t stream) {
  const auto want =
      std::max<std::size_t>(1, static_cast<std::size_t>(std::llround(share * static_cast<double>(count))));
  std::vector<T> all(count);
  std::iota(all.begin(), all.end(), T{0});
  for (std::size_t i = 0; i < want && i + 1 < count; ++i) {
    const std::uint64_t r = counter_random(seed, stream * 0x100000000ULL + i);
    std::swap(all[i], all[i + static_cast<std::size_t>(r % (count - i))]);
  }
  std::vector<bool> taken(count, false);
  for (std::size_t i = 0; i < std::min(want, count); ++i) taken[all[i]] = true;
  all.clear();
  for (std::size_t i = 0; i < count; ++i) {
    if (taken[i]) all.push_back(static_cast<T>(i));
  }
  return all;
}

void add_tree(Forest& forest, const Tree& tree, const std::vector<double>& leaves,
              std::vector<double>& all_leaves) {
  forest.nodes.insert(forest.nodes.end(), tree.nodes.begin(), tree.nodes.end());
  forest.node_begin.push_back(static_cast<std::uint32_t>(forest.nodes.size()));
  all_leaves.insert(all_leaves.end(), leaves.begin(), leaves.end());
}

/// Leaf values to 16 bits; the rounding is far below the noise of any measurement.
void store_leaves(Forest& forest, const std::vector<double>& leaves) {
  double largest = 0;
  for (const double v : leaves) largest = std::max(largest, std::abs(v));
  forest.scale = largest > 0 ? largest / 32767.0 : 0;
  for (const double v : leaves) {
    forest.leaves.push_back(static_cast<std::int16_t>(largest > 0 ? std::lround(v / forest.scale) : 0));
  }
}

std::size_t find_leaf(const Tree& tree, const std::uint8_t* row) {
  if (tree.nodes.empty()) return 0;
  int i = 0;
  while (i >= 0) {
    const ForestNode& node = tree.nodes[static_cast<std::size_t>(i)];
    i = row[node.feature] > node.bin ? node.right : node.left;
  }
  return static_cast<std::size_t>(~i);
}

struct Problem {
  const std::vector<std::uint8_t>& bins;
  std::span<const double> target, weight;
};

/// How hard a row pulls at its leaf. A stray reading (twice its neighbours' time) pulls no harder than any
/// other row that is off; and what is predicted too long counts more than what is too short, as it does in
/// per cent.
double pull_of(double left, double soft) {
  if (soft <= 0) return left;
  constexpr double kTilt = 0.7;
  return std::clamp(left, -soft, soft) * std::exp(-kTilt * std::clamp(left, -1.0, 1.0));
}

/// One forest's trees appended to `forest`, their leaves to `leaves`.
void boost_one(const Problem& problem, std::size_t columns, const BoostOptions& options, Forest& forest,
               std::vector<double>& leaves) {
  const std::size_t rows = problem.target.size();
  std::vector<double> left(rows);
  for (std::size_t i = 0; i < rows; ++i) left[i] = problem.target[i] - forest.base;
  std::vector<double> gradient(rows);
  Grower grower{problem.bins, columns, options, problem.weight, gradient};
  for (std::size_t f = 0; f < columns; ++f) {
    grower.bin_counts.push_back(forest.cut_begin[f + 1] - forest.cut_begin[f] + 1);
  }
  for (int t = 0; t < options.trees; ++t) {
    for (std::size_t i = 0; i < rows; ++i) gradient[i] = pull_of(left[i], options.soft) * grower.weight_of(i);
    const auto stream = static_cast<std::uint64_t>(t);
    grower.order = draw<std::uint32_t>(rows, options.row_share, options.seed, 2 * stream);
    grower.drawn = draw<std::uint8_t>(columns, options.column_share, options.seed, 2 * stream + 1);
    const Tree tree = grow(grower);
    for (std::size_t i = 0; i < rows; ++i)
      left[i] -= tree.leaves[find_leaf(tree, problem.bins.data() + i * columns)];
    add_tree(forest, tree, tree.leaves, leaves);
  }
}

}  // namespace

Forest boost(const FeatureTable& table, std::span<const double> target, std::span<const double> weight,
             const BoostOptions& options) {
  Forest forest;
  const std::size_t rows = table.rows();
  if (rows == 0) return forest;
  if (options.like != nullptr) {
    forest.cut_begin = options.like->cut_begin;
    forest.cuts = options.like->cuts;
  } else {
    forest.cut_begin.push_back(0);
  }
  for (std::size_t f = 0; options.like == nullptr && f < table.columns; ++f) {
    std::vector<float> column(rows);
    for (std::size_t i = 0; i < rows; ++i) column[i] = table.values[i * table.columns + f];
    const std::vector<float> cuts = choose_cuts(std::move(column));
    forest.cuts.insert(forest.cuts.end(), cuts.begin(), cuts.end());
    forest.cut_begin.push_back(static_cast<std::uint32_t>(forest.cuts.size()));
  }
  forest.node_begin.push_back(0);
  std::vector<std::uint8_t> bins(rows * table.columns);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t f = 0; f < table.columns; ++f) {
      bins[i * table.columns + f] = quantise(forest, f, table.values[i * table.columns + f]);
    }
  }
  double sum = 0;
  double total = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const double w = weight.empty() ? 1.0 : weight[i];
    sum += w * target[i];
    total += w;
  }
  forest.base = sum / total;
  std::vector<double> leaves;
  for (int model = 0; model < options.models; ++model) {
    BoostOptions one = options;
    one.seed = counter_random(options.seed, static_cast<std::uint64_t>(model));
    boost_one({bins, target, weight}, table.columns, one, forest, leaves);
  }
  for (double& leaf : leaves) leaf /= std::max(options.models, 1);
  store_leaves(forest, leaves);
  return forest;
}

Forest sum_of(const Forest& a, const Forest& b) {
  Forest out;
  out.cut_begin = a.cut_begin;
  out.cuts = a.cuts;
  out.base = a.base + b.base;
  out.node_begin.push_back(0);
  std::vector<double> leaves;
  for (const Forest* one : {&a, &b}) {
    const auto before = static_cast<std::uint32_t>(out.nodes.size());
    out.nodes.insert(out.nodes.end(), one->nodes.begin(), one->nodes.end());
    for (std::size_t t = 0; t < one->trees(); ++t) out.node_begin.push_back(before + one->node_begin[t + 1]);
    for (const std::int16_t leaf : one->leaves) leaves.push_back(one->scale * leaf);
  }
  store_leaves(out, leaves);
  return out;
}

void drop_unused_cuts(Forest& a, Forest& b) {
  std::vector<std::uint32_t> place(a.cuts.size(), 0);  // first 1 where asked for, then where it moves to
  for (const Forest* forest : {&a, &b}) {
    for (const ForestNode& node : forest->nodes) place[a.cut_begin[node.feature] + node.bin] = 1;
  }
  std::vector<float> cuts;
  std::vector<std::uint32_t> begin{0};
  for (std::size_t f = 0; f < a.features(); ++f) {
    for (std::uint32_t i = a.cut_begin[f]; i < a.cut_begin[f + 1]; ++i) {
      if (place[i] == 0) continue;
      place[i] = static_cast<std::uint32_t>(cuts.size()) - begin.back();
      cuts.push_back(a.cuts[i]);
    }
    begin.push_back(static_cast<std::uint32_t>(cuts.size()));
  }
  for (Forest* forest : {&a, &b}) {
    for (ForestNode& node : forest->nodes) {
      node.bin = static_cast<std::uint8_t>(place[forest->cut_begin[node.feature] + node.bin]);
    }
    forest->cuts = cuts;
    forest->cut_begin = begin;
  }
}

}  // namespace plumbline
