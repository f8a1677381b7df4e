// SPDX-License-Identifier: Apache-2.0
// `plumbline hardware check`: whether tables of measured rows can be believed, without fitting anything.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "plumbline/base/gzip.h"
#include "plumbline/base/numbers.h"
#include "plumbline/cli/hardware_commands.h"
#include "plumbline/cli/shapes.h"
#include "plumbline/hardware/hardware_file.h"
#include "plumbline/hardware/rows.h"
#include "plumbline/report/accuracy_report.h"

namespace plumbline::cli {
namespace {

struct Options {
  std::vector<std::string> rows;
  std::string hardware;
};

/// The GPU of --hardware, else the known one that the file's name begins with ("h200_sxm_…").
std::string gpu_of(const Options& options, const std::string& path) {
  if (!options.hardware.empty()) return options.hardware;
  const std::string name = std::filesystem::path(path).filename().string();
  for (const std::string& known : hardware_names(hardware_search_path())) {
    if (name.starts_with(known + "_")) return known;
  }
  return {};
}

Parsed<CheckedTable> check_file(const Options& options, const std::string& path) {
  const std::string gpu = gpu_of(options, path);
  if (gpu.empty()) {
    return failed<CheckedTable>(
        diagnose("usage", "--hardware NAME is needed: the file's name does not begin with a known GPU's",
                 {path, 0, 0}));
  }
  const auto hardware = load_hardware(gpu, hardware_search_path());
  if (!hardware.ok()) return {std::nullopt, hardware.diagnostics};
  const auto text = read_packed_text_file(path);
  if (!text.ok()) return {std::nullopt, text.diagnostics};
  MeasuredRows rows;
  CheckedTable table;
  table.hardware = gpu;
  table.findings = read_rows(*text.value, path, hardware.value->sheet, rows);
  if (rows.files.empty()) return {std::nullopt, std::move(table.findings)};  // no table of measurements
  table.file = rows.files.front();
  return {std::move(table), {}};
}

int check_command(const Io& io, const Options& options) {
  std::vector<CheckedTable> tables;
  bool unread = false, doubted = false;
  for (const std::string& path : options.rows) {
    auto checked = check_file(options, path);
    io.report(checked.diagnostics);
    if (!checked.ok()) {
      unread = true;
      continue;
    }
    std::map<std::string, int> seen;
    Diagnostics shown;
    for (const Diagnostic& d : checked.value->findings) {
      if (d.severity == Severity::error || ++seen[d.code] <= 5) shown.push_back(d);
    }
    if (!io.json) io.report(shown);
    for (const auto& [code, count] : seen) {
      if (count > 5 && !io.json)
        io.message(fmt::format("… and {} more [{}] in this file; --json lists all", count - 5, code));
    }
    doubted = doubted || !usable(*checked.value);
    tables.push_back(std::move(*checked.value));
  }
  if (io.json) {
    io.print_json(checked_json(tables));
  } else if (!tables.empty()) {
    io.print(checked_text(tables, io.look()));
  }
  return unread ? kExitUsage : doubted ? kExitGate : kExitOk;
}

}  // namespace

void add_hardware_check(Args& hardware) {
  auto options = std::make_shared<Options>();
  Args args = hardware.subcommand(
      "check", "whether tables of measured rows can be believed: exit 1 where one cannot, nothing is fitted");
  args.positionals("ROWS", options->rows, "CSV files of measured rows, packed by gzip or not")
      .option("--hardware", options->hardware,
              "the GPU they were measured on (default: the one that the file's name begins with)")
      .example("plumbline hardware check h200_sxm_vllm_0.24.0_gemm_fp8.csv.gz")
      .example("plumbline hardware check rows.csv --hardware h200");
  args.status(kExitGate, "a table cannot be believed");
  args.run([options](const Io& io) { return check_command(io, *options); });
}

}  // namespace plumbline::cli
