// SPDX-License-Identifier: Apache-2.0
#include "plumbline/bench/report.h"

#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "plumbline/base/files.h"
#include "plumbline/bench/boundary.h"
#include "plumbline/bench/check.h"
#include "plumbline/bench/modules.h"
#include "plumbline/bench/warnings.h"

namespace plumbline {
namespace {

void append(Findings& to, Findings from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

std::optional<std::string> problem_text(const std::string& path) {
  return path.empty() ? std::nullopt : read_file(path).value;
}

}  // namespace

BenchReport check_bench(const BenchRequest& request) {
  BenchReport report;
  PythonFile bench = read_python_file(request.bench, "bench-syntax");
  append(report.findings, std::move(bench.findings));
  append(report.warnings, std::move(bench.warnings));
  ModuleSet modules(request.folder);
  WorkloadsAnswer workloads;
  std::optional<std::string> prep = request.prep;
  if (bench.tree) {
    PrepAnswer answer = check_prep(*bench.tree);
    report.prep = answer.name;
    if (!prep) prep = answer.name;
    const bool refused = request.needs_prep && !answer.findings.empty();
    if (request.needs_prep) append(report.findings, std::move(answer.findings));
    workloads = check_workloads(*bench.tree, problem_text(request.problem));
    report.times_workloads = workloads.times_workloads;
    std::optional<std::string> followed = refused ? std::nullopt : report.prep;
    Findings more = bench_warnings(*bench.tree, followed, workloads.leaderboard, modules);
    if (request.contract != nullptr && bench.tree->nodes().size() <= kMostNodesExamined) {
      append(more, check_boundary(*bench.tree, *request.contract, modules));
    }
    for (Finding& finding : more) {
      (finding.diagnostic.severity == Severity::warning ? report.warnings : report.findings)
          .push_back(std::move(finding));
    }
  }
  PythonFile script =
      request.ncu_run.empty() ? PythonFile{} : read_python_file(request.ncu_run, "ncu-syntax");
  append(report.findings, std::move(script.findings));
  append(report.warnings, std::move(script.warnings));
  if (script.tree) {
    if (prep && (request.needs_prep || request.prep))
      append(report.findings, check_ncu_run(*script.tree, *prep));
    append(report.warnings, script_warnings(*script.tree, bench.tree ? &*bench.tree : nullptr, prep,
                                            wrapper_commands(request.ncu_run)));
  }
  append(report.findings, std::move(workloads.findings));
  return report;
}

Json to_json(const BenchReport& report) {
  return {{"prep", report.prep ? Json(*report.prep) : Json(nullptr)},
          {"times_workloads", report.times_workloads ? Json(*report.times_workloads) : Json(nullptr)},
          {"findings", to_json(report.findings)},
          {"warnings", to_json(report.warnings)}};
}

}  // namespace plumbline
