// SPDX-License-Identifier: Apache-2.0
// `plumbline import FILE…`: any profiler's file to a kernel table.
#include <unistd.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/base/files.h"
#include "plumbline/cli/commands.h"
#include "plumbline/cli/progress.h"
#include "plumbline/cli/table.h"
#include "plumbline/profile/import.h"

namespace plumbline::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string output;
  bool md = false;
  ImportOptions import;
};

/// Every file's table, or none when one of them fails; diagnostics are reported as they come.
std::vector<KernelTable> import_all(const Io& io, Options& options) {
  std::vector<KernelTable> tables;
  bool failed = false;
  for (const std::string& file : options.files) {
    Parsed<KernelTable> table;
    {
      Progress progress(io, "reading " + file, "bytes");  // gone before anything is reported
      options.import.progress = [&](std::uint64_t done, std::uint64_t all) { progress.update(done, all); };
      table = file == "-" ? import_stream(STDIN_FILENO, "<stdin>", options.import)
                          : import_profile(file, options.import);
    }
    io.report(table.diagnostics);
    failed = failed || !table.ok();
    if (table.ok()) tables.push_back(std::move(*table.value));
  }
  if (failed) tables.clear();
  return tables;
}

int import_files(const Io& io, Options& options) {
  if (options.files.size() > 1 && !options.import.ranks) {
    io.report(
        {diagnose("usage", "several files are one table only when they are ranks of one job: say --ranks")});
    return kExitUsage;
  }
  const std::vector<KernelTable> tables = import_all(io, options);
  if (tables.empty()) return kExitUsage;
  const KernelTable table = tables.size() == 1 ? tables.front() : slowest_rank(tables, options.files);
  return put_table(io, table, options.output, options.md);
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Importer& importer : importers()) names.emplace_back(importer.name);
  return names;
}

}  // namespace

void add_import(Args& root) {
  auto options = std::make_shared<Options>();
  Args args = root.subcommand("import", "any profiler's file to a kernel table");
  args.positionals("FILE", options->files, "a profiler's file, or - for standard input; several with --ranks")
      .option("-o,--output", options->output, "write the table (plumbline-table/1) to this file")
      .choice("--format", options->import.format, format_names(), "do not detect: take this importer")
      .option("--range", options->import.range,
              "only this NVTX range (NAME or NAME@DOMAIN), annotation or ProfilerStep#N")
      .option("--calls", options->import.calls,
              "window calls in the region; every kernel's launches must divide by it")
      .option("--device", options->import.device, "the GPU, by index, where the file has several")
      .option("--process", options->import.process, "the process, by id, where the file has several")
      .flag("--ranks", options->import.ranks,
            "files, devices or processes are ranks of one job: take the slowest")
      .flag("--md", options->md, "as Markdown, bounded")
      .example("plumbline import ref.csv --calls 2 -o ref.table.json");
  args.run([options](const Io& io) { return import_files(io, *options); });
}

}  // namespace plumbline::cli
