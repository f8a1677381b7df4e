// SPDX-License-Identifier: Apache-2.0
// The worked comparison that several tests price: reference 110 µs (gemm 80 µs, transpose_copy 20 µs, gaps
// 10), candidate 80 µs (gemm 70 µs, gaps 10), a weight layout that the reference makes in its window.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "plumbline/contract/parse.h"
#include "plumbline/evidence/confirmation.h"

namespace plumbline::samples {

inline WindowContract contract_of(const std::string& entries) {
  const std::string text =
      "[reference]\nwindow = \"call\"\ninputs = [\"x\", \"w\", \"lse\"]\noutputs = [\"y\"]\n"
      "[student]\nwindow = \"call\"\ninputs = [\"x\", \"w\", \"weight_layout\"]\noutputs = [\"y\"]\n" +
      entries;
  auto parsed = parse_contract(text, "window.toml");
  EXPECT_TRUE(parsed.ok());
  return parsed.ok() ? std::move(*parsed.value) : WindowContract{};
}

inline const std::string kLayout =
    "[[asymmetry]]\nstudent_input = \"weight_layout\"\nclass = \"price\"\nproduced_by = \"prep\"\n"
    "ref_kernel_regex = '^transpose_copy$'\n";

/// Rows in the given order; the derived fields are filled, nothing is sorted.
inline KernelTable table_of(const std::vector<std::pair<std::string, double>>& rows, std::int64_t calls = 1) {
  KernelTable table;
  table.source = "test";
  table.calls = calls;
  for (const auto& [name, time_ns] : rows) {
    KernelRow& row = table.kernels.emplace_back();
    row.name = name;
    row.identity = name;
    row.launches = calls;
    row.time_ns = time_ns;
    table.total_ns += time_ns;
  }
  for (KernelRow& row : table.kernels) row.pct = 100 * row.time_ns / table.total_ns;
  table.time_ns_per_call = table.total_ns / static_cast<double>(calls);
  return table;
}

inline KernelTable reference_table() { return table_of({{"gemm", 80'000}, {"transpose_copy", 20'000}}); }
inline KernelTable candidate_table() { return table_of({{"gemm", 70'000}}); }

inline EvalReport readings() {
  EvalReport eval;
  eval.file = "eval.json";
  eval.window = "pipelined";
  eval.student_ms = 0.080;
  eval.ref_ms = 0.110;
  eval.ratio = 1.375;
  eval.n_workloads = 3;
  return eval;
}

}  // namespace plumbline::samples
