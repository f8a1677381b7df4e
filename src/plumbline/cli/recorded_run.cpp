// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/recorded_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "plumbline/base/text.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;

Diagnostic run_missing(const Card& card, const std::string& name, const std::vector<std::string>& runs) {
  if (runs.empty()) return diagnose("run-missing", fmt::format("no recorded run under {}", card.runs));
  const std::vector<std::string_view> candidates(runs.begin(), runs.end());
  const auto near = nearest_name(name, candidates);
  return diagnose("run-missing", fmt::format("no run {} under {}{}; it has {}", cut_middle(name, 100),
                                             card.runs, near ? fmt::format(", did you mean {}?", *near) : "",
                                             cut_middle(fmt::format("{}", fmt::join(runs, ", ")), 300)));
}

/// The file of `folder` that holds one side's table, or "" when there is none.
std::string table_file(const fs::path& folder, const std::string& side, Diagnostics& errors) {
  const fs::path own = folder / (side + ".table.json");
  std::error_code error;
  if (fs::exists(own, error)) return own.string();
  std::vector<std::string> found;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(side + ".") && it->is_regular_file(error)) found.push_back(it->path().string());
  }
  std::sort(found.begin(), found.end());
  if (found.size() > 1) {
    errors.push_back(
        diagnose("run-tables", fmt::format("{} could each be the {} table", fmt::join(found, ", "),
                                           side == "ref" ? "reference's" : "student's")));
  }
  return found.empty() ? std::string() : found.front();
}

std::vector<std::string> folders_of(const fs::path& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_directory(error)) out.push_back(it->path().filename().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

Parsed<RunFiles> complete_run(const Card& card, const RunFiles& given) {
  RunFiles files = given;
  if (!files.eval.empty() && files.run.empty()) return {std::move(files), {}};
  const std::vector<std::string> runs = list_runs(card);
  if (files.run.empty()) {
    if (runs.empty()) return failed<RunFiles>(run_missing(card, "", runs));
    files.run = runs.back();
    if (runs.size() > 1) {
      files.notes.push_back(
          diagnose("run-chosen", fmt::format("took the run {}, the last by name of {}; --run names another",
                                             files.run, fmt::join(runs, ", "))));
    }
  } else if (std::find(runs.begin(), runs.end(), files.run) == runs.end()) {
    return failed<RunFiles>(run_missing(card, files.run, runs));
  }
  const fs::path folder = fs::path(card.runs) / files.run;
  Diagnostics errors;
  if (files.eval.empty()) files.eval = (folder / "eval.json").string();
  if (files.student_table.empty()) files.student_table = table_file(folder, "student", errors);
  if (files.ref_table.empty()) files.ref_table = table_file(folder, "ref", errors);
  for (const std::string& workload : folders_of(folder / "tables")) {
    TableFiles& tables = files.workload_tables[workload];
    tables.student = table_file(folder / "tables" / workload, "student", errors);
    tables.ref = table_file(folder / "tables" / workload, "ref", errors);
  }
  if (!errors.empty()) return {std::nullopt, std::move(errors)};
  return {std::move(files), {}};
}

}  // namespace plumbline::cli
