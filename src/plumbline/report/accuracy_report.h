// SPDX-License-Identifier: Apache-2.0
// Errors of a kernel source as text and JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "plumbline/base/diagnostics.h"
#include "plumbline/base/json.h"
#include "plumbline/hardware/calibrate.h"
#include "plumbline/hardware/validate.h"
#include "plumbline/report/text_table.h"

namespace plumbline {

/// The figures that are known, by name.
Json accuracy_json(const Accuracy& errors);
/// What a calibration read and how well it predicts sites that its folds did not see.
std::string calibration_text(const Calibration& calibration, const Look& look);
/// {"source", "files": [{"file", "sha256", "rows", "rejected"}], "rejected": [{"file", "line", "code",
/// "message"}], "folds": [{"op", "rows", "sites", "errors"}]}
Json calibration_json(const Calibration& calibration, const Diagnostics& rejected);

/// A file of rows held against what the GPU can do.
struct CheckedTable {
  std::string hardware;
  RowFile file;
  Diagnostics findings;  ///< rows set apart (warnings), and what makes the table unusable (errors)
};
/// Whether the table can be calibrated with, its doubtful rows set apart.
bool usable(const CheckedTable& table);
/// One line a file: rows kept, rows set apart, what to think of it.
std::string checked_text(const std::vector<CheckedTable>& tables, const Look& look);
/// [{"file", "sha256", "hardware", "rows", "rejected", "usable", "findings": [{"line", "code", "message"}]}]
Json checked_json(const std::vector<CheckedTable>& tables);

/// Errors by operation against their budgets.
std::string validation_text(const std::vector<OpAccuracy>& ops, const Look& look);
/// [{"op", "n", "mape_pct", "median_pct", "p90_pct", "bias_pct", "pair_pct", "kendall_tau", "coverage_pct",
/// "budget_mape_pct", "over_budget"}]; what cannot be said is null.
Json validation_json(const std::vector<OpAccuracy>& ops);

}  // namespace plumbline
