// SPDX-License-Identifier: Apache-2.0
// `plumbline run CARD`: measures the card, records both sides, keeps the run folder.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "plumbline/base/files.h"
#include "plumbline/base/numbers.h"
#include "plumbline/bench/workload_names.h"
#include "plumbline/cli/commands.h"
#include "plumbline/cli/preflight.h"
#include "plumbline/cli/process.h"
#include "plumbline/cli/recorder.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRecorded = 8;  ///< workloads with tables of their own: each is two processes

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
  std::vector<std::pair<std::string, std::string>> files;  ///< name and text of what the folder is to hold
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

/// What the bench holds each side to, as this tool has read it: the harness then needs no reader of TOML.
Json boundary_of(const Card& card, const WindowContract& contract) {
  const auto side = [](const Side& from) {
    Json names = {{"inputs", Json::array()}, {"outputs", Json::array()}};
    for (const auto& one : from.inputs) names["inputs"].push_back(one.text);
    for (const auto& one : from.outputs) names["outputs"].push_back(one.text);
    return names;
  };
  return {{"card_folder", fs::absolute(card.folder).string()},
          {"reference", side(contract.reference)},
          {"student", side(contract.student)}};
}

/// Why nothing can be measured here, or nothing. The fake device of the tests needs no GPU.
Diagnostics measuring_trouble() {
  const char* device = std::getenv("PLUMBLINE_TIMING_DEVICE");
  if (has_cuda_driver() || (device != nullptr && std::string_view(device) == "scripted")) return {};
  return {diagnose("run-no-cuda",
                   "there is no CUDA driver here (libcuda.so.1), so there is no GPU to measure on")};
}

/// Memory into which the bench, and nothing that it starts, writes the eval: no file can be written over
/// meanwhile.
class EvalMemory {
 public:
  EvalMemory() : file_(memfd_create("plumbline-eval", 0)) {}
  ~EvalMemory() {
    if (file_ >= 0) close(file_);
  }
  EvalMemory(const EvalMemory&) = delete;
  EvalMemory& operator=(const EvalMemory&) = delete;

  int file() const { return file_; }
  std::string text() const {
    std::string all;
    char part[65536];
    for (off_t at = 0;;) {
      const ssize_t size = pread(file_, part, sizeof part, at);
      if (size <= 0) return all;
      all.append(part, static_cast<std::size_t>(size));
      at += size;
    }
  }

 private:
  int file_;
};

Parsed<Json> measure(const Options& options, const Card& card, const std::optional<WindowContract>& contract,
                     Outcome& outcome) {
  const EvalMemory memory;
  ProcessOptions process;
  process.command = {options.python, fs::absolute(card.bench).string()};
  process.directory = card.folder;
  process.environment = environment();
  process.environment.emplace_back("PLUMBLINE_EVAL_FD", std::to_string(memory.file()));
  // An environment variable holds 128 KiB; a longer contract is read by the harness itself.
  const bool known = contract && contract->declared();
  if (const std::string text = known ? boundary_of(card, *contract).dump() : "";
      known && text.size() < 100'000)
    process.environment.emplace_back("PLUMBLINE_CONTRACT", text);
  process.limit_s = options.limit_s.value_or(900);
  const ProcessEnd end = run_process(process);
  if (end.timed_out) {
    return failed<Json>(diagnose(
        "record-time-limit", fmt::format("the bench ran longer than {} s and was ended", process.limit_s)));
  }
  if (end.interrupted) return failed<Json>(diagnose("run-no-eval", "a signal ended the bench"));
  if (!end.ok()) {
    return failed<Json>(diagnose(
        "run-no-eval", end.start_failure.empty() ? fmt::format("the bench ended with status {}", end.status)
                                                 : end.start_failure));
  }
  std::string text = memory.text();
  if (text.empty()) return failed<Json>(diagnose("run-no-eval", "the bench wrote no eval JSON"));
  Parsed<Json> json = parse_json(text, "the bench's eval JSON");
  if (json.ok() && (!json.value->is_object() || !json.value->contains("performance") ||
                    !(*json.value)["performance"].is_object())) {
    return failed<Json>(diagnose("run-no-eval", "the eval JSON has no performance block"));
  }
  outcome.files.emplace_back("eval.json", std::move(text));
  return json;
}

/// Writes the run folder whole or not at all: beside its place and renamed there, by a process that no signal
/// to this one reaches.
Diagnostics keep(const Outcome& outcome) {
  const fs::path target = outcome.folder;
  const fs::path half = target.parent_path() / ("." + target.filename().string() + ".partial");
  const pid_t writer = fork();
  if (writer == 0) {
    setsid();
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(number, SIG_IGN);
    std::error_code failure;
    fs::remove_all(half, failure);
    bool written = fs::create_directories(half, failure);
    for (const auto& [name, text] : outcome.files) {
      written = written && (fs::create_directories((half / name).parent_path(), failure) || !failure) &&
                !has_errors(write_file((half / name).string(), text));
    }
    if (written) fs::rename(half, target, failure);
    if (!written || failure) {
      fs::remove_all(half, failure);
      _exit(1);
    }
    _exit(0);
  }
  int status = 1;
  if (writer < 0 || waitpid(writer, &status, 0) != writer || status != 0)
    return {diagnose("file-unwritable", "the run folder could not be written", {outcome.folder, 0, 0})};
  return {};
}

/// Records one side, of a workload where one is named; a failure is a warning, since the readings stand.
std::optional<std::string> record_side(const Io& io, const Options& options, const Card& card,
                                       const std::string& side, const std::string& workload) {
  io.message(fmt::format("recording the {}{}{}", side, workload.empty() ? "" : " on ", workload));
  RecordOptions record;
  record.command = {options.python, fs::absolute(card.ncu_run).string(), side};
  if (!workload.empty()) record.command.push_back(workload);
  record.directory = card.folder;
  record.environment = environment();
  record.limit_s = options.limit_s.value_or(900);
  const Parsed<KernelTable> table = record_command(record);
  if (table.ok()) return write_json(to_json(*table.value));
  io.report({diagnose("run-not-recorded", fmt::format("{}{}{}: {}", side, workload.empty() ? "" : " on ",
                                                      workload, table.diagnostics.front().message))});
  return {};
}

/// The workloads that are recorded one by one: those of the eval, where the launch script takes a name. First
/// the campaign's, whose tables stand for the run.
std::vector<std::string> recorded_workloads(const Card& card, const Json& eval) {
  const Json list = eval["performance"].value("workloads", Json::array());
  std::vector<std::string> names;
  if (!list.is_array() || list.size() < 2 || !takes_workload(card.ncu_run)) return {};
  for (const Json& one : list) {
    if (!one.is_object() || !one.contains("name") || !one["name"].is_string()) return {};
    const std::string name = one["name"];
    if (name.empty() || name.starts_with(".") || name.find('/') != std::string::npos) continue;
    const bool campaign = one.contains("campaign") && one["campaign"] == true;
    names.insert(campaign ? names.begin() : names.end(), name);
  }
  if (names.size() > kMostRecorded) names.resize(kMostRecorded);
  return names;
}

void record_tables(const Io& io, const Options& options, const Card& card, Outcome& outcome) {
  std::error_code ignored;
  if (options.no_record || !fs::exists(card.ncu_run, ignored)) return;
  const Diagnostics trouble = recorder_trouble();
  if (!trouble.empty()) {
    io.report({diagnose("run-not-recorded", trouble.front().message)});
    return;
  }
  const std::vector<std::string> workloads = recorded_workloads(card, outcome.eval);
  const auto keep_table = [&](const std::string& name, const std::string& text) {
    outcome.files.emplace_back(name, text);
    outcome.tables.push_back(name);
  };
  for (const auto& [side, file] :
       {std::pair("student", "student.table.json"), std::pair("reference", "ref.table.json")}) {
    if (workloads.empty()) {
      if (const auto table = record_side(io, options, card, side, "")) keep_table(file, *table);
      continue;
    }
    for (const std::string& workload : workloads) {
      const auto table = record_side(io, options, card, side, workload);
      if (!table) break;  // what one workload does not allow, the next does not either
      if (workload == workloads.front()) keep_table(file, *table);
      keep_table(fmt::format("tables/{}/{}", workload, file), *table);
    }
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
  fs::create_directories(fs::path(outcome.folder).parent_path(), failure);
  if (failure || access(fs::path(outcome.folder).parent_path().c_str(), W_OK) != 0) {
    io.report(
        {diagnose("file-unwritable", failure ? failure.message() : "no permission", {outcome.folder, 0, 0})});
    return kExitUsage;
  }
  io.message("measuring " + card.value->name);
  Parsed<Json> eval = measure(options, *card.value, checks.contract, outcome);
  if (!eval.ok()) {
    io.report(eval.diagnostics);
    return kExitUsage;
  }
  outcome.eval = std::move(*eval.value);
  outcome.files.emplace_back("machine.json", write_json(outcome.eval.value("machine", Json::object())));
  record_tables(io, options, *card.value, outcome);
  if (const Diagnostics trouble = keep(outcome); !trouble.empty()) {
    io.report(trouble);
    return kExitUsage;
  }
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
