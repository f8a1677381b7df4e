// SPDX-License-Identifier: Apache-2.0
// `plumbline bench FILE.py`: the static checks alone, without running anything.
#include "plumbline/bench/report.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "plumbline/base/codes.h"
#include "plumbline/cli/bench_request.h"
#include "plumbline/cli/commands.h"
#include "plumbline/report/text_table.h"

namespace plumbline::cli {
namespace {

struct Options {
  std::string bench;
  std::string ncu_run;
  std::string prep;
  bool no_prep = false;
  bool strict = false;
};

/// A file that the command line names must be there.
Diagnostics missing(const Options& options) {
  Diagnostics out;
  for (const std::string& path : {options.bench, options.ncu_run}) {
    std::error_code error;
    const auto status = std::filesystem::symlink_status(path, error);
    if (!path.empty() && status.type() == std::filesystem::file_type::not_found) {
      out.push_back(diagnose("file-missing", "no such file", {path}));
    }
  }
  return out;
}

std::string verdict(const Options& options, const BenchReport& report, bool refused) {
  if (refused) {
    const std::size_t count = report.findings.size() + (options.strict ? report.warnings.size() : 0);
    return fmt::format("{}: refused, {} finding{}", options.bench, count, count == 1 ? "" : "s");
  }
  return fmt::format("{}: nothing refuses it; prep {}{}", options.bench, report.prep.value_or("none"),
                     report.warnings.empty() ? "" : fmt::format("; warnings: {}", report.warnings.size()));
}

int bench(const Io& io, const Options& options) {
  if (const Diagnostics absent = missing(options); !absent.empty()) {
    io.report(absent);
    return kExitUsage;
  }
  BenchRequest request = bench_request(options.bench, options.ncu_run);
  if (!options.prep.empty()) request.prep = options.prep;
  if (options.no_prep) request.needs_prep = false;
  const BenchReport report = check_bench(request);
  const bool refused = refuses(report.findings) || (options.strict && !report.warnings.empty());
  if (io.json) {
    io.print_json(to_json(report));
  } else {
    report_with_fixes(io, report.findings);
    io.report(to_diagnostics(report.warnings));
    io.print(styled(verdict(options, report, refused), refused ? Style::bad : Style::good, io.color_out) +
             "\n");
  }
  return refused ? kExitRefused : kExitOk;
}

}  // namespace

void add_bench(Args& root) {
  auto options = std::make_shared<Options>();
  Args args = root.subcommand("bench", "reads a bench and its launch script; refuses what is unfair");
  args.positional("FILE", options->bench, "bench.py; in a card, window.toml says whether prep is needed")
      .option("--ncu", options->ncu_run, "the profiler's launch script")
      .option("--prep", options->prep,
              "the prep step that the launch script must call (default: the bench's)")
      .flag("--no-prep", options->no_prep, "no tensor is made by a prep step")
      .flag("--strict", options->strict, "warnings refuse too")
      .example("plumbline bench operators/attention_backward_prep/eval/bench.py");
  args.status(kExitRefused, "a rule refuses the bench");
  args.run([options](const Io& io) { return bench(io, *options); });
}

}  // namespace plumbline::cli
