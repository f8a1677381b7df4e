// SPDX-License-Identifier: Apache-2.0
// Rows of operations beyond the bf16 GEMM and attention: which columns mean which, and one row read.
#pragma once

#include <optional>
#include <string_view>

#include "plumbline/hardware/row_cells.h"
#include "plumbline/model/kernel_request.h"

namespace plumbline {

/// What rows that do not say it work in: from a file's name, or from the command line.
struct RowFormats {
  Dtype dtype = Dtype::bf16;
  Dtype kv_dtype = Dtype::bf16;
};

/// The formats that a file's name tells: "…_gemm_fp8_block.csv", "…_attn_bf16_kv_fp8.csv", "…_moe_nvfp4.csv".
RowFormats formats_in(std::string_view file_name);

enum class OperationRows { moe, grouped_gemm, mla, collective };
/// The family whose columns `header` has, or none.
std::optional<OperationRows> operation_rows_of(const Header& header);

/// One row as a request; what is wrong with it is in `row`.
KernelRequest read_operation_row(Row& row, OperationRows family, const RowFormats& formats);
/// A GEMM in the format that the row's column dtype says, else `formats`; `scaling` counts as the kernel.
KernelRequest read_gemm_row(Row& row, const RowFormats& formats);

/// The format that `column` says, or `absent` where the row does not have it.
Dtype read_dtype(Row& row, std::string_view column, Dtype absent);

}  // namespace plumbline
