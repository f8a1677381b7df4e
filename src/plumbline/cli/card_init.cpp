// SPDX-License-Identifier: Apache-2.0
// `plumbline card init NAME`: a whole card, out of nothing or of a board's problem.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "plumbline/base/files.h"
#include "plumbline/base/json.h"
#include "plumbline/base/text.h"
#include "plumbline/bench/modules.h"
#include "plumbline/cards/new_card.h"
#include "plumbline/cli/commands.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string name;
  std::string from;
  std::string student;
};

constexpr std::size_t kMostSiblings = 1000;

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool occupied(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

/// Where a card of that name is to lie: a plain name goes under operators/, where there is such a folder.
fs::path place_of(const std::string& name) {
  const bool plain = name.find('/') == std::string::npos;
  fs::path path = fs::path(plain && is_folder("operators") ? "operators" : "") / name;
  path = path.lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

Parsed<PythonInput> read_python(const std::string& path) {
  const Parsed<std::string> text = read_file(path, kMaxPythonBytes);
  if (!text.ok()) return {std::nullopt, text.diagnostics};
  PythonInput input{*text.value, path, {}};
  std::error_code error;
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const fs::path& beside = it->path();
    const bool package = is_folder(beside) && occupied(beside / "__init__.py");
    if ((beside.extension() == ".py" && beside.filename() != fs::path(path).filename()) || package) {
      if (input.siblings.size() < kMostSiblings) input.siblings.push_back(beside.stem().string());
    }
  }
  return {std::move(input), {}};
}

/// A definition, and what lies beside it as its board lays it out.
Parsed<DefinitionInput> read_definition(const fs::path& path, bool folder) {
  DefinitionInput input;
  input.file = (folder ? path / "definition.json" : path).string();
  const Parsed<std::string> text = read_text_file(input.file);
  if (!text.ok()) return {std::nullopt, text.diagnostics};
  input.definition = *text.value;
  const fs::path whole = fs::absolute(input.file).lexically_normal();
  std::vector<fs::path> candidates;
  if (folder) {
    input.board = "sol-execbench";
    candidates = {path / "workload.jsonl", path / "workloads.jsonl"};
    input.root = fs::absolute(path).lexically_normal().string();
    const Parsed<std::string> reference = read_text_file((path / "reference.py").string());
    if (reference.ok()) input.reference = *reference.value;
  } else {
    input.board = "flashinfer-bench";
    // definitions/TYPE/NAME.json of a trace set: its workloads are workloads/TYPE/NAME.jsonl.
    const std::string inside = "/definitions/";
    const std::string at = whole.string();
    if (const std::size_t cut = at.rfind(inside); cut != std::string::npos) {
      input.root = at.substr(0, cut);
      candidates.push_back(
          (fs::path(input.root) / "workloads" / at.substr(cut + inside.size())).replace_extension(".jsonl"));
    }
    candidates.push_back(fs::path(whole).replace_extension(".jsonl"));
    candidates.push_back(whole.parent_path() / "workload.jsonl");
  }
  for (const fs::path& candidate : candidates) {
    if (!occupied(candidate)) continue;
    const Parsed<std::string> lines = read_text_file(candidate.string());
    if (!lines.ok()) return {std::nullopt, lines.diagnostics};
    input.workloads = *lines.value;
    input.workloads_file = candidate.lexically_proximate(fs::current_path()).string();
    break;
  }
  // Only files that the workloads name need the folder.
  if (!input.workloads || input.workloads->find("safetensors") == std::string::npos) input.root.clear();
  return {std::move(input), {}};
}

Parsed<NewCard> make_card(const Options& options, const std::string& name) {
  std::optional<PythonInput> student;
  if (!options.student.empty()) {
    Parsed<PythonInput> read = read_python(options.student);
    if (!read.ok()) return {std::nullopt, read.diagnostics};
    student = std::move(*read.value);
  }
  if (options.from.empty()) {
    if (student) return failed<NewCard>(diagnose("usage", "--student goes with --from"));
    return {blank_card(name), {}};
  }
  const fs::path from(options.from);
  const bool folder = is_folder(from);
  if (folder && !occupied(from / "definition.json")) {
    return failed<NewCard>(diagnose("problem-not-converted",
                                    "the folder holds no definition.json, as a problem of SOL-ExecBench does",
                                    {options.from}));
  }
  if (folder || from.extension() == ".json") {
    const Parsed<DefinitionInput> input = read_definition(from, folder);
    return input.ok() ? card_from_definition(name, *input.value, student)
                      : Parsed<NewCard>{std::nullopt, input.diagnostics};
  }
  const Parsed<PythonInput> problem = read_python(options.from);
  if (!problem.ok()) return {std::nullopt, problem.diagnostics};
  if (from.extension() != ".py") {
    return failed<NewCard>(diagnose(
        "problem-not-converted",
        "a problem is a Python file, a definition (.json) or a folder with definition.json", {options.from}));
  }
  return card_from_module(name, *problem.value, student);
}

/// Writes the card beside its place and renames it there: whole or not at all.
Diagnostics write_card(const fs::path& place, const NewCard& card) {
  const fs::path half = place.parent_path() / ("." + place.filename().string() + ".partial");
  std::error_code failure;
  fs::remove_all(half, failure);
  Diagnostics messages;
  for (const CardFile& file : card.files) {
    const fs::path path = half / file.path;
    fs::create_directories(path.parent_path(), failure);
    if (failure) break;
    messages = write_file(path.string(), file.text);
    if (has_errors(messages)) break;
  }
  if (!failure && !has_errors(messages)) fs::rename(half, place, failure);
  if (failure) messages = {diagnose("file-unwritable", failure.message(), {place.string()})};
  if (has_errors(messages)) fs::remove_all(half, failure);
  return messages;
}

int init(const Io& io, const Options& options) {
  const fs::path place = place_of(options.name);
  const std::string name = place.filename().string();
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  if (name.empty() || name.front() == '.' || !std::all_of(name.begin(), name.end(), plain)) {
    io.report(
        {diagnose("usage", "NAME ends in letters, digits, '_', '-' and '.': " + in_quotes(options.name))});
    return kExitUsage;
  }
  if (occupied(place)) {
    io.report({diagnose("card-exists", "there is something of that name already; it was not touched",
                        {place.string()})});
    return kExitUsage;
  }
  const Parsed<NewCard> card = make_card(options, name);
  Diagnostics messages = card.diagnostics;
  if (card.ok()) messages = write_card(place, *card.value);
  io.report(messages);
  if (!card.ok() || has_errors(messages)) return kExitUsage;
  Json files = Json::array();
  std::string listed;
  for (const CardFile& file : card.value->files) {
    files.push_back(file.path);
    listed += "  " + file.path + "\n";
  }
  if (io.json) {
    io.print_json(
        {{"card", name}, {"folder", place.string()}, {"wrote", files}, {"student", card.value->student}});
  } else {
    io.print(fmt::format("wrote {}\n{}student: {}\nnext: plumbline start {}, then plumbline run {}\n",
                         place.string(), listed, card.value->student, place.string(), place.string()));
  }
  return kExitOk;
}

}  // namespace

void add_card(Args& root) {
  auto options = std::make_shared<Options>();
  Args card = root.subcommand("card", "new cards: contract, bench, launch script and both sides");
  Args args = card.subcommand(
      "init",
      "writes a whole card that starts and runs as it is, out of nothing or of a public board's problem");
  args.positional("NAME", options->name,
                  "the new card's folder; a plain name goes under operators/, where there is one")
      .option("--from", options->from,
              "a problem: KernelBench's .py, SOL-ExecBench's folder, FlashInfer-Bench's definition .json")
      .option("--student", options->student, "with --from: the file of the student's ModelNew, or run()")
      .example("plumbline card init my_gemm --from level1/1_square_matmul.py");
  args.run([options](const Io& io) { return init(io, *options); });
}

}  // namespace plumbline::cli
