// SPDX-License-Identifier: Apache-2.0
// SearchPlan: how a problem is walked; the tree's levels, the tables of each, what a row has to evaluate. Not
// installed.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "plumbline/search/engine.h"

namespace plumbline {

inline constexpr std::int32_t kSplit = 8;  ///< parts that a level splits a range in
inline constexpr std::int32_t kRow = 64;   ///< shapes of a row

/// A table with the dimensions cut into blocks: least and greatest value of each.
struct Coarse {
  std::vector<std::int32_t> block;  ///< by dimension of the table
  std::vector<std::size_t> sizes;
  std::vector<double> low, high;
};

/// One split of the tree.
struct Level {
  int dimension = 0;
  std::int32_t block = 1;             ///< of the dimension below this level
  std::vector<int> nodes;             ///< of constraints that depend on the dimension, in evaluation order
  std::vector<int> more;              ///< the objectives' nodes that do and are none of these
  std::vector<int> constraints;       ///< that depend on the dimension
  std::vector<const Coarse*> tables;  ///< by table: the one to look up below this level
};

/// Nodes that a root needs in a row, in order: those that depend on the row's dimension.
struct RowRoot {
  int node = -1;
  int constraint = -1;  ///< or -1: an objective
  std::vector<int> nodes;
};

/// Everything that walks share.
struct SearchPlan {
  const Problem& problem;
  SearchOptions options;
  std::vector<std::vector<std::int32_t>> cuts;
  std::vector<Level> levels;
  std::size_t slab_level = 0;  ///< levels above it make the slabs
  std::vector<std::unique_ptr<Coarse>> coarse;
  std::vector<const Coarse*> top_tables;
  std::vector<int> constraints;  ///< that count
  std::vector<int> front;        ///< nodes of the front's objectives
  std::vector<int> needed;       ///< nodes of these and of the objectives, in evaluation order
  std::vector<RowRoot> rows;
  std::vector<std::int64_t> strides;
  std::vector<Slab> slabs;
  std::vector<std::size_t> order;

  SearchPlan(const Problem& p, SearchOptions o);
  const ProgramNode& node(int at) const { return problem.program.nodes[static_cast<std::size_t>(at)]; }
  std::size_t size_of(int d) const {
    return problem.space.dimensions[static_cast<std::size_t>(d)].values.size();
  }

 private:
  void plan_levels();
  void plan_tables();
  void plan_rows();
  void make_slabs();
};

/// One thread's walk through a box.
class Walk {
 public:
  /// `known`: the best so far, which only bounds.
  Walk(const SearchPlan& plan, SlabResult& result, TopList top, Front front);
  /// Makes `box` the current one, every interval anew. `level`: the tables' level for it.
  void enter(const Slab& box, std::size_t level);
  double bound() const { return range(plan_.problem.objective.node).low; }
  /// The first constraint that no shape of the box fulfils, or -1.
  int refused_by() const;
  /// No shape of the box can be in the answer.
  bool pruned() const;
  /// Walks the box, neither refused nor pruned, down from `level`. False: stopped.
  bool search(std::size_t level);

 private:
  /// A node's intervals in the parts that a level splits a box into.
  struct Parts {
    alignas(16) std::array<double, kSplit> low{}, high{};
  };
  const Range& range(int at) const { return ranges_[depth_][static_cast<std::size_t>(at)]; }
  std::size_t place_in(const Coarse& coarse, const CostTable& table) const;
  /// `nodes` of the first `count` parts of `split` at once.
  void evaluate(const Level& split, const std::vector<int>& nodes, std::int32_t low, std::int32_t high,
                std::size_t count);
  Parts operand(const Level& split, int at) const;
  template <class Least>
  bool behind(double bound, Least least) const;
  std::int64_t first_number() const;
  void row();
  void row_node(int at, std::size_t length);

  const SearchPlan& plan_;
  SlabResult& result_;
  TopList top_;
  mutable Front front_;
  Slab box_;
  std::size_t depth_ = 0;
  std::vector<std::vector<Range>> ranges_;  ///< by depth
  std::vector<std::vector<Parts>> parts_;   ///< by depth: of the nodes that its split changes
  std::vector<std::vector<double>> rows_;   ///< by node
  std::vector<std::int64_t> row_of_;        ///< by node: the row that it was last evaluated for
  std::int64_t row_number_ = 0;
};

/// Shapes of a box.
std::int64_t volume(const Slab& box);

}  // namespace plumbline
