// SPDX-License-Identifier: Apache-2.0
// Evaluating a forest. Leaves are summed as integers, so neither the order of the trees nor the way they are
// walked can change a result.
#include <algorithm>
#include <limits>
#include <utility>

#include "plumbline/model/forest.h"

namespace plumbline {
namespace {

constexpr std::size_t kSide = ForestWalk::kTreesSideBySide;
constexpr std::size_t kBlock = ForestWalk::kBlock;
using Block = std::array<float, kBlock>;

/// How many of the block are below `value`. A fixed count, so that compilers turn it into vector compares.
std::uint32_t count_below(const Block& block, float value) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < kBlock; ++i) count += block[i] < value ? 1U : 0U;
  return count;
}

void prepare_thresholds(const Forest& forest, ForestWalk& walk) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  static_assert(kMaxCuts < kBlock * kBlock, "one block of tops must do, and its last top stay infinite");
  for (std::size_t f = 0; f < forest.features(); ++f) {
    walk.block_begin.push_back(static_cast<std::uint32_t>(walk.blocks.size()));
    Block& tops = walk.tops.emplace_back();
    tops.fill(infinity);
    const std::uint32_t begin = forest.cut_begin[f];
    const std::uint32_t count = forest.cut_begin[f + 1] - begin;
    for (std::uint32_t from = 0; from <= count;
         from += kBlock) {  // one block too many where the last is full
      Block& block = walk.blocks.emplace_back();
      block.fill(infinity);
      for (std::uint32_t i = from; i < std::min<std::uint32_t>(count, from + kBlock); ++i) {
        block[i - from] = forest.cuts[begin + i];
      }
      tops[from / kBlock] = block.back();
    }
  }
}

/// A tree that waits for its place in the walk: which one, and its depth.
struct Placed {
  std::uint32_t tree, depth;
};

std::uint32_t depth_of(std::span<const ForestNode> nodes) {
  std::array<std::uint8_t, 2 * kMaxLeaves> depth;  // leaves first, so that they need no branch
  depth[kMaxLeaves] = 0;
  std::uint32_t deepest = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto below = static_cast<std::uint8_t>(depth[kMaxLeaves + i] + 1);
    depth[static_cast<std::size_t>(kMaxLeaves + nodes[i].left)] = below;
    depth[static_cast<std::size_t>(kMaxLeaves + nodes[i].right)] = below;
    deepest = std::max<std::uint32_t>(deepest, below);
  }
  return deepest;
}

std::vector<Placed> by_depth(const Forest& forest) {
  std::vector<Placed> order(forest.trees());
  for (std::uint32_t t = 0; t < order.size(); ++t) {
    order[t] = {t, depth_of({forest.nodes.data() + forest.node_begin[t],
                             forest.node_begin[t + 1] - forest.node_begin[t]})};
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Placed& a, const Placed& b) { return a.depth < b.depth; });
  return order;
}

/// A node's word: see ForestWalk. A row's bin is above the node's where bin + (255 − node's bin) has a carry.
constexpr std::uint32_t word_of(std::uint32_t left, std::uint32_t bin, std::uint32_t feature) {
  return left << 16 | (0xFF - bin) << 8 | feature;
}

/// A leaf leads to itself: no row's bin is above 255.
constexpr std::uint32_t leaf_at(std::uint32_t place) { return word_of(place, 0xFF, 0); }

/// A node of a tree (or leaf, below 0) that waits to be written at a place of its group.
struct Pending {
  std::uint32_t tree;
  int node;
  std::uint32_t place;
};

/// Writes one group of trees.
class GroupWriter {
 public:
  GroupWriter(const Forest& forest, ForestWalk& walk, std::uint32_t begin)
      : forest_(forest), nodes_(walk.nodes.data() + begin), values_(walk.values.data() + begin) {
    queue_.reserve(kSide * kMaxLeaves);
  }

  /// The roots, then three levels below each, then three levels below each node reached, and so on: a walk
  /// finds its next steps in the cache line that it has just read. Returns how many places it filled.
  std::uint32_t write(std::span<const Placed> trees) {
    for (std::uint32_t j = 0; j < kSide; ++j) {
      nodes_[j] = leaf_at(j);  // stays where the last group has fewer trees: a leaf of value 0
      if (j >= trees.size()) continue;
      const std::uint32_t tree = trees[j].tree;
      queue_.push_back({tree, forest_.node_begin[tree] == forest_.node_begin[tree + 1] ? ~0 : 0, j});
    }
    for (std::size_t i = 0; i < queue_.size(); ++i) write_below(Pending(queue_[i]), kLevelsTogether);
    return next_;
  }

 private:
  static constexpr int kLevelsTogether = 3;

  void write_below(const Pending& at, int levels) {
    if (levels == 0) {
      queue_.push_back(at);
      return;
    }
    const std::uint32_t first = forest_.node_begin[at.tree];
    if (at.node < 0) {
      nodes_[at.place] = leaf_at(at.place);
      values_[at.place] = forest_.leaves[first + at.tree + static_cast<std::uint32_t>(~at.node)];
      return;
    }
    const ForestNode& node = forest_.nodes[first + static_cast<std::uint32_t>(at.node)];
    const std::uint32_t left = next_;
    next_ += 2;
    nodes_[at.place] = word_of(left, node.bin, node.feature);
    write_below({at.tree, node.left, left}, levels - 1);
    write_below({at.tree, node.right, left + 1}, levels - 1);
  }

  const Forest& forest_;
  std::uint32_t* nodes_;
  std::int16_t* values_;
  std::uint32_t next_ = kSide;
  std::vector<Pending> queue_;
};

/// One step in each of the trees at `at`, written out tree by tree, so that the places stay in registers. The
/// sum's carry out of the threshold's byte is the choice of the right child, which lies after the left one.
template <std::size_t... Tree>
void step(const std::uint32_t* nodes, const QuantisedRow& row, std::array<std::uint32_t, kSide>& at,
          std::index_sequence<Tree...>) {
  const auto one = [&](std::uint32_t& place) {
    const std::uint32_t node = nodes[place];
    place = (node + row[node & 0xFF]) >> 16;
  };
  (one(at[Tree]), ...);
}

std::int64_t walk_group(const ForestWalk& walk, const ForestWalk::Group& group, const QuantisedRow& row) {
  const std::uint32_t* nodes = walk.nodes.data() + group.begin;
  std::array<std::uint32_t, kSide> at{};
  for (std::uint32_t j = 0; j < kSide; ++j) at[j] = j;
  for (std::uint32_t i = 0; i < group.steps; ++i) step(nodes, row, at, std::make_index_sequence<kSide>());
  const std::int16_t* values = walk.values.data() + group.begin;
  std::int64_t sum = 0;
  for (const std::uint32_t place : at) sum += values[place];
  return sum;
}

std::int64_t walk_tree(const Forest& forest, std::size_t tree, const QuantisedRow& row) {
  const std::size_t begin = forest.node_begin[tree];
  int at = begin == forest.node_begin[tree + 1] ? ~0 : 0;
  while (at >= 0) {
    const ForestNode& node = forest.nodes[begin + static_cast<std::size_t>(at)];
    at = row[node.feature] >> 8 > node.bin ? node.right : node.left;
  }
  return forest.leaves[begin + tree + static_cast<std::size_t>(~at)];
}

ForestWalk lay_out(const Forest& forest, bool thresholds) {
  ForestWalk walk;
  if (thresholds) prepare_thresholds(forest, walk);
  const std::vector<Placed> order = by_depth(forest);
  const std::size_t groups = (order.size() + kSide - 1) / kSide;
  walk.nodes.resize(2 * forest.nodes.size() + groups * kSide);
  walk.values.resize(walk.nodes.size());
  std::uint32_t begin = 0;
  for (std::size_t first = 0; first < order.size(); first += kSide) {
    const auto trees = std::span(order).subspan(first, std::min(kSide, order.size() - first));
    walk.groups.push_back({begin, trees.back().depth});
    begin += GroupWriter(forest, walk, begin).write(trees);
  }
  return walk;
}

/// The layout, or nullptr while it is not worth making.
const ForestWalk* walk_of(const Forest& forest) {
  LazyWalk* const lazy = forest.walk.get();
  if (lazy == nullptr) return nullptr;
  if (lazy->ready.load(std::memory_order_acquire)) return &lazy->walk;
  if (lazy->asked.fetch_add(1, std::memory_order_relaxed) < LazyWalk::kAskedBefore) return nullptr;
  prepare_now(forest);
  return &lazy->walk;
}

}  // namespace

std::uint8_t quantise(const Forest& forest, std::size_t feature, float value) {
  const float* first = forest.cuts.data() + forest.cut_begin[feature];
  const float* last = forest.cuts.data() + forest.cut_begin[feature + 1];
  return static_cast<std::uint8_t>(std::lower_bound(first, last, value) - first);
}

void quantise_row(const Forest& forest, std::span<const float> row, QuantisedRow& out) {
  const LazyWalk* const lazy = forest.walk.get();
  if (lazy == nullptr || !lazy->ready.load(std::memory_order_acquire) || lazy->walk.tops.empty()) {
    for (std::size_t f = 0; f < forest.features(); ++f)
      out[f] = std::uint32_t{quantise(forest, f, row[f])} << 8;
    return;
  }
  const ForestWalk& walk = lazy->walk;
  for (std::size_t f = 0; f < walk.tops.size(); ++f) {
    const std::uint32_t block = count_below(walk.tops[f], row[f]);
    const std::uint32_t rest = count_below(walk.blocks[walk.block_begin[f] + block], row[f]);
    out[f] = (block * std::uint32_t{kBlock} + rest) << 8;
  }
}

bool same_thresholds(const Forest& a, const Forest& b) {
  return a.cut_begin == b.cut_begin && a.cuts == b.cuts;
}

double evaluate(const Forest& forest, const QuantisedRow& row) {
  std::int64_t sum = 0;
  const ForestWalk* const walk = walk_of(forest);
  if (walk == nullptr) {
    for (std::size_t t = 0; t < forest.trees(); ++t) sum += walk_tree(forest, t, row);
  } else {
    for (const ForestWalk::Group& group : walk->groups) sum += walk_group(*walk, group, row);
  }
  return forest.base + static_cast<double>(sum) * forest.scale;
}

double evaluate(const Forest& forest, std::span<const float> row) {
  QuantisedRow quantised{};
  quantise_row(forest, row, quantised);
  return evaluate(forest, quantised);
}

void prepare(Forest& forest, bool thresholds) { forest.walk = std::make_shared<LazyWalk>(thresholds); }

void prepare_now(const Forest& forest) {
  LazyWalk& lazy = *forest.walk;
  std::call_once(lazy.once, [&] {
    lazy.walk = lay_out(forest, lazy.thresholds);
    lazy.ready.store(true, std::memory_order_release);
  });
}

}  // namespace plumbline
