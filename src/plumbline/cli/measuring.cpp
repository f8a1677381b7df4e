// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/measuring.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <system_error>

#include "plumbline/base/files.h"
#include "plumbline/base/text.h"
#include "plumbline/bench/workload_names.h"
#include "plumbline/cli/recorder.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRecorded = 8;  ///< workloads with tables of their own: each is two processes

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

/// Memory into which the bench, and nothing that it starts, writes: no file can be written over meanwhile.
class HandedMemory {
 public:
  explicit HandedMemory(const char* name) : file_(memfd_create(name, 0)) {}
  ~HandedMemory() {
    if (file_ >= 0) close(file_);
  }
  HandedMemory(const HandedMemory&) = delete;
  HandedMemory& operator=(const HandedMemory&) = delete;

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

Parsed<Json> eval_of(std::string text, Measured& measured) {
  if (text.empty()) return failed<Json>(diagnose("run-no-eval", "the bench wrote no eval JSON"));
  Parsed<Json> json = parse_json(text, "the bench's eval JSON");
  if (json.ok() && (!json.value->is_object() || !json.value->contains("performance") ||
                    !(*json.value)["performance"].is_object())) {
    return failed<Json>(diagnose("run-no-eval", "the eval JSON has no performance block"));
  }
  measured.files.emplace_back("eval.json", std::move(text));
  return json;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> package_environment() {
  const std::string package = python_package_path();
  if (package.empty()) return {};
  const char* before = std::getenv("PYTHONPATH");
  return {{"PYTHONPATH", before != nullptr && *before != '\0' ? package + ":" + before : package}};
}

std::string default_run_name() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
  return text;
}

Diagnostics measuring_trouble() {
  const char* device = std::getenv("PLUMBLINE_TIMING_DEVICE");
  if (has_cuda_driver() || (device != nullptr && std::string_view(device) == "scripted")) return {};
  return {diagnose("run-no-cuda",
                   "there is no CUDA driver here (libcuda.so.1), so there is no GPU to measure on")};
}

Parsed<std::string> new_run_folder(const Card& card, const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos || name.starts_with("."))
    return failed<std::string>(diagnose("usage", "--name takes a plain folder name"));
  std::error_code failure;
  const std::string folder = fs::absolute(fs::path(card.runs) / name).string();
  if (fs::exists(folder, failure))
    return failed<std::string>(diagnose("run-exists", "the card has a run of that name", {folder, 0, 0}));
  fs::create_directories(fs::path(folder).parent_path(), failure);
  if (failure || access(fs::path(folder).parent_path().c_str(), W_OK) != 0) {
    return failed<std::string>(
        diagnose("file-unwritable", failure ? failure.message() : "no permission", {folder, 0, 0}));
  }
  return {folder, {}};
}

Diagnostics measure(const MeasureOptions& options, const Card& card,
                    const std::optional<WindowContract>& contract, Measured& measured) {
  const HandedMemory memory("plumbline-eval");
  const HandedMemory phase("plumbline-phase");
  ProcessOptions process;
  process.command = {options.python, fs::absolute(card.bench).string()};
  process.directory = card.folder;
  process.environment = package_environment();
  process.environment.emplace_back("PLUMBLINE_EVAL_FD", std::to_string(memory.file()));
  process.environment.emplace_back("PLUMBLINE_EVAL_PHASE_FD", std::to_string(phase.file()));
  // An environment variable holds 128 KiB; a longer contract is read by the harness itself.
  const bool known = contract && contract->declared();
  if (const std::string text = known ? boundary_of(card, *contract).dump() : "";
      known && text.size() < 100'000)
    process.environment.emplace_back("PLUMBLINE_CONTRACT", text);
  process.limit_s = options.limit_s;
  process.limits = options.limits;
  const ProcessEnd& end = measured.end = run_process(process);
  measured.phase = std::string(trim(phase.text().substr(0, 4096)));
  if (end.timed_out) {
    return {diagnose("record-time-limit",
                     fmt::format("the bench ran longer than {} s and was ended", process.limit_s))};
  }
  if (end.interrupted) return {diagnose("run-no-eval", "a signal ended the bench")};
  if (!end.ok()) {
    return {diagnose("run-no-eval", end.start_failure.empty()
                                        ? fmt::format("the bench ended with status {}", end.status)
                                        : end.start_failure)};
  }
  Parsed<Json> eval = eval_of(memory.text(), measured);
  if (!eval.ok()) return eval.diagnostics;
  measured.eval = std::move(*eval.value);
  measured.files.emplace_back("machine.json", write_json(measured.eval.value("machine", Json::object())));
  return {};
}

Diagnostics keep_run(const Measured& outcome) {
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

void record_tables(const Io& io, const MeasureOptions& options, const Card& card, Measured& outcome) {
  std::error_code ignored;
  if (options.no_record || !fs::exists(card.ncu_run, ignored)) return;
  const Diagnostics trouble = recorder_trouble();
  if (!trouble.empty()) {
    io.report({diagnose("run-not-recorded", trouble.front().message)});
    return;
  }
  const std::vector<std::string> workloads = recorded_workloads(card, outcome.eval);
  LaunchOptions launch{.python = options.python,
                       .script = fs::absolute(card.ncu_run).string(),
                       .directory = card.folder,
                       .environment = package_environment(),
                       .limit_s = options.limit_s};
  for (const char* side : {"student", "reference"}) {
    if (workloads.empty()) launch.launches.emplace_back(side, "");
    for (const std::string& workload : workloads) launch.launches.emplace_back(side, workload);
  }
  io.message(workloads.empty() ? "recording both sides"
                               : fmt::format("recording both sides on {} workloads", workloads.size()));
  const std::vector<Parsed<KernelTable>> tables = record_launches(launch);
  std::set<std::string>
      failed;  // a side is told once: what one workload does not allow, the next does not either
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const auto& [side, workload] = launch.launches[i];
    if (failed.contains(side)) continue;
    if (!tables[i].ok()) {
      failed.insert(side);
      io.report({diagnose("run-not-recorded", fmt::format("{}{}{}: {}", side, workload.empty() ? "" : " on ",
                                                          workload, tables[i].diagnostics.front().message))});
      continue;
    }
    const char* file = side == "student" ? "student.table.json" : "ref.table.json";
    const auto keep_table = [&](const std::string& name) {
      outcome.files.emplace_back(name, write_json(to_json(*tables[i].value)));
      outcome.tables.push_back(name);
    };
    if (workloads.empty() || workload == workloads.front()) keep_table(file);
    if (!workload.empty()) keep_table(fmt::format("tables/{}/{}", workload, file));
  }
}

}  // namespace plumbline::cli
