// SPDX-License-Identifier: Apache-2.0
// The one reader of C++ names: where a kernel's name is name, and where it is arguments.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace plumbline {

/// A half-open range of bytes.
using ByteRange = std::pair<std::size_t, std::size_t>;

/// A demangled name, taken apart.
struct CppName {
  ByteRange base;                    ///< the last component, before its arguments; may be empty
  std::vector<ByteRange> arguments;  ///< outermost template and parameter lists, brackets included, in order
  bool open = false;                 ///< a list never closes: the profiler cut the name
};

/// Reads any text in one pass. "(anonymous namespace)", "<unnamed>", lambdas, operator< and the like are
/// name. Nsight Compute prints "<unnamed>::f" as "unnamed>::f"; that bracket closes nothing. A bracket that
/// nothing opened is skipped, and a round one closes the pointed ones inside it: "<" may be a comparison.
CppName read_cpp_name(std::string_view name);

/// The arguments of `name`. A mangled name has none: what stands where is not known.
std::vector<ByteRange> argument_ranges(std::string_view name);

/// True when there is a match and every one lies wholly inside one of `arguments`.
bool only_inside(std::span<const ByteRange> matches, std::span<const ByteRange> arguments);

}  // namespace plumbline
