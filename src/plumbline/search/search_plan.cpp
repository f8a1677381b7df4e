// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/search_plan.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

namespace plumbline {
namespace {

constexpr std::int64_t kMostSlabs = 4096;

std::size_t blocks_of(std::size_t size, std::int32_t block) {
  return (size + static_cast<std::size_t>(block) - 1) / static_cast<std::size_t>(block);
}

/// The table `fine` with dimension `at` (of the table) cut into larger blocks.
Coarse coarser(const Coarse& fine, std::size_t at, std::size_t full_size, std::int32_t block) {
  Coarse out;
  out.block = fine.block;
  out.block[at] = block;
  out.sizes = fine.sizes;
  out.sizes[at] = blocks_of(full_size, block);
  const auto ratio = static_cast<std::size_t>(block / fine.block[at]);
  std::size_t inner = 1, outer = 1;
  for (std::size_t i = at + 1; i < fine.sizes.size(); ++i) inner *= fine.sizes[i];
  for (std::size_t i = 0; i < at; ++i) outer *= fine.sizes[i];
  out.low.assign(outer * out.sizes[at] * inner, std::numeric_limits<double>::infinity());
  out.high.assign(out.low.size(), -std::numeric_limits<double>::infinity());
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t b = 0; b < fine.sizes[at]; ++b) {
      const std::size_t from = (o * fine.sizes[at] + b) * inner;
      const std::size_t to = (o * out.sizes[at] + b / ratio) * inner;
      for (std::size_t i = 0; i < inner; ++i) {
        out.low[to + i] = std::min(out.low[to + i], fine.low[from + i]);
        out.high[to + i] = std::max(out.high[to + i], fine.high[from + i]);
      }
    }
  }
  return out;
}

}  // namespace

SearchPlan::SearchPlan(const Problem& p, SearchOptions o) : problem(p), options(std::move(o)) {
  for (std::size_t c = 0; c < problem.constraints.size(); ++c) {
    if (options.use.empty() || options.use[c] != 0) constraints.push_back(static_cast<int>(c));
  }
  front = options.front;
  if (front.empty()) {
    for (const ProblemRoot& each : problem.front) front.push_back(each.node);
  }
  plan_levels();
  plan_tables();
  plan_rows();
  make_slabs();
}

std::int64_t volume(const Slab& box) {
  std::int64_t product = 1;
  for (std::size_t d = 0; d < box.low.size(); ++d) product *= box.high[d] - box.low[d];
  return product;
}

void SearchPlan::plan_levels() {
  const std::size_t count = problem.space.dimensions.size();
  std::vector<std::int32_t> block(count);
  const auto goal = [&](std::size_t d) { return static_cast<int>(d) == problem.inner ? kRow : 1; };
  for (std::size_t d = 0; d < count; ++d) {
    block[d] = goal(d);
    while (static_cast<std::size_t>(block[d]) < size_of(static_cast<int>(d))) block[d] *= kSplit;
  }
  while (true) {
    // The dimension that is coarsest against what it has to become is split next.
    std::size_t next = count;
    double most = 1;
    for (std::size_t d = 0; d < count; ++d) {
      const double share = static_cast<double>(block[d]) / goal(d);
      if (share > most) {
        most = share;
        next = d;
      }
    }
    if (next == count) break;
    block[next] /= kSplit;
    levels.push_back({static_cast<int>(next), block[next], {}, {}, {}, {}});
  }
  std::vector<int> roots;
  for (const int c : constraints) roots.push_back(problem.constraints[static_cast<std::size_t>(c)].node);
  const std::vector<int> first = cone_of(problem.program, roots);
  roots.push_back(problem.objective.node);
  roots.insert(roots.end(), front.begin(), front.end());
  needed = cone_of(problem.program, roots);
  for (Level& level : levels) {
    const auto depends = [&](int at) { return (node(at).support >> level.dimension & 1U) != 0; };
    std::copy_if(first.begin(), first.end(), std::back_inserter(level.nodes), depends);
    for (const int at : needed) {
      if (depends(at) && !std::binary_search(first.begin(), first.end(), at)) level.more.push_back(at);
    }
    for (const int c : constraints) {
      if (depends(problem.constraints[static_cast<std::size_t>(c)].node)) level.constraints.push_back(c);
    }
  }
  strides.assign(count, 1);
  for (std::size_t d = count; d-- > 1;)
    strides[d - 1] = strides[d] * static_cast<std::int64_t>(size_of(static_cast<int>(d)));
}

void SearchPlan::plan_tables() {
  for (Level& level : levels) level.tables.assign(problem.tables.size(), nullptr);
  top_tables.assign(problem.tables.size(), nullptr);
  for (std::size_t t = 0; t < problem.tables.size(); ++t) {
    const CostTable& table = problem.tables[t];
    Coarse fine{std::vector<std::int32_t>(table.dimensions.size(), 1), table.sizes, table.values,
                table.values};
    // The row's dimension ends in rows and not in single values.
    const auto& dims = table.dimensions;
    const Coarse* below = nullptr;
    if (!dims.empty() && dims.back() == problem.inner) {
      coarse.push_back(std::make_unique<Coarse>(coarser(fine, dims.size() - 1, table.sizes.back(), kRow)));
    } else {
      coarse.push_back(std::make_unique<Coarse>(std::move(fine)));
    }
    below = coarse.back().get();
    for (std::size_t l = levels.size(); l-- > 0;) {
      levels[l].tables[t] = below;
      const auto at = std::find(dims.begin(), dims.end(), levels[l].dimension);
      if (at == dims.end()) continue;
      const auto place = static_cast<std::size_t>(at - dims.begin());
      coarse.push_back(
          std::make_unique<Coarse>(coarser(*below, place, table.sizes[place], below->block[place] * kSplit)));
      below = coarse.back().get();
    }
    top_tables[t] = below;
  }
}

void SearchPlan::plan_rows() {
  const Support inner = Support{1} << problem.inner;
  const auto add = [&](int root, int constraint) {
    RowRoot row{root, constraint, {}};
    const std::array<int, 1> roots{root};
    for (const int each : cone_of(problem.program, roots)) {
      if ((node(each).support & inner) != 0) row.nodes.push_back(each);
    }
    rows.push_back(std::move(row));
  };
  for (const int c : constraints) add(problem.constraints[static_cast<std::size_t>(c)].node, c);
  add(problem.objective.node, -1);
  for (const int each : front) add(each, -1);
}

void SearchPlan::make_slabs() {
  const std::size_t count = problem.space.dimensions.size();
  std::vector<std::int32_t> block(count);
  for (std::size_t d = 0; d < count; ++d) block[d] = static_cast<std::int32_t>(size_of(static_cast<int>(d)));
  std::int64_t cells = 1;
  for (; slab_level < levels.size(); ++slab_level) {
    const auto d = static_cast<std::size_t>(levels[slab_level].dimension);
    const auto before = static_cast<std::int64_t>(blocks_of(size_of(static_cast<int>(d)), block[d]));
    const auto after =
        static_cast<std::int64_t>(blocks_of(size_of(static_cast<int>(d)), levels[slab_level].block));
    if (cells / before * after > kMostSlabs) break;
    cells = cells / before * after;
    block[d] = levels[slab_level].block;
  }
  for (std::size_t d = 0; d < count; ++d) {
    std::vector<std::int32_t> cut;
    const auto size = static_cast<std::int32_t>(size_of(static_cast<int>(d)));
    for (std::int32_t at = 0; at < size; at += block[d]) cut.push_back(at);
    cut.push_back(size);
    cuts.push_back(std::move(cut));
  }
  SlabResult nothing;
  Walk walk(*this, nothing, {}, {});
  std::vector<std::size_t> cell(count, 0);
  for (std::int64_t i = 0; i < cells; ++i) {
    Slab slab;
    for (std::size_t d = 0; d < count; ++d) {
      slab.low.push_back(cuts[d][cell[d]]);
      slab.high.push_back(cuts[d][cell[d] + 1]);
    }
    walk.enter(slab, slab_level);
    slab.bound = walk.bound();
    slab.refused_by = walk.refused_by();
    slabs.push_back(std::move(slab));
    for (std::size_t d = count; d-- > 0;) {
      if (++cell[d] + 1 < cuts[d].size()) break;
      cell[d] = 0;
    }
  }
  order.resize(slabs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return slabs[a].bound < slabs[b].bound; });
}

}  // namespace plumbline
