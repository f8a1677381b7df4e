// SPDX-License-Identifier: Apache-2.0
// `plumbline record -- COMMAND…`: the kernel table of the profiled region of a real, un-serialised run.
#include <nlohmann/json.hpp>

#include "plumbline/base/files.h"
#include "plumbline/cli/commands.h"
#include "plumbline/cli/recorder.h"
#include "plumbline/cli/table.h"

namespace plumbline::cli {
namespace {

struct Options {
  RecordOptions record;
  std::optional<double> limit_s;
  std::string output;
  bool md = false;
};

int record(const Io& io, Options& options) {
  if (options.limit_s && !(*options.limit_s > 0)) {
    io.report({diagnose("usage", "--limit takes a number of seconds over 0")});
    return kExitUsage;
  }
  if (options.record.calls && *options.record.calls < 1) {
    io.report({diagnose("usage", "--calls takes a number over 0")});
    return kExitUsage;
  }
  const std::vector<std::string> outputs{options.output, options.record.launches};
  if (const Diagnostics wrong = distinct_outputs(outputs); !wrong.empty()) {
    io.report(wrong);
    return kExitUsage;
  }
  options.record.limit_s = options.limit_s.value_or(options.record.limit_s);
  const std::string package = python_package_path();
  if (!package.empty()) options.record.environment.emplace_back("PLUMBLINE_PYTHON_PACKAGE", package);
  const Parsed<KernelTable> table = record_command(options.record);
  io.report(table.diagnostics);
  if (!table.ok()) return kExitUsage;
  return put_table(io, *table.value, options.output, options.md);
}

}  // namespace

void add_record(Args& root) {
  auto options = std::make_shared<Options>();
  Args args = root.subcommand("record",
                              "runs a command with the recorder injected; the table of the profiled region");
  args.option("-o,--output", options->output, "write the table (plumbline-table/1) to this file")
      .option("--range", options->record.range, "this NVTX range in place of profiler.start() and stop()")
      .option("--calls", options->record.calls,
              "window calls in the region, where the program does not say it")
      .option("--device", options->record.device, "the GPU, by index")
      .option("--limit", options->limit_s, "end the command after so many seconds (600)")
      .option("--launches", options->record.launches, "also write one CSV row for each launch to this file")
      .flag("--md", options->md, "as Markdown, bounded")
      .passthrough(options->record.command)
      .example("plumbline record -o student.table.json -- python eval/ncu_run.py student");
  args.run([options](const Io& io) { return record(io, *options); });
}

}  // namespace plumbline::cli
