// SPDX-License-Identifier: Apache-2.0
// Where a kernel's name is name, and where it is template arguments or parameters.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace plumbline {

/// A half-open range of bytes.
using ByteRange = std::pair<std::size_t, std::size_t>;

/// The outermost template argument lists and parameter lists of a demangled C++ name, brackets included, in
/// order. "(anonymous namespace)", operator<, operator() and the like are name. A mangled name has none: what
/// stands where is not known. A list that a profiler cut off reaches to the end.
std::vector<ByteRange> argument_ranges(std::string_view name);

/// True when there is a match and every one lies wholly inside one of `arguments`.
bool only_inside(std::span<const ByteRange> matches, std::span<const ByteRange> arguments);

}  // namespace plumbline
