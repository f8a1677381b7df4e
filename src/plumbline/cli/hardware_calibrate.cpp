// SPDX-License-Identifier: Apache-2.0
// `plumbline hardware calibrate ROWS… --name N -o FILE`: fits a hardware file to measured rows.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "plumbline/base/files.h"
#include "plumbline/base/gzip.h"
#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/cli/hardware_commands.h"
#include "plumbline/cli/progress.h"
#include "plumbline/cli/shapes.h"
#include "plumbline/hardware/calibrate.h"
#include "plumbline/hardware/hardware_file.h"
#include "plumbline/hardware/kernel_sources.h"
#include "plumbline/hardware/submission.h"
#include "plumbline/report/accuracy_report.h"

namespace plumbline::cli {
namespace {

struct Options {
  std::vector<std::string> rows;
  std::string name, output, sheet, source = "measured", framework, licence = "as the rows'", add_to, sibling,
                                   clock_from;
  bool keep = false, merge = false;
};

bool is_plain_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
             name.npos &&
         name[0] != '.';
}

/// What the first submission says of its card and versions; "" where none of the files is one.
std::string framework_of(std::string_view text, const std::string& file) {
  if (!is_submission(text)) return {};
  const auto read = read_submission(text, file);
  if (!read.ok()) return {};
  return fmt::format("{}; {}, driver {}", read.value->of("framework"), read.value->of("gpu"),
                     read.value->of("driver"));
}

Diagnostics read_files(Options& options, const DataSheet& sheet, MeasuredRows& rows) {
  Diagnostics found;
  for (const std::string& path : options.rows) {
    const auto text = read_packed_text_file(path);
    if (text.ok() && options.framework.empty()) options.framework = framework_of(*text.value, path);
    Diagnostics some = text.ok() ? read_measurements(*text.value, path, sheet, rows) : text.diagnostics;
    found.insert(found.end(), some.begin(), some.end());
  }
  for (RowFile& file : rows.files) file.licence = options.licence;
  return found;
}

/// The first rejections of each code, and how many more there are.
void report_some(const Io& io, const Diagnostics& found) {
  std::map<std::string, int> seen;
  Diagnostics shown;
  for (const Diagnostic& d : found) {
    if (++seen[d.code] <= 10 || d.severity == Severity::error) shown.push_back(d);
  }
  io.report(shown);
  for (const auto& [code, count] : seen) {
    if (count > 10) io.message(fmt::format("… and {} more [{}]; --json lists all", count - 10, code));
  }
}

/// The hardware file's text, and residual files to be written beside it.
Diagnostics write_files(const Options& options, Hardware hardware, const KernelSource& fitted) {
  const std::filesystem::path path(options.output);
  bool replaced = false;
  for (auto& source : hardware.sources) {
    if (source->name != fitted.name) continue;
    source = std::make_shared<KernelSource>(fitted);
    replaced = true;
  }
  if (!replaced) hardware.sources.push_back(std::make_shared<KernelSource>(fitted));
  std::string text = write_hardware(hardware);
  Diagnostics found;
  for (const auto& source : hardware.sources) {
    const KernelSourceFiles files = write_kernel_source(*source, path.stem().string());
    text += files.toml;
    const Diagnostics some =
        write_file((path.parent_path() / files.residuals_name).string(), files.residuals);
    found.insert(found.end(), some.begin(), some.end());
    for (const auto& [name, bytes] : files.operations) {
      const Diagnostics wrong = write_file((path.parent_path() / name).string(), bytes);
      found.insert(found.end(), wrong.begin(), wrong.end());
    }
  }
  const Diagnostics some = write_file(options.output, text);
  found.insert(found.end(), some.begin(), some.end());
  return found;
}

/// The kernel source NAME or NAME:SOURCE of another GPU; it lives as long as `hardware`. Reports why not.
std::shared_ptr<const KernelSource> find_sibling(const Io& io, const std::string& named, Hardware& hardware) {
  const std::size_t colon = named.find(':');
  const std::string source = colon == named.npos ? "" : named.substr(colon + 1);
  auto loaded = load_hardware(named.substr(0, colon), hardware_search_path(), source);
  io.report(loaded.diagnostics);
  if (!loaded.ok()) return nullptr;
  hardware = std::move(*loaded.value);
  auto found = find_source(hardware, source);
  if (found == nullptr)
    io.report({diagnose("usage", fmt::format("--sibling: {} has no measured kernel source '{}'",
                                             printable(named.substr(0, colon)), printable(source)))});
  return found;
}

int calibrate_command(const Io& io, Options options) {
  if (!is_plain_name(options.name) || !is_plain_name(options.source)) {
    io.report({diagnose("usage", "--name and --source are plain names: letters, digits, '-', '_' and '.'")});
    return kExitUsage;
  }
  const std::string base = !options.add_to.empty() ? options.add_to
                           : options.sheet.empty() ? options.name
                                                   : options.sheet;
  auto hardware = load_hardware(base, hardware_search_path());
  io.report(hardware.diagnostics);
  if (!hardware.ok()) {
    io.message("the GPU's data sheet comes from the hardware file of --name, or from --sheet NAME|FILE");
    return kExitUsage;
  }
  hardware.value->name = options.name;
  if (options.add_to.empty()) hardware.value->sources.clear();
  MeasuredRows rows;
  const Diagnostics found = read_files(options, hardware.value->sheet, rows);
  report_some(io, found);
  if (has_errors(found)) return kExitUsage;
  CalibrateOptions how;
  how.source = options.source;
  how.framework = options.framework;
  how.keep_rows = options.keep;
  std::shared_ptr<const KernelSource> before;
  if (options.merge) {
    before = find_source(*hardware.value, options.source);
    how.merge_into = before.get();
    if (before != nullptr && how.framework.empty()) how.framework = before->framework;
  }
  Hardware other;
  std::shared_ptr<const KernelSource> sibling;
  if (!options.sibling.empty()) {
    sibling = find_sibling(io, options.sibling, other);
    if (sibling == nullptr) return kExitUsage;
    how.sibling = sibling.get();
    how.framework += fmt::format("{}beside {} {} where rows are few", how.framework.empty() ? "" : "; ",
                                 other.name, sibling->name);
  }
  MeasuredRows clocked;
  if (!options.clock_from.empty()) {
    const auto text = read_packed_text_file(options.clock_from);
    const Diagnostics wrong =
        text.ok() ? read_measurements(*text.value, options.clock_from, hardware.value->sheet, clocked)
                  : text.diagnostics;
    io.report(wrong);
    if (has_errors(wrong)) return kExitUsage;
    how.clock_rows = &clocked;
  }
  std::optional<Progress> progress(std::in_place, io, "fitting", "rows");
  const std::size_t all = rows.gemm.size() + rows.attention.size() + rows.elementwise.size() +
                          rows.layers.size() + rows.operations.size();
  std::size_t done = 0;
  how.progress = [&](const std::string& what, std::size_t count) {
    progress->say(fmt::format("fitting {} ({} rows)", what, count));
    progress->update(done, all);
    done += count;
    if (!io.progress) io.message(fmt::format("fitting {}: {} rows", what, count));
  };
  const auto result = calibrate(hardware.value->sheet, rows, how);
  progress.reset();  // gone before anything is reported
  io.report(result.diagnostics);
  if (!result.ok()) return kExitUsage;
  const Diagnostics written = write_files(options, std::move(*hardware.value), result.value->source);
  io.report(written);
  if (has_errors(written)) return kExitUsage;
  if (io.json) {
    io.print_json(calibration_json(*result.value, found));
  } else {
    io.print(calibration_text(*result.value, io.look()));
  }
  return kExitOk;
}

}  // namespace

void add_hardware_calibrate(Args& hardware) {
  auto options = std::make_shared<Options>();
  Args args = hardware.subcommand("calibrate",
                                  "fits a hardware file to measured rows; errors by folds of unseen sites");
  args.positionals("ROWS", options->rows, "CSV files of measured rows (docs/accuracy.md, measured/README.md)")
      .option("--name", options->name, "the GPU: its known hardware file gives the data sheet")
      .option("-o,--output", options->output,
              "the hardware file to write; residuals go beside it as STEM-SOURCE.bin")
      .option("--source", options->source, "name of the kernel source (default: measured)")
      .option("--framework", options->framework, "versions of what ran the kernels, for the file")
      .option("--licence", options->licence, "licence of the rows, for the file")
      .option("--sheet", options->sheet, "take the data sheet from this hardware instead")
      .option("--add-to", options->add_to, "keep this hardware file's other kernel sources")
      .option(
          "--sibling", options->sibling,
          "NAME or NAME:SOURCE of a GPU measured well: its fit is corrected by these rows, which may be few")
      .option("--clock-from", options->clock_from,
              "a file of hardware submit whose GEMMs, not fitted, say at which SM clock these rows hold")
      .flag("--merge", options->merge,
            "keep what the source of --add-to has fitted already, where these rows do not say it anew")
      .flag("--keep-rows", options->keep,
            "keep the measurements, to be shown beside predictions of those shapes")
      .example("plumbline hardware calibrate measured/h200/*.csv --name h200 --source pytorch -o h200.toml")
      .example(
          "plumbline hardware calibrate my_card.txt --name my_card --sheet my_card.toml --sibling h200 -o "
          "my_card.toml");
  args.run([options](const Io& io) { return calibrate_command(io, *options); });
}

}  // namespace plumbline::cli
