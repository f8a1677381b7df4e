// SPDX-License-Identifier: Apache-2.0
// `plumbline ledger gate` and `ledger replay`: did a change of the student make it slower, and how often
// would that question have been answered wrongly here?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "plumbline/base/files.h"
#include "plumbline/cli/iterate_step.h"
#include "plumbline/cli/ledger_commands.h"
#include "plumbline/cli/process_tree.h"
#include "plumbline/ledger/gate_runs.h"
#include "plumbline/report/gate_report.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostHistory = 400;
constexpr int kConfirmations = 2;  // fresh processes that a slowing is measured again in

struct GateRequest {
  LedgerPlace place;
  std::string baseline;
  std::string run = "last";
  std::optional<double> rate, least_pct, margin_pct, limit_s;
  std::optional<std::int64_t> sessions, rounds;
  std::string python = "python3";
  bool no_confirm = false;
  bool unknown_fails = false;
  bool md = false;
};

/// The run that is held: of "last", the last that was measured.
Parsed<ledger::StoredRun> candidate_of(ledger::Ledger& ledger, const std::string& run,
                                       const std::string& card) {
  if (run != "last") return ledger.find(run, card);
  ledger::RunFilter filter;
  filter.card = card;
  filter.readings_only = true;
  filter.most = 1;
  const auto lines = ledger.list(filter);
  if (!lines.ok()) return {std::nullopt, lines.diagnostics};
  return lines.value->empty() ? ledger.find("last", card) : ledger.load(lines.value->front().id);
}

/// The two runs, and what is held.
struct Held {
  ledger::StoredRun baseline, candidate;
  std::vector<std::int64_t> candidates;             ///< the candidate and what confirms it
  std::vector<std::int64_t> job_before, job_after;  ///< both arms, measured in turn in this job
};

/// A card's files as a run had them, in a folder of the card's name; none where the ledger has not all of
/// them.
std::optional<Card> card_of_run(ledger::Ledger& ledger, const ledger::StoredRun& run,
                                const TemporaryFolder& folder) {
  const fs::path place = fs::path(folder.path()) / fs::path(run.record.card).filename();
  if (folder.path().empty() || run.record.code.files.empty()) return {};
  for (const auto& [path, hash] : run.record.code.files) {
    const fs::path relative(path);
    if (relative.is_absolute() ||
        std::find(relative.begin(), relative.end(), fs::path("..")) != relative.end())
      return {};
    const auto document = ledger.document(hash);
    if (!document.ok() || !document.value->content) return {};
    std::error_code failure;
    fs::create_directories((place / relative).parent_path(), failure);
    if (has_errors(write_file((place / relative).string(), *document.value->content))) return {};
  }
  Parsed<Card> card = find_card(place.string());
  return std::move(card.value);
}

StepOptions step_options(const GateRequest& request, const std::string& note) {
  StepOptions how;
  how.measure.python = request.python;
  how.measure.limit_s = request.limit_s.value_or(how.measure.limit_s);
  ProcessLimits limits;
  limits.memory_bytes = available_memory() / 5 * 4;
  limits.processes = 512;
  limits.written_bytes = std::int64_t{8} << 30;
  limits.output_bytes = std::int64_t{64} << 20;
  how.measure.limits = limits;
  how.bank.ledger = ledger_of(request.place);
  how.bank.note = note;
  return how;
}

/// One run in a process of its own: its number in the ledger, or none and a note.
std::optional<std::int64_t> measured(const Io& io, const Card& card, const GateRequest& request,
                                     const std::string& note, std::vector<std::string>& notes) {
  const Iteration done = iterate_once(io, card, step_options(request, note));
  if (ledger::is_reading(done.outcome) && done.banked.is_object())
    return done.banked["run"].get<std::int64_t>();
  notes.push_back(fmt::format("{}: no reading, {}: {}", note, done.outcome, done.verdict));
  return {};
}

/// Both students in turn, in this job.
void measure_in_turn(const Io& io, ledger::Ledger& ledger, const Card& card, const GateRequest& request,
                     Held& held, std::vector<std::string>& notes) {
  const TemporaryFolder folder;
  const auto before = card_of_run(ledger, held.baseline, folder);
  if (!before) {
    notes.emplace_back("the baseline's files are not all in the ledger: it was not measured in this job");
    return;
  }
  for (std::int64_t round = 1; round <= *request.rounds && !was_interrupted(); ++round) {
    // A B, B A, A B: neither side always goes first.
    for (const bool first : {true, false}) {
      const bool base = first == (round % 2 == 1);
      const auto run =
          measured(io, base ? *before : card, request,
                   fmt::format("gate, round {}, {}", round, base ? "baseline" : "candidate"), notes);
      if (run) (base ? held.job_before : held.job_after).push_back(*run);
    }
  }
}

std::optional<std::vector<ledger::GateRun>> history_of(const Io& io, ledger::Ledger& ledger,
                                                       const std::string& card, std::int64_t series) {
  auto history = ledger::gate_runs(ledger, card, series, kMostHistory);
  io.report(history.diagnostics);
  return std::move(history.value);
}

void judge_arms(const std::vector<ledger::GateRun>& history, const Held& held, std::size_t sessions,
                GateReport& report) {
  ledger::GateArms arms = ledger::gate_arms(history, held.baseline.id, held.candidates, sessions);
  // Measured in turn: what days differ by is in both arms alike, so only these runs tell how far they lie
  // apart.
  const bool in_turn = !held.job_before.empty() && !held.job_after.empty();
  if (in_turn)
    arms = {ledger::chosen_runs(history, held.job_before), ledger::chosen_runs(history, held.job_after)};
  std::vector<ledger::GateRun> both = arms.before;
  both.insert(both.end(), arms.after.begin(), arms.after.end());
  report.same_code = !arms.before.empty() && !arms.after.empty() && !arms.before[0].code.empty() &&
                     arms.before[0].code == arms.after[0].code;
  if (arms.before.empty() || arms.after.empty()) {
    report.result = {};
    report.result.why = "There is no reading on both sides that could be held.";
    return;
  }
  report.result = ledger::judge_gate(arms.before, arms.after, in_turn ? both : history, report.options);
}

/// The card's folder, where its bench can be run here.
std::optional<Card> runnable(const GateRequest& request) {
  const Parsed<Card> card = find_card(request.place.card);
  std::error_code ignored;
  if (!card.ok() || !fs::exists(card.value->bench, ignored) || !measuring_trouble().empty()) return {};
  return *card.value;
}

/// What may be slower is measured again, in fresh processes; all runs together are judged then.
void confirm_slower(const Io& io, ledger::Ledger& ledger, const Card& card, const GateRequest& request,
                    Held& held, std::size_t sessions, GateReport& report) {
  std::vector<std::int64_t> again;
  for (int number = 0; number < kConfirmations && !was_interrupted(); ++number) {
    const auto id =
        measured(io, card, request, fmt::format("confirms run {}", held.candidate.id), report.notes);
    if (!id) continue;
    const auto run = ledger.load(*id);
    if (!run.ok()) return io.report(run.diagnostics);
    const auto& now = run.value->record.code;
    const auto& then = held.candidate.record.code;
    if (run.value->series != held.candidate.series || now.student != then.student ||
        now.bench != then.bench) {
      report.notes.push_back(
          fmt::format("not confirmed: run {} measured another student, bench or machine than run {}", *id,
                      held.candidate.id));
      return;
    }
    again.push_back(*id);
  }
  if (again.empty()) return;
  held.candidates.insert(held.candidates.end(), again.begin(), again.end());
  if (!held.job_after.empty()) held.job_after.insert(held.job_after.end(), again.begin(), again.end());
  const auto history = history_of(io, ledger, report.card, held.candidate.series);
  if (!history) return;
  judge_arms(*history, held, sessions, report);
  report.notes.push_back(fmt::format(
      "measured again in fresh processes (runs {}): {}", fmt::join(again, ", "),
      report.result.verdict == ledger::GateVerdict::slower ? "slower there too" : "not slower there"));
}

int gate(const Io& io, const GateRequest& request) {
  GateReport report;
  report.options.rate = request.rate.value_or(report.options.rate);
  report.options.least = request.least_pct.value_or(100 * report.options.least) / 100;
  report.options.margin = request.margin_pct.value_or(100 * report.options.margin) / 100;
  const auto sessions =
      static_cast<std::size_t>(std::clamp<std::int64_t>(request.sessions.value_or(20), 1, 400));
  if (request.baseline.empty()) {
    io.report(
        {diagnose("usage", "--baseline RUN names the run to hold against: a number, an ident or a name")});
    return kExitUsage;
  }
  if (!(report.options.rate > 0 && report.options.rate < 1) || !(report.options.least >= 0) ||
      !(report.options.margin > 0) || request.rounds.value_or(1) < 1 || request.rounds.value_or(1) > 100 ||
      request.sessions.value_or(1) < 1 || !(request.limit_s.value_or(1) > 0)) {
    io.report({diagnose(
        "usage",
        "--rate is between 0 and 1; --least, --margin, --sessions, --rounds and --limit are over 0")});
    return kExitUsage;
  }
  const auto card = runnable(request);
  const bool measures = card && (request.rounds || !request.no_confirm);
  auto ledger = open_ledger(io, request.place, measures ? ledger::Access::write : ledger::Access::read);
  if (!ledger) return kExitUsage;
  report.card = card_name_of(request.place);
  const auto baseline = ledger->find(request.baseline, report.card);
  const auto candidate = candidate_of(*ledger, request.run, report.card);
  io.report(baseline.diagnostics);
  io.report(candidate.diagnostics);
  if (!baseline.ok() || !candidate.ok()) return kExitUsage;
  Held held{*baseline.value, *candidate.value, {candidate.value->id}, {}, {}};
  report.baseline = held.baseline.id;
  report.candidate = held.candidate.id;
  report.gpu = held.candidate.record.series.gpu;
  report.window = held.candidate.record.series.timed;
  std::vector<std::string> apart = ledger::apart(held.baseline.record.series, held.candidate.record.series);
  if (held.baseline.record.card != held.candidate.record.card) apart.emplace_back("they are of two cards");
  if (!apart.empty()) {
    report.result.why =
        "The two cannot be compared: " + apart.front() + (apart.size() > 1 ? ", and more." : ".");
  } else {
    if (request.rounds && card) measure_in_turn(io, *ledger, *card, request, held, report.notes);
    if (request.rounds && !card)
      report.notes.emplace_back("nothing can be measured here: the banked runs are held");
    const auto history = history_of(io, *ledger, held.candidate.record.card, held.candidate.series);
    if (!history) return kExitUsage;
    judge_arms(*history, held, sessions, report);
    if (report.result.verdict == ledger::GateVerdict::slower && held.candidates.size() == 1 && !card &&
        held.job_after.empty())
      report.notes.emplace_back("nothing can be measured here: no fresh process has confirmed it");
    if (report.result.suspect && card && !request.no_confirm)
      confirm_slower(io, *ledger, *card, request, held, sessions, report);
  }
  if (io.json) {
    io.print_json(gate_json(report));
  } else {
    io.print(request.md ? gate_markdown(report) : gate_text(report, io.look()));
  }
  const bool fails = report.result.verdict == ledger::GateVerdict::slower ||
                     (request.unknown_fails && report.result.verdict == ledger::GateVerdict::unknown);
  return fails ? kExitGate : kExitOk;
}

struct ReplayRequest {
  LedgerPlace place;
  std::optional<std::int64_t> series, fewest;
};

int replay(const Io& io, const ReplayRequest& request) {
  const std::int64_t fewest = request.fewest.value_or(3);
  if (fewest < 2 || fewest > 100) {
    io.report({diagnose("usage", "--fewest takes 2 to 100 runs")});
    return kExitUsage;
  }
  auto ledger = open_ledger(io, request.place, ledger::Access::read);
  if (!ledger) return kExitUsage;
  const std::string card = card_name_of(request.place);
  std::optional<std::int64_t> series = request.series;
  if (!series) {
    const auto last = ledger->find("last", card);
    io.report(last.diagnostics);
    if (!last.ok()) return kExitUsage;
    const auto all = ledger->series_of(card);
    io.report(all.diagnostics);
    if (!all.ok() || all.value->empty()) return kExitUsage;
    series = all.value->front().series;
  }
  const auto history = history_of(io, *ledger, card, *series);
  if (!history) return kExitUsage;
  const ledger::Replay done = ledger::replay_gate(*history, {}, static_cast<std::size_t>(fewest));
  if (io.json) {
    io.print_json(replay_json(card, done));
  } else {
    io.print(replay_text(card, done));
  }
  return kExitOk;
}

}  // namespace

void add_ledger_gate(Args& ledger) {
  auto options = std::make_shared<GateRequest>();
  Args args = ledger.subcommand(
      "gate", "SAME, FASTER, SLOWER or UNKNOWN against a baseline, by what sessions differ by; 1 on SLOWER");
  args.positional("CARD", options->place.card, "a card's folder or name")
      .option("--baseline", options->baseline,
              "the run to hold against: its number, ident or name; all runs of its code count")
      .option("--run", options->run, "the run that is held (the last that was measured)")
      .option("--rounds", options->rounds, "first measure both in turn, so many times, in this job")
      .flag("--no-confirm", options->no_confirm,
            "do not measure again, in fresh processes, what may be slower")
      .option("--rate", options->rate, "so much of what is called faster or slower may be false (0.01)")
      .option("--least", options->least_pct, "percent: a smaller change is none (0.5)")
      .option("--margin", options->margin_pct, "percent: SAME rules a change of this size out (2)")
      .option("--sessions", options->sessions, "so many runs a side, the newest (20)")
      .flag("--unknown-fails", options->unknown_fails, "exit status 1 on UNKNOWN too")
      .option("--python", options->python, "the interpreter that has PyTorch (python3)")
      .option("--limit", options->limit_s, "end a bench after so many seconds (900)")
      .flag("--md", options->md, "as Markdown, for a pull request");
  add_ledger_option(args, options->place.ledger);
  args.example("plumbline ledger gate operators/my_op --baseline main");
  args.run([options](const Io& io) { return gate(io, *options); });

  auto history = std::make_shared<ReplayRequest>();
  Args other =
      ledger.subcommand("replay", "the gate over a card's own history: how often it would have been wrong");
  other.positional("CARD", history->place.card, "a card's folder or name")
      .option("--series", history->series, "another machine, driver, window or harness, by its number")
      .option("--fewest", history->fewest, "hold a run once so many earlier ones of its code are there (3)");
  add_ledger_option(other, history->place.ledger);
  other.example("plumbline ledger replay operators/my_op");
  other.run([history](const Io& io) { return replay(io, *history); });
}

}  // namespace plumbline::cli
