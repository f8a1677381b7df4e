// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/iterate_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "plumbline/base/numbers.h"
#include "plumbline/ledger/ended.h"
#include "plumbline/ledger/outcome.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;

std::string mib(std::int64_t bytes) {
  return fmt::format("{} MiB", format_fixed(static_cast<double>(bytes) / (1 << 20), 0));
}

std::string limit_words(const ProcessEnd& end, const MeasureOptions& how) {
  const ProcessLimits limits = how.limits.value_or(ProcessLimits{});
  switch (end.exceeded) {
    case Exceeded::nothing:
      return {};
    case Exceeded::time:
      return fmt::format("more than {} s", how.limit_s);
    case Exceeded::memory:
      return fmt::format("{} of memory, {} allowed", mib(end.most_memory), mib(limits.memory_bytes));
    case Exceeded::processes:
      return fmt::format("{} processes at once, {} allowed", end.most_processes, limits.processes);
    case Exceeded::written:
      return fmt::format("{} written, {} allowed", mib(end.written_bytes), mib(limits.written_bytes));
    case Exceeded::output:
      return fmt::format("more than {} of output", mib(limits.output_bytes));
  }
  return {};
}

ledger::BenchEnd bench_end(const Measured& measured, const MeasureOptions& how, const Diagnostics& trouble) {
  using Limit = ledger::BenchEnd::Limit;
  constexpr std::array kLimits = {Limit::none,      Limit::time,    Limit::memory,
                                  Limit::processes, Limit::written, Limit::output};
  const ProcessEnd& end = measured.end;
  ledger::BenchEnd out;
  out.limit = kLimits[static_cast<std::size_t>(end.exceeded)];
  out.limit_words = limit_words(end, how);
  out.phase = measured.phase;
  out.start_failure = end.start_failure;
  out.signal = end.signal;
  out.status = end.signal != 0 ? 0 : end.status;
  out.interrupted = end.interrupted;
  out.memory_kills = end.memory_kills;
  out.eval_trouble = trouble.front().message;
  return out;
}

/// Other users of the GPU that the harness saw.
bool others_on_gpu(const Json& eval) {
  const Json seen = eval.value("machine", Json::object()).value("gpu_processes", Json());
  if (!seen.is_object()) return false;
  return std::any_of(seen.begin(), seen.end(), [](const Json& when) {
    return when.is_object() && when.contains("foreign") && when["foreign"].is_number() &&
           when["foreign"].get<double>() > 0;
  });
}

/// Why a student that failed in its own turn is not to blame, or "".
std::string excuse(const Confirmation& c, const Measured& measured) {
  for (const WorkloadReading& w : c.in.eval.workloads) {
    for (const HarnessFinding& finding : w.findings) {
      if (finding.code == "worker-died" && measured.end.memory_kills)
        return "the machine ran out of memory, and the kernel killed a process";
      if (finding.message.find("out of memory") != std::string::npos && others_on_gpu(measured.eval))
        return "the GPU's memory ran out while other programs were on it";
    }
  }
  return {};
}

void add_next(Iteration& it, const std::string& what, const std::string& why) {
  const auto same = [&](const ReadNext& one) { return one.what == what; };
  if (std::none_of(it.read_next.begin(), it.read_next.end(), same)) it.read_next.push_back({what, why});
}

/// Places first, then what explains them, then the whole report.
void point_on(Iteration& it, const Card& card) {
  for (const Diagnostic& d : it.reasons) {
    if (it.read_next.size() == 4) break;
    if (!d.file.empty() && d.line > 0) add_next(it, fmt::format("{}:{}", d.file, d.line), d.code);
  }
  if (it.outcome == "fail-correctness" || it.outcome == "tampering") add_next(it, card.kernel, "the student");
  std::set<std::string> explained;
  for (const Diagnostic& d : it.reasons) {
    if (explained.size() == 3) break;
    if (explained.insert(d.code).second)
      add_next(it, "plumbline explain " + d.code, "what it means and what to do");
  }
  if (it.outcome == "bench-defect" && it.run.empty()) add_next(it, card.bench, "the bench");
  if (!it.run.empty()) {
    add_next(it, fmt::format("plumbline confirm {} --run {}", card.folder, it.run), "the whole report");
    add_next(it, (fs::path(it.folder) / "eval.json").string(), "every reading");
  }
}

void end_with(Iteration& it, std::string_view outcome, Diagnostics reasons) {
  it.outcome = outcome;
  it.reasons = std::move(reasons);
  it.verdict =
      it.reasons.empty() ? "Nothing was measured." : "Not measured: " + it.reasons.front().message + ".";
}

/// A free name for the run.
std::string free_name(const Card& card, const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  const std::string base = default_run_name();
  std::string name = base;
  std::error_code ignored;
  for (int number = 2; fs::exists(fs::path(card.runs) / name, ignored); ++number)
    name = fmt::format("{}-{}", base, number);
  return name;
}

/// Bench and tables. False when there is nothing to judge: then `it` says why.
bool measure_step(const Io& io, const Card& card, const Preflight& checks, const StepOptions& options,
                  Measured& measured, Iteration& it) {
  if (const Diagnostics trouble = measuring_trouble(); !trouble.empty())
    return end_with(it, "infrastructure", trouble), false;
  const auto folder = new_run_folder(card, free_name(card, options.name));
  if (!folder.ok()) {
    const bool named = folder.diagnostics.front().code != "file-unwritable";
    return end_with(it, named ? "bench-defect" : "infrastructure", folder.diagnostics), false;
  }
  measured.folder = *folder.value;
  io.message("measuring " + card.name);
  const Diagnostics trouble = measure(options.measure, card, checks.contract, measured);
  const ProcessEnd& end = measured.end;
  it.use = {end.seconds, end.most_memory, end.most_processes, end.written_bytes, end.output_bytes};
  if (!trouble.empty()) {
    const ledger::Unmeasured came_to = ledger::judge_end(bench_end(measured, options.measure, trouble));
    it.output = end.output;
    return end_with(it, came_to.outcome, {came_to.reason}), false;
  }
  if (options.judge.files.student_table.empty() && options.judge.files.ref_table.empty())
    record_tables(io, options.measure, card, measured);
  if (const Diagnostics kept = keep_run(measured); !kept.empty())
    return end_with(it, "infrastructure", kept), false;
  it.folder = measured.folder;
  it.run = fs::path(measured.folder).filename().string();
  return true;
}

/// The last reading of the card's series before `banked`.
std::optional<EarlierReading> earlier_reading(const Card& card, const Banked& banked,
                                              const BankOptions& options) {
  const std::string where = options.ledger.empty() ? card_ledger(card) : options.ledger;
  auto opened = ledger::Ledger::open(where, ledger::Access::read);
  if (!opened.ok()) return {};
  const auto run = opened.value->load(banked.id);
  if (!run.ok()) return {};
  ledger::RunFilter filter;
  filter.card = card.name;
  filter.series = run.value->series;
  filter.before = banked.id;
  filter.readings_only = true;
  filter.most = 1;
  const auto lines = opened.value->list(filter);
  if (!lines.ok() || lines.value->empty()) return {};
  const ledger::RunLine& line = lines.value->front();
  return EarlierReading{line.id, line.made_at, *line.raw_ratio};
}

void note_banked(const Io& io, const Parsed<Banked>& banked, Iteration& it) {
  io.report(banked.diagnostics);
  if (banked.ok()) {
    it.banked = to_json(*banked.value);
  } else {
    it.reasons.insert(it.reasons.end(), banked.diagnostics.begin(), banked.diagnostics.end());
  }
}

void judge_step(const Io& io, const Card& card, const StepOptions& options, const Measured& measured,
                Iteration& it) {
  JudgeOptions how = options.judge;
  how.card = card.folder;
  how.files.run = it.run;
  const Judged judged = judge(io, how);
  if (!judged.view)
    return end_with(it, judged.status == kExitRefused ? "refused" : "bench-defect", judged.reasons);
  it.view = *judged.view;
  it.gate = judged.gate;
  it.outcome = ledger::classify(*judged.confirmation);
  it.verdict = judged.view->verdict;
  it.reasons = judged.view->reasons;
  if (it.outcome == "within-noise") {
    it.reasons.insert(
        it.reasons.begin(),
        diagnose("gate-within-noise", fmt::format("the gate of {} lies within the noise of the raw ratio",
                                                  format_double(it.gate))));
    it.verdict = "Not told: " + it.reasons.front().message + ".";
  }
  BankOptions bank_options = options.bank;
  if (it.outcome == "fail-correctness") {
    if (const std::string why = excuse(*judged.confirmation, measured); !why.empty()) {
      bank_options.outcome = it.outcome = "infrastructure";
      it.reasons.insert(it.reasons.begin(), diagnose("step-infrastructure", why));
      it.verdict = "Not measured: " + why + ".";
    }
  }
  if (!options.banks) return;
  const Parsed<Banked> banked = bank(judged, bank_options);
  note_banked(io, banked, it);
  if (banked.ok()) it.earlier = earlier_reading(card, *banked.value, options.bank);
}

}  // namespace

Iteration iterate_once(const Io& io, const Card& card, const StepOptions& options) {
  Iteration it;
  it.card = card.name;
  it.gate = options.judge.gate.value_or(1.0);
  const Preflight checks = preflight(card, options.preflight);
  Measured measured;
  if (checks.status() == kExitUsage) {
    end_with(it, "bench-defect", checks.errors);
  } else if (checks.status() == kExitRefused) {
    Findings findings = checks.findings;
    if (checks.strict) findings.insert(findings.end(), checks.warnings.begin(), checks.warnings.end());
    end_with(it, "refused", to_diagnostics(findings));
    it.verdict =
        fmt::format("Not started: refused, {} finding{}.", findings.size(), findings.size() == 1 ? "" : "s");
  } else if (measure_step(io, card, checks, options, measured, it)) {
    judge_step(io, card, options, measured, it);
  }
  point_on(it, card);
  if (it.banked.is_null() && !it.view && options.banks && !measured.end.interrupted) {
    Json verdict = iteration_json(it);
    verdict.erase("banked");
    note_banked(io, bank_unmeasured(card, it.outcome, verdict, options.bank), it);
  }
  return it;
}

}  // namespace plumbline::cli
