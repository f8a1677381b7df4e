// SPDX-License-Identifier: Apache-2.0
// `plumbline arch search`: the best shapes of a space, exactly.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/base/files.h"
#include "plumbline/base/numbers.h"
#include "plumbline/cli/arch.h"
#include "plumbline/cli/progress.h"
#include "plumbline/cli/ranks.h"
#include "plumbline/cli/shapes.h"
#include "plumbline/hardware/hardware_file.h"
#include "plumbline/html/pages.h"
#include "plumbline/report/search_report.h"
#include "plumbline/search/answer.h"
#include "plumbline/search/checkpoint.h"

namespace plumbline::cli {
namespace {

struct Options {
  std::string space;
  std::string json_output, config, certificate, checkpoint, resume, html;
  std::optional<std::int64_t> threads;
  bool no_prune = false;
};

std::atomic<bool> stop_asked{false};
void ask_stop(int) { stop_asked = true; }

Parsed<std::vector<SearchHardware>> load_gpus(const Space& space) {
  std::vector<SearchHardware> out;
  Diagnostics found;
  for (const SpaceHardware& each : space.hardware) {
    const auto hardware = load_hardware(each.name, hardware_search_path(), each.source);
    found.insert(found.end(), hardware.diagnostics.begin(), hardware.diagnostics.end());
    if (!hardware.ok()) return {std::nullopt, std::move(found)};
    auto predictor = choose_predictor(*hardware.value, chosen_model({each.name, each.model, each.source, {}}),
                                      each.source);
    found.insert(found.end(), predictor.diagnostics.begin(), predictor.diagnostics.end());
    if (!predictor.ok()) return {std::nullopt, std::move(found)};
    out.push_back({std::move(*predictor.value), static_cast<double>(hardware.value->sheet.hbm_bytes)});
  }
  return {std::move(out), std::move(found)};
}

/// The space read, with the text of its quality file.
Parsed<Problem> load_problem(const Options& options, bool filter) {
  const auto text = read_text_file(options.space);
  if (!text.ok()) return {std::nullopt, text.diagnostics};
  auto space = parse_space(*text.value, options.space);
  if (!space.ok()) return {std::nullopt, std::move(space.diagnostics)};
  std::string csv;
  if (space.value->quality && !space.value->quality->csv.empty()) {
    std::string& path = space.value->quality->csv;
    path = (std::filesystem::path(options.space).parent_path() / path).string();
    auto file = read_text_file(path);
    if (!file.ok()) return {std::nullopt, std::move(file.diagnostics)};
    csv = std::move(*file.value);
  }
  auto gpus = load_gpus(*space.value);
  if (!gpus.ok()) return {std::nullopt, std::move(gpus.diagnostics)};
  auto problem = build_problem(std::move(*space.value), std::move(*gpus.value), csv,
                               thread_count(options.threads), filter);
  problem.diagnostics.insert(problem.diagnostics.begin(), gpus.diagnostics.begin(), gpus.diagnostics.end());
  return problem;
}

/// Writes what was asked for; nothing else.
Diagnostics write_outputs(const Options& options, const Problem& problem, const Engine& engine,
                          const SearchState& state, const SearchAnswer& answer, const std::string& conflict) {
  Diagnostics wrong;
  const auto put = [&](const std::string& path, const auto& text) {
    if (!path.empty() && wrong.empty()) wrong = write_file(path, text());
  };
  put(options.json_output, [&] { return write_json(search_json(problem, answer)); });
  if (!answer.best.empty())
    put(options.config, [&] { return write_json(config_json(problem, answer.best.front())); });
  put(options.html, [&] { return html::search_page(problem, answer, conflict); });
  put(options.certificate, [&] { return write_json_line(certificate_json(problem, engine, state)) + "\n"; });
  return wrong;
}

/// The state to begin with: nothing known, or what a checkpoint holds.
Parsed<SearchState> first_state(const Options& options, const Problem& problem, const Engine& engine) {
  if (options.resume.empty()) return {engine.start(), {}};
  const auto text = read_text_file(options.resume, 1ULL << 30);
  if (!text.ok()) return {std::nullopt, text.diagnostics};
  return parse_checkpoint(*text.value, options.resume, problem, engine);
}

/// Writes the checkpoint after rounds: each one where other processes may be killed, else one a second.
class Checkpoints {
 public:
  Checkpoints(const Problem& problem, std::string path, bool every_round)
      : problem_(problem), path_(std::move(path)), every_round_(every_round) {}
  void after(const SearchState& state) {
    const auto now = std::chrono::steady_clock::now();
    if (path_.empty() || !wrong_.empty() || (!every_round_ && now - last_ < std::chrono::seconds(1))) return;
    last_ = now;
    wrong_ = write(state);
  }
  Diagnostics write(const SearchState& state) const {
    return write_file(path_, write_json(checkpoint_json(problem_, state)));
  }
  const Diagnostics& wrong() const { return wrong_; }

 private:
  const Problem& problem_;
  std::string path_;
  bool every_round_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  Diagnostics wrong_;
};

/// Searches from `state`. Where it does not end whole, the state is that of the last finished round. A
/// checkpoint that could not be written does not end it: `wrong` says so.
SearchEnd search_all(const Io& io, const Options& options, const Problem& problem, const Engine& engine,
                     const SearchRanks& ranks, SearchState& state, Diagnostics& wrong) {
  std::signal(SIGINT, ask_stop);
  std::signal(SIGTERM, ask_stop);
  SearchEnd end = SearchEnd::whole;
  Checkpoints checkpoints(problem, ranks.rank == 0 ? options.checkpoint : "", ranks.size > 1);
  {
    Progress progress(io, "searching " + problem.space.name, "shapes");
    const auto slabs = static_cast<double>(engine.order().size());
    end = run_search(
        engine, state, thread_count(options.threads),
        [&](const SearchState& now) {
          const double share = static_cast<double>(now.next) / slabs;
          progress.update(static_cast<std::uint64_t>(share * static_cast<double>(problem.shapes)),
                          static_cast<std::uint64_t>(problem.shapes));
          checkpoints.after(now);
        },
        &ranks);
  }
  wrong = checkpoints.wrong();
  io.report(wrong);
  return end;
}

int interrupted(const Io& io, const Options& options, const Problem& problem, const Engine& engine,
                const SearchState& state, SearchEnd end) {
  const std::string path =
      options.checkpoint.empty() ? problem.space.name + ".checkpoint.json" : options.checkpoint;
  Diagnostics wrong = Checkpoints(problem, path, true).write(state);
  if (wrong.empty()) {
    const bool lost = end == SearchEnd::lost;
    wrong.push_back(diagnose(
        lost ? "search-rank-lost" : "search-interrupted",
        fmt::format("{}{} of {} slabs are finished; go on with --resume {}",
                    lost ? "a process of the search ended; " : "", state.next, engine.order().size(), path)));
  }
  io.report(wrong);
  return kExitGate;
}

/// What nothing dominates at 90 %, beside the front. Where the loss is exact that is nothing, without a
/// search.
SearchEnd compare_losses(const Io& io, const Options& options, const Problem& problem,
                         const SearchRanks& ranks, const SearchState& state, Undominated& out) {
  Progress progress(io, "comparing uncertain losses", "slabs");
  SearchOptions how;
  how.prune = !options.no_prune;
  how.stop = &stop_asked;
  return find_undominated(
      problem, state.front, how, thread_count(options.threads), ranks,
      [&](std::size_t done, std::size_t all) { progress.update(done, all); }, out);
}

/// The answer written and printed; of a space without one, why.
int conclude(const Io& io, const Options& options, const Problem& problem, const Engine& engine,
             const SearchState& state, const Undominated& undominated) {
  const SearchAnswer answer = make_answer(problem, state, undominated);
  std::string conflict;
  if (answer.best.empty()) {
    const auto unfiltered = load_problem(options, false);
    std::optional<Conflict> found;
    if (unfiltered.ok()) found = find_conflict(*unfiltered.value, thread_count(options.threads));
    conflict = conflict_text(problem, found);
    io.report({diagnose("search-infeasible", conflict)});
  }
  if (const Diagnostics wrong = write_outputs(options, problem, engine, state, answer, conflict);
      !wrong.empty()) {
    io.report(wrong);
    return kExitUsage;
  }
  if (io.json) {
    io.print_json(search_json(problem, answer));
  } else {
    io.print(search_text(problem, answer, io.look()));
  }
  return answer.best.empty() ? kExitGate : kExitOk;
}

/// What this process searches, for the others: the problem's key, or what is wrong.
std::string fingerprint(const Parsed<Problem>& problem, const Parsed<SearchState>& state) {
  if (problem.ok() && state.ok())
    return fmt::format("{} from slab {}", problem.value->key, state.value->next);
  const Diagnostics& found = problem.ok() ? state.diagnostics : problem.diagnostics;
  const auto wrong =
      std::find_if(found.begin(), found.end(), [](const Diagnostic& d) { return has_errors({d}); });
  return wrong == found.end() ? "no problem" : wrong->message;
}

int search(const Io& io, const Options& options, RanksSession& session) {
  const auto refuse = [&](const Diagnostics& found) {
    if (session.first()) io.report(found);
    return kExitUsage;
  };
  if (!session.found().empty()) return refuse(session.found());
  const auto problem = [&] {
    const Progress progress(io, "timing the space's kernels", "");
    return load_problem(options, true);
  }();
  std::optional<Engine> engine;
  Parsed<SearchState> state;
  if (problem.ok()) {
    SearchOptions how;
    how.prune = !options.no_prune;
    how.stop = &stop_asked;
    engine.emplace(*problem.value, how);
    state = first_state(options, *problem.value, *engine);
  }
  // A place where no checkpoint can be written is found before the search and not after hours of it.
  if (state.ok() && session.first() && !options.checkpoint.empty()) {
    if (Diagnostics wrong = Checkpoints(*problem.value, options.checkpoint, true).write(*state.value);
        !wrong.empty())
      state = {std::nullopt, std::move(wrong)};
  }
  Diagnostics found = problem.diagnostics;
  found.insert(found.end(), state.diagnostics.begin(), state.diagnostics.end());
  if (session.first()) io.report(found);
  if (const Diagnostics differ = session.agree(fingerprint(problem, state)); !differ.empty()) {
    session.leave();
    return refuse(differ);
  }
  if (!state.ok()) return kExitUsage;
  Diagnostics unwritten;
  SearchEnd end = search_all(io, options, *problem.value, *engine, session.ranks(), *state.value, unwritten);
  Undominated undominated;
  if (end == SearchEnd::whole)
    end = compare_losses(io, options, *problem.value, session.ranks(), *state.value, undominated);
  if (end == SearchEnd::lost) session.leave();
  if (!session.first()) return end == SearchEnd::whole ? kExitOk : kExitGate;
  if (end != SearchEnd::whole) return interrupted(io, options, *problem.value, *engine, *state.value, end);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  const int status = conclude(io, options, *problem.value, *engine, *state.value, undominated);
  return status == kExitOk && !unwritten.empty() ? kExitUsage : status;
}

int run(const Io& io, const Options& options) {
  const std::vector<std::string> outputs{options.json_output, options.config, options.certificate,
                                         options.checkpoint, options.html};
  RanksSession session(stop_asked);
  if (const Diagnostics wrong = distinct_outputs(outputs); !wrong.empty()) {
    if (session.first()) io.report(wrong);
    return kExitUsage;
  }
  return search(io, options, session);
}

}  // namespace

void add_arch_search(Args& arch) {
  auto options = std::make_shared<Options>();
  Args args = arch.subcommand("search", "the best shapes of a space, exactly: top k, Pareto front, a proof");
  args.positional("SPACE", options->space, "a space file (TOML)")
      .option("--json-output", options->json_output, "write the artifact to this file")
      .option("--config", options->config, "write the winner's config.json to this file")
      .option("--certificate", options->certificate,
              "write the proof that tools/check_certificate.py verifies")
      .option("--html", options->html, "also write the answer as one HTML file that opens anywhere")
      .option("--checkpoint", options->checkpoint,
              "where finished slabs are kept while it runs, and when Ctrl-C ends it")
      .option("--resume", options->resume, "go on from this checkpoint")
      .flag("--no-prune", options->no_prune, "evaluate every shape that no constraint refuses");
  add_threads_option(args, options->threads);
  args.example("plumbline arch search spaces/llama3_8b.toml --certificate proof.json --config config.json");
  args.status(kExitGate, "no shape fulfils every constraint, or Ctrl-C ended the search");
  args.run([options](const Io& io) { return run(io, *options); });
}

}  // namespace plumbline::cli
