// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "plumbline/base/hash.h"
#include "plumbline/base/numbers.h"
#include "plumbline/base/raw_bytes.h"
#include "plumbline/base/text.h"
#include "plumbline/hardware/kernel_sources.h"
#include "plumbline/hardware/operation_file.h"
#include "plumbline/hardware/rows.h"
#include "plumbline/hardware/source_layout.h"

namespace plumbline {
namespace {

/// Errors are read by people: two decimals.
std::string errors_table(const Accuracy& errors) {
  std::string out = "errors = {";
  bool first = true;
  for (const auto& [name, member] : kAccuracyFigures) {
    const auto& value = errors.*member;
    if (!value) continue;
    out += fmt::format("{} {} = {}", first ? "" : ",", name,
                       format_double(round_places(*value, name == "kendall_tau" ? 4 : 2)));
    first = false;
  }
  return out + " }\n";
}

template <class Op>
std::string op_table(std::string_view table, const Op& op, std::span<const std::string_view> names) {
  std::string out = fmt::format("\n[source.{}]\n", table);
  for (std::size_t i = 0; i < names.size(); ++i) {
    out += fmt::format("{} = {}\n", names[i], format_double(op.constants[i]));
  }
  if (op.rows == 0) return out + "# not measured: generic constants\n";
  out += fmt::format("rows = {}\nsites = {}\nband = {}\n", op.rows, op.sites, format_double(op.band));
  for (const auto& [name, values] : {std::pair{"low", op.low}, std::pair{"high", op.high}}) {
    out += fmt::format("{} = [{}, {}, {}]\n", name, format_double(values[0]), format_double(values[1]),
                       format_double(values[2]));
  }
  return out + errors_table(op.errors);
}

std::string operation_table(const Operation& operation, const std::string& file, const std::string& sha256) {
  std::string out = fmt::format("\n[[source.operation]]\nname = {}\nresiduals = {}\nresiduals_sha256 = {}\n",
                                toml_quoted(name_of(operation.key)), toml_quoted(file), toml_quoted(sha256));
  out += "kernels = [";
  for (std::size_t i = 0; i < operation.kernels.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : ", ", toml_quoted(operation.kernels[i]));
  out += "]\n";
  const auto& names = family_of(operation.key.kind).constants;
  for (std::size_t i = 0; i < names.size(); ++i)
    out += fmt::format("{} = {}\n", names[i], format_double(operation.constants[i]));
  out += fmt::format("rows = {}\nsites = {}\nband = {}\n", operation.rows, operation.sites,
                     format_double(operation.band));
  for (const auto& [name, values] : {std::pair{"low", operation.low}, std::pair{"high", operation.high}}) {
    out += fmt::format("{} = [{}, {}, {}]\n", name, format_double(values[0]), format_double(values[1]),
                       format_double(values[2]));
  }
  return out + errors_table(operation.errors);
}

std::string residual_bytes(const KernelSource& source) {
  std::string out(kResidualMagic);
  for (const auto& place : op_places(source)) {
    if (place.op->rows == 0) continue;
    append_forest(place.op->residual, out);
    const bool one = same_thresholds(place.op->residual, place.op->spread);
    out += one ? '\1' : '\0';  // the thresholds are written once
    append_forest(place.op->spread, out, one ? &place.op->residual : nullptr);
  }
  append_raw(out, static_cast<std::uint32_t>(source.kept.size()));
  for (const KeptRow& row : source.kept) append_raw(out, row.key);
  for (const KeptRow& row : source.kept) append_raw(out, row.ms);
  append_kernel_names(source.kernels, out);
  return out;
}

}  // namespace

KernelSourceFiles write_kernel_source(const KernelSource& source, const std::string& stem) {
  KernelSourceFiles files;
  files.residuals = residual_bytes(source);
  files.residuals_name = fmt::format("{}-{}.bin", stem, source.name);
  std::string& out = files.toml;
  out = fmt::format("\n[[source]]\nname = {}\nframework = {}\nresiduals = {}\nresiduals_sha256 = {}\n",
                    toml_quoted(source.name), toml_quoted(source.framework),
                    toml_quoted(files.residuals_name), toml_quoted(sha256_hex(files.residuals)));
  if (source.sm_mhz > 0) out += fmt::format("sm_mhz = {}\n", format_double(source.sm_mhz));
  if (!source.budgets.empty()) {
    out += "\n[source.budgets]  # MAPE in per cent; hardware validate fails above\n";
    for (const auto& [op, budget] : source.budgets)
      out += fmt::format("{} = {}\n", op, format_double(budget));
  }
  for (const auto& place : op_places(source)) {
    if (place.op->known()) out += op_table(place.table, *place.op, place.constants);
  }
  for (std::size_t i = 0; i < kElementwiseOps; ++i) {
    const FittedElementwise& op = source.elementwise[i];
    out += fmt::format("\n[source.{}]\n", to_string(static_cast<ElementwiseOp>(i)));
    for (std::size_t c = 0; c < kElementwiseConstants.size(); ++c) {
      out += fmt::format("{} = {}\n", kElementwiseConstants[c], format_double(op.constants[c]));
    }
    out += fmt::format("half_width = {}\nrows = {}\n", format_double(op.half_width), op.rows);
    if (op.rows > 0) out += errors_table(op.errors);
  }
  for (std::size_t i = 0; i < source.layers.size(); ++i) {
    const FittedLayer& layer = source.layers[i];
    out += fmt::format("\n[source.{}]\n", kLayerTables[i]);
    for (std::size_t t = 0; t < kLayerTermCount; ++t) {
      out += fmt::format("{} = {}\n", kLayerTerms[t], format_double(layer.terms[t]));
    }
    out += fmt::format("half_width = {}\nrows = {}\nsites = {}\n", format_double(layer.half_width),
                       layer.rows, layer.sites);
    if (layer.rows > 0)
      out += fmt::format("sessions = {}\nwithin_half_width = {}\n", layer.sessions,
                         format_double(layer.within_half_width));
    if (layer.rows > 0) out += errors_table(layer.errors);
  }
  for (const auto& operation : source.operations) {
    if (find_operation(source, operation->key) == nullptr) continue;  // damaged, and said so when it was read
    const std::string bytes = operation_bytes(*operation);
    const std::string name = fmt::format("{}-{}-{}.bin", stem, source.name, name_of(operation->key));
    out += operation_table(*operation, name, sha256_hex(bytes));
    files.operations.emplace_back(name, bytes);
  }
  for (const RowFile& file : source.rows) {
    out += fmt::format("\n[[source.rows]]\nfile = {}\nsha256 = {}\nlicence = {}\nrows = {}\nrejected = {}\n",
                       toml_quoted(file.name), toml_quoted(file.sha256), toml_quoted(file.licence), file.rows,
                       file.rejected);
    if (file.kernel_names) out += "kernel_names = true\n";
  }
  return files;
}

}  // namespace plumbline
