// SPDX-License-Identifier: Apache-2.0
#include "plumbline/hardware/kernel_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "plumbline/base/files.h"
#include "plumbline/base/hash.h"
#include "plumbline/base/raw_bytes.h"
#include "plumbline/base/text.h"
#include "plumbline/hardware/operation_file.h"
#include "plumbline/hardware/rows.h"
#include "plumbline/hardware/source_layout.h"
#include "plumbline/hardware/table_reader.h"

namespace plumbline {
namespace {

constexpr std::uint64_t kMaxResidualBytes = 16ULL << 20;

void read_op(TableReader reader, std::span<const std::string_view> names, FittedOp& op) {
  for (const std::string_view name : names) op.constants.push_back(reader.number(name));
  op.rows = reader.count("rows");
  if (op.rows > 0) {
    op.sites = reader.count("sites");
    op.band = reader.number("band");
    op.low = reader.triple("low");
    op.high = reader.triple("high");
    op.errors = reader.accuracy("errors");
  }
  reader.refuse_unknown();
}

void read_elementwise(TableReader reader, FittedElementwise& op) {
  for (std::size_t i = 0; i < kElementwiseConstants.size(); ++i)
    op.constants[i] = reader.number(kElementwiseConstants[i]);
  op.half_width = reader.number("half_width");
  op.rows = reader.count("rows");
  op.errors = reader.accuracy("errors");
  reader.refuse_unknown();
}

void read_layer(TableReader reader, FittedLayer& layer) {
  for (std::size_t i = 0; i < kLayerTermCount; ++i) layer.terms[i] = reader.number(kLayerTerms[i]);
  layer.half_width = reader.number("half_width");
  layer.within_half_width = reader.number("within_half_width", layer.half_width);
  layer.sessions = reader.count("sessions");
  layer.rows = reader.count("rows");
  layer.sites = reader.count("sites");
  layer.errors = reader.accuracy("errors");
  reader.refuse_unknown();
}

void read_row_files(TableReader& reader, std::vector<RowFile>& rows) {
  const toml::node* node = reader.get("rows", false);
  if (node == nullptr) return;
  const toml::array* list = node->as_array();
  if (list == nullptr) return reader.invalid("rows", *node, "a list of tables");
  for (const toml::node& element : *list) {
    const toml::table* table = element.as_table();
    if (table == nullptr) return reader.invalid("rows", *node, "a list of tables");
    TableReader one{*table, "[[source.rows]]", reader.file, reader.found};
    RowFile file;
    file.name = one.text("file");
    file.sha256 = one.text("sha256");
    file.licence = one.text("licence");
    file.rows = one.count("rows");
    file.rejected = one.count("rejected");
    file.kernel_names = one.yes("kernel_names");
    one.refuse_unknown();
    rows.push_back(std::move(file));
  }
}

/// Where the residual files of operations lie: read when an operation is first asked.
void read_operations(TableReader& reader, const std::string& directory, KernelSource& source) {
  const toml::node* node = reader.get("operation", false);
  if (node == nullptr) return;
  const toml::array* list = node->as_array();
  if (list == nullptr) return reader.invalid("operation", *node, "a list of tables");
  for (const toml::node& element : *list) {
    const toml::table* table = element.as_table();
    if (table == nullptr) return reader.invalid("operation", *node, "a list of tables");
    TableReader one{*table, "[[source.operation]]", reader.file, reader.found};
    auto operation = std::make_shared<Operation>();
    const std::string name = one.text("name");
    const auto key = find_operation_key(name);
    if (!key) {
      if (const toml::node* at = table->get("name"))
        one.invalid("name", *at, "the name of an operation, such as gemm_fp8");
      continue;
    }
    operation->key = *key;
    for (const std::string_view constant : family_of(key->kind).constants)
      operation->constants.push_back(one.number(constant));
    operation->kernels = one.texts("kernels", kMaxOperationKernels);
    operation->rows = one.count("rows");
    operation->sites = one.count("sites");
    operation->band = one.number("band");
    operation->low = one.triple("low");
    operation->high = one.triple("high");
    operation->errors = one.accuracy("errors");
    operation->residuals = one.text("residuals");
    operation->sha256 = one.text("residuals_sha256");
    one.refuse_unknown();
    if (operation->residuals.find('/') != std::string::npos) {
      one.invalid("residuals", *table->get("residuals"), "a file name without a folder");
      continue;
    }
    operation->load = [path = (std::filesystem::path(directory) / operation->residuals).string(),
                       sha256 = operation->sha256, key = *key, kernels = operation->kernels.size()] {
      return read_operation(path, sha256, key, kernels);
    };
    source.operations.push_back(std::move(operation));
  }
}

bool take_kept(std::string_view& bytes, std::vector<KeptRow>& kept) {
  std::vector<std::uint32_t> count;
  std::vector<std::uint64_t> keys;
  std::vector<float> ms;
  if (!take_raw(bytes, 1, count) || !take_raw(bytes, count[0], keys) || !take_raw(bytes, count[0], ms))
    return false;
  kept.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) kept.push_back({keys[i], ms[i]});
  return std::is_sorted(kept.begin(), kept.end(),
                        [](const KeptRow& a, const KeptRow& b) { return a.key < b.key; });
}

/// How many features an operation's trees are walked with.
std::size_t features_of(std::string_view table) {
  if (table.starts_with("gemm")) return kGemmFeatures;
  return table.starts_with("prefill") ? kPrefillFeatures : kDecodeFeatures;
}

void read_residuals(const std::string& path, const std::string& sha256, KernelSource& source,
                    Diagnostics& found) {
  const auto content = read_file(path, kMaxResidualBytes);
  found.insert(found.end(), content.diagnostics.begin(), content.diagnostics.end());
  if (!content.ok()) return;
  const auto bad = [&](std::string_view why) {
    found.push_back(diagnose("residuals-invalid", std::string(why), {path, 0, 0}));
  };
  if (sha256_hex(*content.value) != sha256)
    return bad("not the residual file that the hardware file names (SHA-256 differs)");
  std::string_view bytes = *content.value;
  if (!bytes.starts_with(kResidualMagic))
    return bad("this is not a residual file, or it has an older layout");
  bytes.remove_prefix(kResidualMagic.size());
  for (const auto& place : op_places(source)) {
    if (place.op->rows == 0) continue;
    const auto take = [&](Forest& forest, const Forest* like) {
      auto taken = take_forest(bytes, path, like);
      found.insert(found.end(), taken.diagnostics.begin(), taken.diagnostics.end());
      if (taken.ok()) forest = std::move(*taken.value);
      return taken.ok();
    };
    if (!take(place.op->residual, nullptr)) return;
    if (bytes.empty() || (bytes.front() != 0 && bytes.front() != 1))
      return bad("the residual trees are damaged or cut short");
    const bool shared = bytes.front() == 1;
    bytes.remove_prefix(1);
    if (!take(place.op->spread, shared ? &place.op->residual : nullptr)) return;
    if (place.op->residual.features() != features_of(place.table) ||
        place.op->spread.features() != features_of(place.table)) {
      return bad("the trees were fitted to other features");
    }
    place.op->one_quantisation = shared || same_thresholds(place.op->residual, place.op->spread);
    prepare(place.op->residual);
    prepare(place.op->spread, !place.op->one_quantisation);
  }
  if (!take_kept(bytes, source.kept)) return bad("the kept measurements are damaged");
  if (!take_kernel_names(bytes, source.kernels)) return bad("the kernel names are damaged");
  if (!bytes.empty()) bad("there are more bytes than the file should hold");
}

std::shared_ptr<const KernelSource> read_source(TableReader reader, const std::string& directory,
                                                const DataSheet& sheet) {
  auto source = std::make_shared<KernelSource>();
  source->machine = machine_of(sheet);
  source->name = reader.text("name");
  source->framework = reader.text("framework");
  const std::string residuals = reader.text("residuals");
  const std::string sha256 = reader.text("residuals_sha256");
  source->sm_mhz = reader.number("sm_mhz", 0);
  source->budgets = reader.numbers("budgets");
  for (const auto& place : op_places(*source)) {
    const bool required = place.table == "gemm" || place.table == "gemm_misaligned";
    if (auto table = reader.sub(place.table, fmt::format("[source.{}]", place.table), required))
      read_op(*table, place.constants, *place.op);
  }
  for (std::size_t i = 0; i < kElementwiseOps; ++i) {
    const std::string_view op = to_string(static_cast<ElementwiseOp>(i));
    if (auto table = reader.sub(op, fmt::format("[source.{}]", op), true))
      read_elementwise(*table, source->elementwise[i]);
  }
  for (std::size_t i = 0; i < source->layers.size(); ++i) {
    if (auto table = reader.sub(kLayerTables[i], fmt::format("[source.{}]", kLayerTables[i]), true))
      read_layer(*table, source->layers[i]);
  }
  read_row_files(reader, source->rows);
  read_operations(reader, directory, *source);
  reader.refuse_unknown();
  for (const auto* ops : {&source->prefill, &source->decode}) {
    if (std::none_of(ops->begin(), ops->end(), [](const FittedOp& op) { return op.known(); })) {
      reader.found.push_back(diagnose("hardware-field-missing",
                                      "[source] knows no attention kernel (prefill, decode)",
                                      location_of(reader.table.source(), reader.file)));
    }
  }
  if (residuals.find('/') != std::string::npos) {
    reader.found.push_back(diagnose("hardware-field-invalid",
                                    "[source] residuals must be a file name without a folder",
                                    location_of(reader.table.source(), reader.file)));
  } else if (!has_errors(reader.found)) {
    read_residuals((std::filesystem::path(directory) / residuals).string(), sha256, *source, reader.found);
  }
  return source;
}

/// The source of that name (the first one where it is empty), or nullptr.
const toml::table* find_named(const toml::array& list, std::string_view name) {
  for (const toml::node& element : list) {
    const toml::table* table = element.as_table();
    if (table != nullptr && (name.empty() || (*table)["name"].value_or(std::string_view{}) == name))
      return table;
  }
  return nullptr;
}

}  // namespace

Parsed<std::vector<std::shared_ptr<const KernelSource>>> read_kernel_sources(
    const toml::table& document, const std::string& file, const std::string& directory,
    const DataSheet& sheet, std::optional<std::string_view> only) {
  Parsed<std::vector<std::shared_ptr<const KernelSource>>> result;
  std::vector<std::shared_ptr<const KernelSource>> sources;
  const toml::node* node = document.get("source");
  if (node == nullptr) return {std::move(sources), {}};
  const toml::array* list = node->as_array();
  if (list == nullptr || list->empty()) {
    result.diagnostics.push_back(diagnose("hardware-field-invalid", "[[source]] must be a list of tables",
                                          location_of(node->source(), file)));
    return result;
  }
  const toml::table* wanted = only ? find_named(*list, *only) : nullptr;
  for (const toml::node& element : *list) {
    const toml::table* table = element.as_table();
    if (table == nullptr) {
      result.diagnostics.push_back(diagnose("hardware-field-invalid", "[[source]] must be a list of tables",
                                            location_of(element.source(), file)));
      continue;
    }
    if (wanted != nullptr && table != wanted) continue;
    sources.push_back(read_source({*table, "[source]", file, result.diagnostics}, directory, sheet));
  }
  if (!has_errors(result.diagnostics)) result.value = std::move(sources);
  return result;
}

}  // namespace plumbline
