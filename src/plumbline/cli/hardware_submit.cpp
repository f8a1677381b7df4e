// SPDX-License-Identifier: Apache-2.0
// `plumbline hardware submit -o FILE`: measures the card at hand for a few minutes and writes one file of
// rows.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "plumbline/cli/hardware_commands.h"
#include "plumbline/cli/measuring.h"
#include "plumbline/cli/process.h"

namespace plumbline::cli {
namespace {

constexpr double kMostMinutes = 10;
constexpr double kStartSeconds = 180;  ///< to load PyTorch and make the first call of each library

struct Options {
  std::string output, python = "python3", hardware;
  std::optional<double> asked_minutes;
  double minutes = kMostMinutes;
};

Diagnostics trouble_with(const Options& options) {
  if (options.output.empty())
    return {diagnose("usage", "-o FILE is needed: where the measurements are written")};
  if (!(options.minutes > 0) || options.minutes > kMostMinutes)
    return {diagnose("usage", fmt::format("--minutes is over 0 and at most {}", kMostMinutes))};
  const std::filesystem::path folder = std::filesystem::absolute(options.output).parent_path();
  if (access(folder.c_str(), W_OK) != 0)
    return {diagnose("file-unwritable", "no folder that can be written to", {folder.string(), 0, 0})};
  return {};
}

int submit(const Io& io, const Options& options) {
  if (const Diagnostics trouble = trouble_with(options); !trouble.empty()) {
    io.report(trouble);
    return kExitUsage;
  }
  ProcessOptions process;
  process.command = {options.python,
                     "-m",
                     "plumbline.submit",
                     "--out",
                     options.output,
                     "--minutes",
                     fmt::format("{}", options.minutes)};
  process.environment = package_environment();
  process.limit_s = 60 * options.minutes * 1.25 + kStartSeconds;
  io.message(fmt::format("measuring for {} minutes", options.minutes));
  const ProcessEnd end = run_process(process);
  if (!end.ok()) {
    const std::string why = end.timed_out
                                ? fmt::format("it ran longer than {} s and was ended", process.limit_s)
                            : end.interrupted ? "a signal ended it"
                                              : end.start_failure;
    io.report(
        {diagnose("submit-failed", why.empty() ? fmt::format("it ended with status {}", end.status) : why)});
    return kExitUsage;
  }
  return check_tables(io, {options.output}, options.hardware);
}

}  // namespace

void add_hardware_submit(Args& hardware) {
  auto options = std::make_shared<Options>();
  Args args = hardware.subcommand(
      "submit", "measures the card at hand for some minutes and writes one file to calibrate with, checked");
  args.option("-o,--output", options->output, "the file to write (docs/submit.md says what is in it)")
      .option("--minutes", options->asked_minutes, "how long to measure, at most 10 (10)")
      .option("--python", options->python, "the interpreter that has PyTorch (python3)")
      .option("--hardware", options->hardware,
              "the card, for the check (default: the known one of that name and as many SMs)")
      .example("plumbline hardware submit -o my_card.txt --minutes 5");
  args.status(kExitGate, "the file was written, and cannot be believed");
  args.run([options](const Io& io) {
    options->minutes = options->asked_minutes.value_or(options->minutes);
    return submit(io, *options);
  });
}

}  // namespace plumbline::cli
