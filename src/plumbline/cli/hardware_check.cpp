// SPDX-License-Identifier: Apache-2.0
// `plumbline hardware check`: whether tables of measured rows can be believed, without fitting anything.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "plumbline/base/gzip.h"
#include "plumbline/base/hash.h"
#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/cli/hardware_commands.h"
#include "plumbline/cli/shapes.h"
#include "plumbline/hardware/hardware_file.h"
#include "plumbline/hardware/rows.h"
#include "plumbline/hardware/submission.h"
#include "plumbline/report/accuracy_report.h"

namespace plumbline::cli {
namespace {

/// Loads the GPU that a table is held against: the named one, or the one that the table says it is of.
struct Gpu {
  std::string name;
  DataSheet sheet;
};

Parsed<Gpu> load_gpu(const std::string& name) {
  auto hardware = load_hardware(name, hardware_search_path());
  if (!hardware.ok()) return {std::nullopt, hardware.diagnostics};
  return {Gpu{name, hardware.value->sheet}, {}};
}

/// The known GPU that a file's name begins with ("h200_sxm_…").
Parsed<Gpu> gpu_of_name(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  for (const std::string& known : hardware_names(hardware_search_path())) {
    if (name.starts_with(known + "_")) return load_gpu(known);
  }
  return failed<Gpu>(diagnose(
      "usage", "--hardware NAME is needed: the file's name does not begin with a known GPU's", {path, 0, 0}));
}

/// The known GPU that a submission's card is.
Parsed<Gpu> gpu_of_card(const Submission& submission, const std::string& path) {
  for (const std::string& known : hardware_names(hardware_search_path())) {
    auto gpu = load_gpu(known);
    if (gpu.ok() && is_card(submission, known, gpu.value->sheet)) return gpu;
  }
  return failed<Gpu>(diagnose(
      "usage",
      fmt::format(
          "--hardware NAME|FILE is needed: no known hardware is a '{}' of {} SMs (hash and window hold)",
          printable(submission.of("gpu")), printable(submission.of("sms"))),
      {path, 0, 0}));
}

/// The tables of one file, added up.
RowFile total_of(const std::vector<RowFile>& files, const std::string& path) {
  RowFile out = files.front();
  out.name = std::filesystem::path(path).filename().string();
  for (std::size_t i = 1; i < files.size(); ++i) {
    out.rows += files[i].rows;
    out.rejected += files[i].rejected;
  }
  return out;
}

Parsed<CheckedTable> check_file(const std::string& path, const std::string& hardware) {
  const auto text = read_packed_text_file(path);
  if (!text.ok()) return {std::nullopt, text.diagnostics};
  std::optional<Submission> submission;
  if (is_submission(*text.value)) {
    auto read = read_submission(*text.value, path);
    if (!read.ok()) {
      CheckedTable refused;
      refused.hardware = hardware.empty() ? "–" : hardware;
      refused.file.name = std::filesystem::path(path).filename().string();
      refused.file.sha256 = sha256_hex(*text.value);
      refused.findings = std::move(read.diagnostics);
      return {std::move(refused), {}};
    }
    submission = std::move(*read.value);
  }
  const auto gpu = !hardware.empty() ? load_gpu(hardware)
                   : submission      ? gpu_of_card(*submission, path)
                                     : gpu_of_name(path);
  if (!gpu.ok()) return {std::nullopt, gpu.diagnostics};
  MeasuredRows rows;
  CheckedTable table;
  table.hardware = gpu.value->name;
  table.findings = read_measurements(*text.value, path, gpu.value->sheet, rows);
  if (rows.files.empty()) return {std::nullopt, std::move(table.findings)};  // no table of measurements
  table.file = total_of(rows.files, path);
  if (!submission) return {std::move(table), {}};
  table.file.sha256 = sha256_hex(*text.value);
  const std::string known = std::filesystem::path(gpu.value->name).stem().string();
  if (!is_card(*submission, known, gpu.value->sheet)) {
    table.findings.push_back(diagnose(
        "submission-other-card",
        fmt::format("it is of a '{}' of {} SMs, held against {} of {} SMs", printable(submission->of("gpu")),
                    printable(submission->of("sms")), known, gpu.value->sheet.sm_count),
        {path, 0, 0}));
  }
  return {std::move(table), {}};
}

}  // namespace

int check_tables(const Io& io, const std::vector<std::string>& files, const std::string& hardware) {
  std::vector<CheckedTable> tables;
  bool unread = false, doubted = false;
  for (const std::string& path : files) {
    auto checked = check_file(path, hardware);
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

void add_hardware_check(Args& hardware) {
  struct Options {
    std::vector<std::string> rows;
    std::string hardware;
  };
  auto options = std::make_shared<Options>();
  Args args = hardware.subcommand(
      "check", "whether tables of measured rows can be believed: exit 1 where one cannot, nothing is fitted");
  args.positionals("ROWS", options->rows,
                   "files of measured rows, or of hardware submit, packed by gzip or not")
      .option("--hardware", options->hardware,
              "the GPU they were measured on (default: the one that the file names)")
      .example("plumbline hardware check h200_sxm_vllm_0.24.0_gemm_fp8.csv.gz")
      .example("plumbline hardware check rows.csv --hardware h200");
  args.status(kExitGate, "a table cannot be believed");
  args.run([options](const Io& io) { return check_tables(io, options->rows, options->hardware); });
}

}  // namespace plumbline::cli
