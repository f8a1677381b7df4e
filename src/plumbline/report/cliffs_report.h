// SPDX-License-Identifier: Apache-2.0
// Cliffs as text and JSON.
#pragma once

#include <string>
#include <vector>

#include "plumbline/base/json.h"
#include "plumbline/report/text_table.h"
#include "plumbline/search/cliffs.h"

namespace plumbline {

/// A table of the dimensions with the nearest better size, what the causes mean, then each dimension's sizes.
std::string cliffs_text(const std::vector<DimensionCliffs>& dimensions, const Look& look);
/// [{"dimension", "value", "ms", "low_ms", "high_ms", "provenance", "measured_ms", "kernel", "cause",
/// "over_pct", "beside", "slow_kernel", "beside_kernel", "better", "better_ms", "saving_pct", "neighbours":
/// [{"value", "ms", …, "change_pct", "work_change_pct"}]}]; null where there is none. `kernel` is recorded
/// for exactly this GEMM; the other two are those of the GEMM that makes the size slow, at it and at
/// `beside`.
Json cliffs_json(const std::vector<DimensionCliffs>& dimensions);

}  // namespace plumbline
