// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/tabulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "plumbline/base/numbers.h"
#include "plumbline/base/parallel.h"
#include "plumbline/base/statistics.h"
#include "plumbline/model/kernel_memory.h"
#include "plumbline/search/rank.h"

namespace plumbline {
namespace {

constexpr std::size_t kMaxTable = std::size_t{1} << 25;

/// A sub-shape: the fields that a source depends on, zeros elsewhere, then the vocabulary.
using SubShape = std::array<double, kShapeFields + 1>;

struct HashSubShape {
  std::size_t operator()(const SubShape& shape) const {
    std::uint64_t hash = 0;
    for (const double value : shape) hash = counter_random(hash, std::bit_cast<std::uint64_t>(value));
    return hash;
  }
};

/// A layer that every model can time: fields that a source does not depend on stand at these.
ShapeLayer probe_layer(const SubShape& shape, std::uint32_t fields) {
  ShapeLayer layer;
  layer.layer = {"", 4096, 32, 8, 128, 14336};
  for (std::size_t i = 0; i < kShapeFields; ++i) {
    if ((fields >> i & 1U) != 0) shape_fields()[i].set(layer, shape[i]);
  }
  return layer;
}

/// The dimensions of a set in the space's order, the inner one last.
std::vector<int> dimensions_of(Support support, int inner) {
  std::vector<int> out;
  for (int d = 0; d < 64; ++d) {
    if ((support >> d & 1U) != 0 && d != inner) out.push_back(d);
  }
  if ((support >> inner & 1U) != 0) out.push_back(inner);
  return out;
}

/// Fields and filters at every place of a table: `visit(place, fields, vocabulary, allowed)`.
template <class Visit>
void visit_places(const TableContext& context, const CostTable& table, Support support, Visit visit) {
  std::vector<int> roots;
  for (const int node : context.field_nodes) {
    if (node >= 0 && (context.program.nodes[static_cast<std::size_t>(node)].support & ~support) == 0)
      roots.push_back(node);
  }
  if (context.vocabulary_node >= 0) roots.push_back(context.vocabulary_node);
  std::vector<int> filters;
  for (const int node : context.filters) {
    if ((context.program.nodes[static_cast<std::size_t>(node)].support & ~support) == 0)
      filters.push_back(node);
  }
  roots.insert(roots.end(), filters.begin(), filters.end());
  const std::vector<int> cone = cone_of(context.program, roots);
  std::vector<double> values(context.program.nodes.size());
  std::vector<std::size_t> index(context.dimensions.size(), 0);
  const auto dimension = [&](int d) {
    return context.dimensions[static_cast<std::size_t>(d)].values[index[static_cast<std::size_t>(d)]];
  };
  const auto no_table = [](int) { return 0.0; };
  for (std::size_t place = 0; place < table.values.size(); ++place) {
    evaluate(context.program, cone, dimension, no_table, values);
    SubShape fields{};
    for (std::size_t i = 0; i < kShapeFields; ++i) {
      if (context.field_nodes[i] >= 0) fields[i] = values[static_cast<std::size_t>(context.field_nodes[i])];
    }
    const double vocabulary =
        context.vocabulary_node >= 0 ? values[static_cast<std::size_t>(context.vocabulary_node)] : 0;
    const bool allowed = std::all_of(filters.begin(), filters.end(),
                                     [&](int node) { return values[static_cast<std::size_t>(node)] != 0; });
    visit(place, fields, vocabulary, allowed);
    for (std::size_t i = table.dimensions.size(); i-- > 0;) {  // count on, the last dimension fastest
      const auto d = static_cast<std::size_t>(table.dimensions[i]);
      if (++index[d] < table.sizes[i]) break;
      index[d] = 0;
    }
  }
}

}  // namespace

Support support_of(const TableContext& context, const CostSource& source) {
  Support support = 0;
  for (std::size_t i = 0; i < kShapeFields; ++i) {
    if ((source.fields >> i & 1U) != 0 && context.field_nodes[i] >= 0)
      support |= context.program.nodes[static_cast<std::size_t>(context.field_nodes[i])].support;
  }
  if (source.vocabulary && context.vocabulary_node >= 0)
    support |= context.program.nodes[static_cast<std::size_t>(context.vocabulary_node)].support;
  return support;
}

Parsed<CostTable> tabulate(const TableContext& context, const TableRequest& request) {
  Support support = 0;
  for (const CostSource& source : request.sources) support |= support_of(context, source);
  CostTable table;
  table.name = request.name;
  table.dimensions = dimensions_of(support, context.inner);
  std::size_t size = 1;
  for (const int d : table.dimensions) {
    table.sizes.push_back(context.dimensions[static_cast<std::size_t>(d)].values.size());
    size *= table.sizes.back();
    if (size > kMaxTable) {
      std::string names;
      for (const int each : table.dimensions)
        names += fmt::format(" {}", context.dimensions[static_cast<std::size_t>(each)].name);
      return failed<CostTable>(
          diagnose("search-too-large",
                   fmt::format("{} depends on{}: more than {} combinations to tabulate",
                               request.sources[0].name, names, format_grouped(kMaxTable)),
                   context.dimensions[static_cast<std::size_t>(table.dimensions.front())].at));
    }
  }
  table.values.assign(size, 0.0);
  std::vector<std::uint32_t> which(size);  // of the distinct sub-shapes
  for (const CostSource& source : request.sources) {
    table.kernels.push_back(source.name);
    std::unordered_map<SubShape, std::uint32_t, HashSubShape> known;
    std::vector<SubShape> shapes;
    visit_places(
        context, table, support, [&](std::size_t place, SubShape fields, double vocabulary, bool allowed) {
          if (!allowed || table.values[place] == kNoShape) {
            table.values[place] = kNoShape;
            return;
          }
          for (std::size_t i = 0; i < kShapeFields; ++i) {
            if ((source.fields >> i & 1U) == 0) fields[i] = 0;
          }
          fields[kShapeFields] = source.vocabulary ? vocabulary : 0;
          const auto [at, fresh] = known.try_emplace(fields, static_cast<std::uint32_t>(shapes.size()));
          if (fresh) shapes.push_back(fields);
          which[place] = at->second;
        });
    std::vector<double> times(shapes.size());
    for_ranges(shapes.size(), context.threads, [&](std::size_t begin, std::size_t end) {
      KernelMemory memory;
      for (std::size_t i = begin; i < end; ++i) {
        times[i] = source.value(probe_layer(shapes[i], source.fields),
                                static_cast<std::int64_t>(shapes[i][kShapeFields]), memory);
      }
    });
    for (std::size_t place = 0; place < size; ++place) {
      if (table.values[place] != kNoShape) table.values[place] += times[which[place]];
    }
    table.sub_shapes += static_cast<std::int64_t>(shapes.size());
  }
  return {std::move(table), {}};
}

std::vector<std::vector<CostSource>> group_sources(const TableContext& context,
                                                   std::vector<CostSource> sources) {
  struct Group {
    Support support;
    std::vector<CostSource> sources;
  };
  std::vector<Group> groups;
  for (CostSource& source : sources) {
    const Support support = support_of(context, source);
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const Group& group) { return group.support == support; });
    if (same != groups.end()) {
      same->sources.push_back(std::move(source));
    } else {
      groups.push_back({support, {std::move(source)}});
    }
  }
  // Fewer dimensions first; each goes to the smallest group that holds its dimensions.
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return std::popcount(a.support) < std::popcount(b.support);
  });
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::size_t j = i + 1; j < groups.size(); ++j) {
      if ((groups[i].support & ~groups[j].support) != 0) continue;
      groups[j].sources.insert(groups[j].sources.end(), groups[i].sources.begin(), groups[i].sources.end());
      groups[i].sources.clear();
      break;
    }
  }
  std::vector<std::vector<CostSource>> out;
  for (Group& group : groups) {
    if (!group.sources.empty()) out.push_back(std::move(group.sources));
  }
  return out;
}

}  // namespace plumbline
