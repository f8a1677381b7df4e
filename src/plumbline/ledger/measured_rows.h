// SPDX-License-Identifier: Apache-2.0
// Readings of banked runs as rows for `hardware calibrate`.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "plumbline/ledger/ledger.h"

namespace plumbline::ledger {

/// Which readings.
struct RowsRequest {
  std::string card;      ///< "" for every card
  std::string gpu;       ///< "" takes that of the newest reading
  bool student = false;  ///< the student's times; else the reference's
};

/// Files of rows, and what is not in them.
struct MeasuredFiles {
  std::map<std::string, std::string>
      files;  ///< name → CSV: "gemm.csv", "gemm_kernels.csv", "attention.csv", …
  std::string gpu;
  std::size_t rows = 0;
  std::size_t readings = 0;    ///< that went into them
  std::size_t shapeless = 0;   ///< readings whose shape names no operation that is modelled
  std::size_t host_timed = 0;  ///< of per-call windows: the host's part is in them
  std::size_t other_gpus = 0;
};

/// One row a shape, driver and code of the side: the median of its runs with their range, how many, and the
/// newest of them (columns gpu, driver, card, run, made_at, side). The workload's shape gives the columns of
/// the operation: m, n, k or heads, kv_len, …, as measured/README.md names them. Where a GEMM's table has one
/// kernel, its name goes to gemm_kernels.csv. Errors: ledger-run-missing where no reading is there, and those
/// of the connection.
Parsed<MeasuredFiles> measured_rows(Ledger& ledger, const RowsRequest& request);

}  // namespace plumbline::ledger
