// SPDX-License-Identifier: Apache-2.0
// `plumbline window init|show`: the declared boundary of a card.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "plumbline/base/files.h"
#include "plumbline/cli/commands.h"
#include "plumbline/cli/contract_state.h"
#include "plumbline/contract/scaffold.h"
#include "plumbline/report/window_view.h"

namespace plumbline::cli {
namespace {

struct Options {
  std::string card;
  bool md = false;
};

int status_of(const ContractState& state) {
  if (!state.errors.empty()) return kExitUsage;
  return refuses(state.findings) ? kExitRefused : kExitOk;
}

int show(const Io& io, const Options& options) {
  const Parsed<ContractPath> path = find_contract(options.card);
  if (!path.ok()) {
    io.report(path.diagnostics);
    return kExitUsage;
  }
  const ContractState state = load_contract_state(*path.value);
  io.report(state.errors);
  if (io.json) {
    const WindowContract* contract = state.contract ? &*state.contract : nullptr;
    io.print_json(window_json(malformed_code(state), contract, state.findings, state.warnings));
  } else if (state.contract) {
    const WindowView view = collect_window(*state.contract, state.findings, state.warnings);
    io.print(options.md ? render_markdown(view) : render_text(view, io.look()));
  } else {
    io.report(to_diagnostics(state.findings));
    io.report(to_diagnostics(state.warnings));
  }
  return status_of(state);
}

int init(const Io& io, const Options& options) {
  const Parsed<Card> card = find_card(options.card);
  if (!card.ok()) {
    io.report(card.diagnostics);
    return kExitUsage;
  }
  const std::string& path = card.value->contract;
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) {
    io.report(
        {diagnose("contract-exists", "the card has a contract already; it was not touched", {path, 0, 0})});
    return kExitUsage;
  }
  const Diagnostics written = write_file(path, contract_scaffold(card.value->name));
  io.report(written);
  if (has_errors(written)) return kExitUsage;
  if (io.json) {
    io.print_json({{"wrote", path}});
  } else {
    io.print(fmt::format("wrote {}\nfill in the four lists, then: plumbline window show {}\n", path,
                         options.card));
  }
  return kExitOk;
}

}  // namespace

void add_window(Args& root) {
  auto options = std::make_shared<Options>();
  Args window =
      root.subcommand("window", "the declared boundary of a card: who receives and makes which tensor");
  Args init_args =
      window.subcommand("init", "writes a commented scaffold of window.toml, never over an existing one");
  init_args.positional("CARD", options->card, "a card's folder, or a name under operators/")
      .example("plumbline window init operators/my_kernel");
  init_args.run([options](const Io& io) { return init(io, *options); });
  Args show_args =
      window.subcommand("show", "the boundary as a two-sided table, findings and warnings below");
  show_args.positional("CARD", options->card, "a card's folder, a name under operators/, or a window.toml")
      .flag("--md", options->md, "compact Markdown")
      .example("plumbline window show operators/attention_backward");
  show_args.status(kExitRefused, "a finding refuses the run");
  show_args.run([options](const Io& io) { return show(io, *options); });
}

}  // namespace plumbline::cli
