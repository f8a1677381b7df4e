// SPDX-License-Identifier: Apache-2.0
// Validate: a kernel source's predictions against rows that it never saw.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/hardware/accuracy.h"
#include "plumbline/hardware/rows.h"
#include "plumbline/model/measured.h"

namespace plumbline {

/// One operation's errors, and the budget that the hardware file allows (none: no budget).
struct OpAccuracy {
  std::string op;
  Accuracy errors;
  std::optional<double> budget_mape_pct;
  std::vector<Judged> rows;  ///< in file order, µs

  /// True when the error is over the budget.
  bool over_budget() const { return budget_mape_pct && errors.mape_pct > *budget_mape_pct; }
};

/// Errors by operation, in the order of the kinds of rows. Shapes are predicted one by one, in file order.
std::vector<OpAccuracy> validate(const KernelSource& source, const MeasuredRows& rows);

/// One error for each file that the source was calibrated with (rows-seen).
Diagnostics refuse_seen_rows(const KernelSource& source, const MeasuredRows& rows);

/// The prediction of one asked row.
KernelTime predict_asked(const KernelSource& source, const AskedRow& row);

/// The name under which an operation's errors and budget stand: "gemm", "prefill_cudnn", "layer_decode", ….
std::string op_name(const GemmShape& shape);
/// The same for attention; without backend the plain name.
std::string op_name(const AttentionShape& shape);
/// The same for a layer.
std::string op_name(const Layer& layer);

}  // namespace plumbline
