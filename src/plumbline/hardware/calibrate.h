// SPDX-License-Identifier: Apache-2.0
// Calibrate: measured rows to a kernel source, judged on folds of sites that a fit did not see.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/hardware/rows.h"
#include "plumbline/model/measured.h"

namespace plumbline {

/// Errors of one operation by folds of whole sites.
struct FoldReport {
  std::string op;
  std::int64_t rows = 0, sites = 0;
  Accuracy errors;
};

/// What a calibration gives.
struct Calibration {
  KernelSource source;
  std::vector<FoldReport> folds;
};

/// How to calibrate.
struct CalibrateOptions {
  std::string source = "measured";  ///< the kernel source's name
  std::string framework;            ///< versions, in words
  const KernelSource* merge_into =
      nullptr;  ///< operations without rows here are kept as this source has them
  const KernelSource* sibling =
      nullptr;  ///< another GPU's source: where rows are few, its constants and trees are corrected by them
  const MeasuredRows* clock_rows =
      nullptr;  ///< GEMMs that only say at which SM clock the source's times hold; otherwise its own do
  bool keep_rows = false;  ///< keep measurements and kernel names, to be shown beside predictions
  double effort = 1;       ///< share of the usual number of trees (tests use less)
  std::function<void(const std::string& what, std::size_t rows)>
      progress{};  ///< told what is being fitted, and to how many rows
};

/// Fits every operation that has enough rows (40 at 8 sites; 10 at 4 beside a sibling); others get generic
/// constants. The same rows and options give the same source, bit for bit. Errors: rows-none-usable.
Parsed<Calibration> calibrate(const DataSheet& sheet, const MeasuredRows& rows,
                              const CalibrateOptions& options);

/// The fold, 0 to folds − 1, of a site: a hash, so that neither order nor number of other sites matters.
int fold_of(std::uint64_t site, int folds);
/// Sites: (n, k) of a GEMM; heads, KV heads, head width and window of attention; the name of a layer.
std::uint64_t site_of(const GemmShape& shape);
std::uint64_t site_of(const AttentionShape& shape);
/// The same without the window.
std::uint64_t heads_of(const AttentionShape& shape);
std::uint64_t site_of(const Layer& layer);

/// Marks GEMMs whose order matters to whoever chooses a shape: equal m and equal n·k, n and k in 512..32768;
/// 0: none.
std::uint64_t pair_group(const GemmShape& shape);

}  // namespace plumbline
