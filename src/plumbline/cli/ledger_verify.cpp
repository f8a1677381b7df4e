// SPDX-License-Identifier: Apache-2.0
// `plumbline ledger verify`: every hash, every row, every contract again.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plumbline/cli/ledger_commands.h"
#include "plumbline/cli/progress.h"
#include "plumbline/ledger/verify.h"
#include "plumbline/report/verdict.h"

namespace plumbline::cli {
namespace {

int verify(const Io& io, const LedgerPlace& place) {
  auto ledger = open_ledger(io, place, ledger::Access::read);
  if (!ledger) return kExitUsage;
  const auto seen = [&] {
    Progress progress(io, "verifying", "entries");
    return ledger::verify(*ledger,
                          [&](std::uint64_t done, std::uint64_t all) { progress.update(done, all); });
  }();
  io.report(seen.diagnostics);
  if (!seen.ok()) return kExitUsage;
  const auto& found = *seen.value;
  io.report(found.problems);
  if (io.json) {
    io.print_json({{"ok", found.problems.empty()},
                   {"runs", found.runs},
                   {"documents", found.documents},
                   {"collected", found.collected},
                   {"reasons", reasons_json(found.problems)}});
  } else {
    io.print(fmt::format(
        "{} run{}, {} document{}{}: {}\n", found.runs, found.runs == 1 ? "" : "s", found.documents,
        found.documents == 1 ? "" : "s",
        found.collected > 0 ? fmt::format(" ({} collected)", found.collected) : "",
        found.problems.empty() ? "all as banked" : fmt::format("{} not as banked", found.problems.size())));
  }
  return found.problems.empty() ? kExitOk : kExitGate;
}

}  // namespace

void add_ledger_verify(Args& ledger) {
  auto place = std::make_shared<LedgerPlace>();
  Args args = ledger.subcommand("verify", "is everything what it was when it was banked? 1 when not");
  args.positional("CARD", place->card, "the card whose ledger is meant", false);
  add_ledger_option(args, place->ledger);
  args.example("plumbline ledger verify operators/attention_backward");
  args.status(kExitGate, "something is not what was banked");
  args.run([place](const Io& io) { return verify(io, *place); });
}

}  // namespace plumbline::cli
