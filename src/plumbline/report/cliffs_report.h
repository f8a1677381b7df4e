// SPDX-License-Identifier: Apache-2.0
// Cliffs as text and JSON.
#pragma once

#include <string>
#include <vector>

#include "plumbline/base/json.h"
#include "plumbline/search/cliffs.h"

namespace plumbline {

/// A table of the dimensions with the nearest better size, what the causes mean, then each dimension's sizes.
std::string cliffs_text(const std::vector<DimensionCliffs>& dimensions, bool color);
/// [{"dimension", "value", "ms", "low_ms", "high_ms", "provenance", "measured_ms", "cause", "over_pct",
/// "better", "better_ms", "saving_pct", "neighbours": [{"value", "ms", …, "over_pct", "change_pct",
/// "work_change_pct"}]}]; cause and measured_ms are null where there is none.
Json cliffs_json(const std::vector<DimensionCliffs>& dimensions);

}  // namespace plumbline
