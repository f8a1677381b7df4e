// SPDX-License-Identifier: Apache-2.0
// Cliffs as text and JSON.
#pragma once

#include <string>
#include <vector>

#include "plumbline/base/json.h"
#include "plumbline/search/cliffs.h"

namespace plumbline {

/// A table of the dimensions with the nearest better size, then each dimension's neighbours.
std::string cliffs_text(const std::vector<DimensionCliffs>& dimensions, bool color);
/// [{"dimension", "value", "ms", "cause", "better", "better_ms", "saving_pct", "neighbours": [{"value", "ms",
/// "change_pct", "work_change_pct", "cause"}]}]; cause is null where there is none.
Json cliffs_json(const std::vector<DimensionCliffs>& dimensions);

}  // namespace plumbline
