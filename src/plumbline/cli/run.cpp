// SPDX-License-Identifier: Apache-2.0
// `plumbline run CARD`: measures the card, records both sides, keeps the run folder.
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "plumbline/base/files.h"
#include "plumbline/base/numbers.h"
#include "plumbline/cli/commands.h"
#include "plumbline/cli/preflight.h"
#include "plumbline/cli/process.h"
#include "plumbline/cli/recorder.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string card;
  std::string name;
  std::string python = "python3";
  std::optional<double> limit_s;
  bool no_record = false;
  PreflightOptions preflight;
};

/// What a run left in its folder.
struct Outcome {
  std::string folder;
  Json eval;
  std::vector<std::string> tables;
};

/// "20261130-204205", UTC: only the command line may read the clock.
std::string default_name() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
  return text;
}

std::vector<std::pair<std::string, std::string>> environment() {
  const std::string package = python_package_path();
  if (package.empty()) return {};
  const char* before = std::getenv("PYTHONPATH");
  return {{"PYTHONPATH", before != nullptr && *before != '\0' ? package + ":" + before : package}};
}

/// Why nothing can be measured here, or nothing. The fake device of the tests needs no GPU.
Diagnostics measuring_trouble() {
  const char* device = std::getenv("PLUMBLINE_TIMING_DEVICE");
  if (has_cuda_driver() || (device != nullptr && std::string_view(device) == "scripted")) return {};
  return {diagnose("run-no-cuda",
                   "there is no CUDA driver here (libcuda.so.1), so there is no GPU to measure on")};
}

Parsed<Json> measure(const Options& options, const Card& card, const std::string& folder) {
  const std::string eval = folder + "/eval.json";
  ProcessOptions process;
  process.command = {options.python, fs::absolute(card.bench).string()};
  process.directory = card.folder;
  process.environment = environment();
  process.environment.emplace_back("PLUMBLINE_EVAL_OUT", eval);
  process.limit_s = options.limit_s.value_or(900);
  const ProcessEnd end = run_process(process);
  if (end.timed_out) {
    return failed<Json>(diagnose(
        "record-time-limit", fmt::format("the bench ran longer than {} s and was ended", process.limit_s)));
  }
  std::error_code ignored;
  if (!end.ok()) {
    return failed<Json>(diagnose(
        "run-no-eval", end.start_failure.empty() ? fmt::format("the bench ended with status {}", end.status)
                                                 : end.start_failure));
  }
  if (!fs::exists(eval, ignored))
    return failed<Json>(diagnose("run-no-eval", "the bench wrote no eval JSON"));
  const Parsed<std::string> text = read_text_file(eval);
  if (!text.ok()) return {std::nullopt, text.diagnostics};
  Parsed<Json> json = parse_json(*text.value, eval);
  if (json.ok() && (!json.value->is_object() || !json.value->contains("performance") ||
                    !(*json.value)["performance"].is_object())) {
    return failed<Json>(diagnose("run-no-eval", "the eval JSON has no performance block", {eval, 0, 0}));
  }
  return json;
}

/// Records one side; a failure is a warning, since the readings stand.
bool record_side(const Io& io, const Options& options, const Card& card, const std::string& side,
                 const std::string& target) {
  RecordOptions record;
  record.command = {options.python, fs::absolute(card.ncu_run).string(), side};
  record.directory = card.folder;
  record.environment = environment();
  record.limit_s = options.limit_s.value_or(900);
  const Parsed<KernelTable> table = record_command(record);
  if (!table.ok()) {
    io.report({diagnose("run-not-recorded", fmt::format("{}: {}", side, table.diagnostics.front().message))});
    return false;
  }
  const Diagnostics written = write_file(target, write_json(to_json(*table.value)));
  io.report(written);
  return !has_errors(written);
}

void record_tables(const Io& io, const Options& options, const Card& card, Outcome& outcome) {
  std::error_code ignored;
  if (options.no_record || !fs::exists(card.ncu_run, ignored)) return;
  const Diagnostics trouble = recorder_trouble();
  if (!trouble.empty()) {
    io.report({diagnose("run-not-recorded", trouble.front().message)});
    return;
  }
  for (const auto& [side, file] :
       {std::pair("student", "student.table.json"), std::pair("reference", "ref.table.json")}) {
    io.message(fmt::format("recording the {}", side));
    if (record_side(io, options, card, side, outcome.folder + "/" + file)) outcome.tables.emplace_back(file);
  }
}

std::string number_or_dash(const Json& value, int digits) {
  return value.is_number() ? format_fixed(value.get<double>(), digits) : "-";
}

/// 0, or 1 when the harness refused a ratio.
int conclude(const Io& io, const Card& card, const Outcome& outcome) {
  const Json& performance = outcome.eval["performance"];
  const bool refused = !performance.value("ratio", Json()).is_number();
  if (performance.contains("refused") && performance["refused"].is_array()) {
    for (const Json& reason : performance["refused"]) {
      if (reason.is_string()) io.report({diagnose("run-refused", reason.get<std::string>())});
    }
  }
  if (io.json) {
    io.print_json({{"card", card.name},
                   {"run", outcome.folder},
                   {"ratio", performance.value("ratio", Json())},
                   {"student_ms", performance.value("student_ms", Json())},
                   {"ref_ms", performance.value("ref_ms", Json())},
                   {"tables", outcome.tables},
                   {"refused", performance.value("refused", Json::array())}});
  } else {
    io.print(fmt::format(
        "{}: raw ratio {} (student {} ms, reference {} ms)\nkept in {}\nnext: plumbline confirm {}\n",
        card.name, number_or_dash(performance.value("ratio", Json()), 4),
        number_or_dash(performance.value("student_ms", Json()), 4),
        number_or_dash(performance.value("ref_ms", Json()), 4), outcome.folder, card.folder));
  }
  return refused ? kExitGate : kExitOk;
}

int run(const Io& io, const Options& options) {
  const Parsed<Card> card = find_card(options.card);
  if (!card.ok()) {
    io.report(card.diagnostics);
    return kExitUsage;
  }
  const Preflight checks = preflight(*card.value, options.preflight);
  io.report(checks.errors);
  io.report(to_diagnostics(checks.findings));
  io.report(to_diagnostics(checks.warnings));
  if (checks.status() != kExitOk) return checks.status();
  std::error_code failure;
  if (!fs::exists(card.value->bench, failure)) {
    io.report({diagnose("run-no-bench", "there is no bench to run", {card.value->bench, 0, 0})});
    return kExitUsage;
  }
  if (const Diagnostics trouble = measuring_trouble(); !trouble.empty()) {
    io.report(trouble);
    return kExitUsage;
  }
  const std::string name = options.name.empty() ? default_name() : options.name;
  if (name.find('/') != std::string::npos || name.starts_with(".")) {
    io.report({diagnose("usage", "--name takes a plain folder name")});
    return kExitUsage;
  }
  Outcome outcome;
  outcome.folder = fs::absolute(fs::path(card.value->runs) / name).string();
  if (fs::exists(outcome.folder, failure)) {
    io.report({diagnose("run-exists", "the card has a run of that name", {outcome.folder, 0, 0})});
    return kExitUsage;
  }
  if (!fs::create_directories(outcome.folder, failure)) {
    io.report({diagnose("file-unwritable", failure.message(), {outcome.folder, 0, 0})});
    return kExitUsage;
  }
  io.message("measuring " + card.value->name);
  Parsed<Json> eval = measure(options, *card.value, outcome.folder);
  if (!eval.ok()) {
    io.report(eval.diagnostics);
    fs::remove(outcome.folder, failure);  // only when nothing was kept in it
    return kExitUsage;
  }
  outcome.eval = std::move(*eval.value);
  io.report(write_file(outcome.folder + "/machine.json",
                       write_json(outcome.eval.value("machine", Json::object()))));
  record_tables(io, options, *card.value, outcome);
  return conclude(io, *card.value, outcome);
}

}  // namespace

void add_run(Args& root) {
  auto options = std::make_shared<Options>();
  Args args = root.subcommand("run", "measures a card, records both sides' kernels, keeps the run folder");
  args.positional("CARD", options->card, "a card's folder, or a name under operators/")
      .option("--name", options->name, "the run's name: its folder under runs/ (default: date and time, UTC)")
      .option("--python", options->python, "the interpreter that has PyTorch (python3)")
      .option("--limit", options->limit_s, "end the bench, or a recording, after so many seconds (900)")
      .flag("--no-record", options->no_record, "readings alone, no kernel tables")
      .flag("--no-reference", options->preflight.no_reference, "the card has no reference to compare with")
      .example("plumbline run operators/attention_backward --name h200");
  args.run([options](const Io& io) { return run(io, *options); });
}

}  // namespace plumbline::cli
