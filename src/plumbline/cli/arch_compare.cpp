// SPDX-License-Identifier: Apache-2.0
// `plumbline arch compare`: two artifacts, and a gate for CI.
#include "plumbline/report/arch_compare.h"

#include <nlohmann/json.hpp>

#include "plumbline/base/files.h"
#include "plumbline/cli/arch.h"

namespace plumbline::cli {
namespace {

struct Options {
  std::string before;
  std::string after;
  std::optional<double> fail_above;
  bool md = false;
};

Parsed<Artifact> load(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text.ok()) return {std::nullopt, text.diagnostics};
  return parse_artifact(*text.value, path);
}

int run(const Io& io, const Options& options) {
  if (options.fail_above && !(*options.fail_above >= 0)) {
    io.report({diagnose("usage", "--fail-above is a percentage of at least 0")});
    return kExitUsage;
  }
  const auto before = load(options.before);
  const auto after = load(options.after);
  io.report(before.diagnostics);
  io.report(after.diagnostics);
  if (!before.ok() || !after.ok()) return kExitUsage;
  const ArtifactComparison comparison = compare_artifacts(*before.value, *after.value);
  if (comparison.compared == 0) {
    io.report({diagnose("artifact-nothing-common",
                        "the two artifacts share no latency: other GPUs or other layers")});
    return kExitUsage;
  }
  if (io.json) {
    io.print_json(comparison_json(comparison, options.fail_above));
  } else if (options.md) {
    io.print(comparison_markdown(comparison, options.fail_above));
  } else {
    io.print(comparison_text(comparison, options.fail_above, io.look()));
  }
  return options.fail_above && comparison.largest_pct > *options.fail_above ? kExitGate : kExitOk;
}

}  // namespace

void add_arch_compare(Args& arch) {
  auto options = std::make_shared<Options>();
  Args args = arch.subcommand("compare", "two artifacts: what moved, changed rank, is new or gone");
  args.positional("BEFORE", options->before, "an artifact of arch report")
      .positional("AFTER", options->after, "another one")
      .option("--fail-above", options->fail_above,
              "exit 1 when a latency moved by more than this many per cent")
      .flag("--md", options->md, "as Markdown, for a pull request's comment")
      .example("plumbline arch compare main.json branch.json --fail-above 2 --md");
  args.status(kExitGate, "a time moved by more than --fail-above per cent");
  args.run([options](const Io& io) { return run(io, *options); });
}

}  // namespace plumbline::cli
