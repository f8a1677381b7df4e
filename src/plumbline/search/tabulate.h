// SPDX-License-Identifier: Apache-2.0
// Kernel times per distinct sub-shape, and their tables. Not installed.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/search/cost_table.h"
#include "plumbline/search/problem.h"
#include "plumbline/search/quantities.h"

namespace plumbline {

/// One kind of value to be tabulated: a kernel's time, say.
struct CostSource {
  std::string name;          ///< the kernel's
  std::uint32_t fields = 0;  ///< bits of shape_fields() that it depends on
  bool vocabulary = false;   ///< and on vocab_size
  std::function<double(const ShapeLayer&, std::int64_t vocab_size, KernelMemory&)> value;
};

/// A table with those sources' sum at every shape of its dimensions. `space_index` must be compiled: fields
/// and `filters` (truths whose dimensions the table has; shapes that break one are kNoShape).
/// Error: search-too-large when the table would have more than 2^25 values.
struct TableRequest {
  std::string name;
  std::vector<CostSource> sources;
};

/// What tabulate() needs of a problem being built.
struct TableContext {
  const Program& program;
  const std::vector<SpaceDimension>& dimensions;
  std::array<int, kShapeFields> field_nodes;
  int vocabulary_node;
  std::vector<int> filters;  ///< nodes of truths, none of which needs a table
  int inner;
  unsigned threads;
};

/// Dimensions that a source depends on.
Support support_of(const TableContext& context, const CostSource& source);

Parsed<CostTable> tabulate(const TableContext& context, const TableRequest& request);

/// Groups sources so that few tables are needed: those of the same dimensions, and those of fewer with them.
std::vector<std::vector<CostSource>> group_sources(const TableContext& context,
                                                   std::vector<CostSource> sources);

}  // namespace plumbline
