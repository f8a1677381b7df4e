// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/validate.h"

#include <fmt/format.h>

#include <algorithm>

#include "plumbline/base/statistics.h"
#include "plumbline/hardware/accuracy.h"
#include "plumbline/hardware/calibrate.h"
#include "plumbline/hardware/source_layout.h"

namespace plumbline {
namespace {

/// Judged rows by operation, in the order in which operations first appear.
struct Ledger {
  std::vector<std::pair<std::string, std::vector<Judged>>> ops;

  void add(const std::string& op, const KernelTime& time, double us, std::uint64_t group = 0) {
    auto at = std::find_if(ops.begin(), ops.end(), [&](const auto& one) { return one.first == op; });
    if (at == ops.end()) at = ops.insert(ops.end(), {op, {}});
    at->second.push_back({time.ms * 1e3, us, time.low_ms * 1e3, time.high_ms * 1e3, group});
  }
};

KernelTime total_of(const Prediction& p) {
  KernelTime time = p.kernel_storage[p.bottleneck];
  time.name = "layer";
  time.ms = p.total_ms;
  time.low_ms = p.low_ms;
  time.high_ms = p.high_ms;
  for (const KernelTime& kernel : p.kernels()) time.provenance = std::max(time.provenance, kernel.provenance);
  return time;
}

}  // namespace

std::string op_name(const GemmShape& shape) { return is_aligned(shape) ? "gemm" : "gemm_misaligned"; }

std::string op_name(const AttentionShape& shape) {
  return fmt::format("{}{}", is_decode(shape) ? "decode" : "prefill",
                     kBackendSuffix[measured_place(shape.backend)]);
}

std::string op_name(const Layer& layer) {
  return std::string(kLayerTables[static_cast<std::size_t>(layer_kind(layer))]);
}

std::vector<OpAccuracy> validate(const KernelSource& source, const MeasuredRows& rows) {
  Ledger ledger;
  for (const auto& row : rows.gemm) {
    ledger.add(op_name(row.shape), predict_gemm(source, "gemm", row.shape), row.us, pair_group(row.shape));
  }
  for (const auto& row : rows.attention) {
    ledger.add(op_name(row.shape), predict_attention(source, "attention", row.shape), row.us);
  }
  for (const auto& row : rows.elementwise) {
    ledger.add(std::string(to_string(row.shape.op)), predict_elementwise(source, "", row.shape), row.us);
  }
  for (const auto& row : rows.operations) {
    ledger.add(name_of(key_of(row.shape.shape)), predict_kernel(source, "", row.shape), row.us);
  }
  for (const auto& row : rows.layers) {
    ledger.add(op_name(row.shape), total_of(predict_measured(source, row.shape)), row.us);
  }
  std::vector<OpAccuracy> out;
  for (auto& [op, judged] : ledger.ops) {
    OpAccuracy one{op, accuracy(judged), {}, std::move(judged)};
    const auto budget = source.budgets.find(op);
    if (budget != source.budgets.end()) one.budget_mape_pct = budget->second;
    out.push_back(std::move(one));
  }
  return out;
}

Diagnostics refuse_seen_rows(const KernelSource& source, const MeasuredRows& rows) {
  Diagnostics found;
  for (const RowFile& file : rows.files) {
    for (const RowFile& seen : source.rows) {
      if (file.sha256 != seen.sha256) continue;
      found.push_back(
          diagnose("rows-seen",
                   fmt::format("source '{}' was calibrated with this file (as {})", source.name, seen.name),
                   {file.name, 0, 0}));
      break;
    }
  }
  return found;
}

KernelTime predict_asked(const KernelSource& source, const AskedRow& row) {
  switch (row.kind) {
    case AskedRow::Kind::gemm:
      return predict_gemm(source, "gemm", row.gemm);
    case AskedRow::Kind::attention:
      return predict_attention(source, "attention", row.attention);
    case AskedRow::Kind::elementwise:
      return predict_elementwise(source, to_string(row.elementwise.op), row.elementwise);
    case AskedRow::Kind::operation:
      return predict_kernel(source, op_of(row.operation.shape), row.operation);
    case AskedRow::Kind::layer:
      break;
  }
  return total_of(predict_measured(source, row.layer));
}

}  // namespace plumbline
