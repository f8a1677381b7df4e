// SPDX-License-Identifier: Apache-2.0
// Measured rows: CSV in, rows of each operation out, every row accounted for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/hardware/operation_rows.h"
#include "plumbline/model/measured.h"

namespace plumbline {

/// A measured shape: microseconds, the line and the index of its file.
template <class Shape>
struct Measured {
  Shape shape;
  double us = 0;
  int line = 0;
  int file = 0;
  double sm_mhz = 0;  ///< the SM clock under load; 0: the row does not say
};

/// A GEMM and the name of the kernel that ran for it.
struct NamedGemm {
  GemmShape shape;
  std::string kernel;
};

/// The rows of any number of files. Every data row of a file is in one of the lists or was rejected.
struct MeasuredRows {
  std::vector<Measured<GemmShape>> gemm;
  std::vector<Measured<AttentionShape>> attention;
  std::vector<Measured<ElementwiseShape>> elementwise;
  std::vector<Measured<Layer>> layers;
  std::vector<NamedGemm> kernels;
  std::vector<Measured<KernelRequest>>
      operations;              ///< in other formats, of experts, latent attention, collectives
  std::vector<RowFile> files;  ///< in the order read; `rows` + `rejected` is the file's number of data rows
};

/// Reads one CSV file's text into `rows`. The header says what the file holds: m,n,k (GEMM); m,n,k,kernel
/// without a time (which kernel ran); batch, heads, …
/// with q_len or seq_q or neither (attention; neither means one query token); op,rows,cols; hidden_dim, …
/// (layers; decode when a column `phase` or the file's name says so). Times stand in a column ms, us or ns;
/// a column dtype must say bf16. An impossible or malformed row, or one of another unit, is rejected with a
/// warning that says why. `sheet` gives the limits of what is possible.
/// Formats other than bf16 stand in a column (dtype, kv_dtype) or in the file's name (formats_in).
/// Columns replays and spread_pct, where they are, say how steady a reading was, sm_mhz at which clock.
/// Errors: rows-columns-unknown, rows-host-time. Warnings: row-malformed, row-impossible, row-unit-slip,
/// row-unsteady.
Diagnostics read_rows(std::string_view text, const std::string& file, const DataSheet& sheet,
                      MeasuredRows& rows);

/// One row to predict: exactly one of the shapes is meant, as `kind` says.
struct AskedRow {
  enum class Kind { gemm, attention, elementwise, layer, operation } kind = Kind::gemm;
  GemmShape gemm;
  AttentionShape attention;
  ElementwiseShape elementwise;
  Layer layer;
  KernelRequest operation;
};

/// Rows to predict, without times: `op` is gemm, attention, layer or an element-wise operation's name
/// (qknorm_rope is understood too). Every row must be sound. Errors: rows-columns-unknown, shape-unknown.
Parsed<std::vector<AskedRow>> read_asked_rows(std::string_view text, const std::string& file,
                                              std::string_view op, const RowFormats& formats = {});

}  // namespace plumbline
