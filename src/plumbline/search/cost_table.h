// SPDX-License-Identifier: Apache-2.0
// CostTable: kernel times, or anything else, tabulated over the few dimensions that they depend on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plumbline {

/// What stands where no shape can be: large, and finite so that 0 · it is 0.
inline constexpr double kNoShape = 1e15;

/// Values over a product of dimensions, the last one fastest.
struct CostTable {
  std::string name;                ///< its symbol in expressions
  std::vector<int> dimensions;     ///< places in the space's list
  std::vector<std::size_t> sizes;  ///< of those dimensions
  std::vector<double>
      values;  ///< times in whole picoseconds; kNoShape: a constraint refuses every such shape
  std::vector<std::string> kernels;  ///< whose times were added
  std::int64_t sub_shapes = 0;       ///< distinct ones that the model was asked for

  /// The place of a shape; `index[d]` is the place of dimension d's value.
  template <class Index>
  std::size_t place(const Index& index) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      at = at * sizes[i] + static_cast<std::size_t>(index[static_cast<std::size_t>(dimensions[i])]);
    }
    return at;
  }
};

}  // namespace plumbline
