// SPDX-License-Identifier: Apache-2.0
// Does a pattern backtrack without end on a plausible name? Asked before any kernel table exists.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "plumbline/base/regex.h"

namespace plumbline {

/// A short text on which `regex` (compiled from `pattern`) exceeds the match limits, where one is found among
/// a few probes: long runs of each of the pattern's own characters. Finding none proves nothing. At most
/// about 10 ms.
std::optional<std::string> text_beyond_limits(const Regex& regex, std::string_view pattern);

}  // namespace plumbline
