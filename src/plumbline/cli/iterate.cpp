// SPDX-License-Identifier: Apache-2.0
// `plumbline iterate CARD`: the step of a loop as one command, and one JSON document.
#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "plumbline/cli/commands.h"
#include "plumbline/cli/iterate_step.h"
#include "plumbline/cli/process_tree.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostWatched = 2000;
constexpr std::int64_t kMiB = 1 << 20;

struct Options {
  std::string card;
  StepOptions step;
  std::optional<double> limit_s;
  std::optional<std::int64_t> memory_mib, processes, disk_mib, output_mib, steps;
  bool no_bank = false;
  bool watch = false;
};

/// What a change of the student's files changes: paths, sizes and times of all files of the card but the
/// contract, the reference, eval/, runs/, ledgers and what hides.
std::string look_of_student(const Card& card) {
  std::string look;
  std::error_code error;
  std::size_t seen = 0;
  for (fs::recursive_directory_iterator it(card.folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    const bool top = it.depth() == 0;
    if (name.starts_with(".") || name == "__pycache__" || (top && (name == "eval" || name == "runs"))) {
      it.disable_recursion_pending();
      continue;
    }
    if (top && (name == "window.toml" || name == "reference.py" || name.find(".db") != std::string::npos))
      continue;
    struct stat facts {};
    if (stat(it->path().c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
    look += fmt::format("{} {} {} {}.{}\n", it->path().string(), facts.st_ino, facts.st_size,
                        facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
    if (++seen == kMostWatched) break;
  }
  return look;
}

/// Until the student's files differ from `before` and have been left alone for a moment. False on a signal.
bool wait_for_change(const Card& card, std::string before) {
  bool changed = false;
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (was_interrupted()) return false;
    std::string now = look_of_student(card);
    if (now == before && changed) return true;
    changed = changed || now != before;
    before = std::move(now);
  }
}

int wrong_usage(const Io& io, const std::string& words) {
  io.report({diagnose("usage", words)});
  return kExitUsage;
}

int step(const Io& io, const Card& card, const StepOptions& options, bool line) {
  const Iteration done = iterate_once(io, card, options);
  const Json document = iteration_json(done);
  io.print_document(line ? write_json_line(document) + "\n" : write_json(document));
  std::fflush(stdout);
  if (options.banks && done.banked.is_null()) return kExitUsage;
  return iteration_status(done.outcome);
}

int iterate(const Io& io, const Options& options) {
  const Parsed<Card> card = find_card(options.card);
  io.report(card.diagnostics);
  if (!card.ok()) return kExitUsage;
  if (!(options.limit_s.value_or(1) > 0)) return wrong_usage(io, "--limit takes a number of seconds over 0");
  for (const auto* one :
       {&options.memory_mib, &options.processes, &options.disk_mib, &options.output_mib, &options.steps}) {
    if (*one && (**one < 1 || **one > (std::int64_t{1} << 40)))
      return wrong_usage(io, "--memory, --processes, --disk, --output and --steps take numbers over 0");
  }
  if (options.watch && !options.step.name.empty())
    return wrong_usage(io, "--watch makes many runs: leave out --name");
  StepOptions how = options.step;
  how.banks = !options.no_bank;
  how.measure.limit_s = options.limit_s.value_or(how.measure.limit_s);
  ProcessLimits limits;
  limits.memory_bytes = options.memory_mib ? *options.memory_mib * kMiB : available_memory() / 5 * 4;
  limits.processes = options.processes.value_or(512);
  limits.written_bytes = options.disk_mib.value_or(8192) * kMiB;
  limits.output_bytes = options.output_mib.value_or(64) * kMiB;
  how.measure.limits = limits;
  if (!options.watch) return step(io, *card.value, how, false);
  WatchedSignals signals;
  for (std::int64_t number = 1;; ++number) {
    const std::string before = look_of_student(*card.value);
    const int status = step(io, *card.value, how, true);
    if (was_interrupted() || (options.steps && number == *options.steps)) return status;
    io.message("waiting for a change of the student");
    if (!wait_for_change(*card.value, before)) return status;
  }
}

}  // namespace

void add_iterate(Args& root) {
  auto options = std::make_shared<Options>();
  StepOptions& step = options->step;
  Args args = root.subcommand(
      "iterate", "a loop's step: preflight, bench with limits, judgement, ledger; one JSON verdict");
  args.positional("CARD", options->card, "a card's folder, or a name under operators/")
      .option("--name", step.name, "the run's name: its folder under runs/ (default: date and time, UTC)")
      .option("--python", step.measure.python, "the interpreter that has PyTorch (python3)")
      .option("--gate", step.judge.gate, "the raw ratio that passes (1.0)")
      .option("--limit", options->limit_s, "end the bench, or a recording, after so many seconds (900)")
      .option("--memory", options->memory_mib,
              "MiB that the bench and its children may hold (80 % of what is free)")
      .option("--processes", options->processes, "processes that they may be at once (512)")
      .option("--disk", options->disk_mib, "MiB that they may write (8192)")
      .option("--output", options->output_mib, "MiB that they may print (64)")
      .option("--student-table", step.judge.files.student_table,
              "the student's kernels: nothing is recorded then")
      .option("--ref-table", step.judge.files.ref_table, "the reference's kernels, likewise")
      .option("--calls", step.judge.calls, "window calls in those files, where they do not say")
      .flag("--no-record", step.measure.no_record, "readings only, no kernel tables")
      .flag("--no-reference", step.preflight.no_reference, "the card has no reference to compare with")
      .flag("--strict", step.preflight.strict, "warnings refuse too")
      .option("--note", step.bank.note, "a remark that stays with the run")
      .option("--ledger", step.bank.ledger, "that ledger (default: ledger.db in the card's folder)")
      .flag("--no-bank", options->no_bank, "keep nothing in a ledger")
      .flag("--watch", options->watch, "again whenever the student's files change; a line of JSON each")
      .option("--steps", options->steps, "with --watch: end after so many")
      .example("plumbline iterate operators/my_op --limit 600");
  args.run([options](const Io& io) { return iterate(io, *options); });
}

}  // namespace plumbline::cli
