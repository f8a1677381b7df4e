// SPDX-License-Identifier: Apache-2.0
// `plumbline ledger …`: runs that were judged, kept.
#include <filesystem>

#include "plumbline/cli/banking.h"
#include "plumbline/cli/commands.h"
#include "plumbline/cli/ledger_commands.h"

namespace plumbline::cli {

std::string ledger_of(const LedgerPlace& place) {
  if (!place.ledger.empty()) return place.ledger;
  if (!place.card.empty()) {
    const Parsed<Card> card = find_card(place.card);
    if (card.ok()) return card_ledger(*card.value);
  }
  return "ledger.db";
}

std::string card_name_of(const LedgerPlace& place) {
  if (place.card.empty()) return {};
  const Parsed<Card> card = find_card(place.card);
  return card.ok() ? card.value->name : place.card;
}

std::optional<ledger::Ledger> open_ledger(const Io& io, const LedgerPlace& place, ledger::Access access) {
  auto opened = ledger::Ledger::open(ledger_of(place), access);
  io.report(opened.diagnostics);
  return std::move(opened.value);
}

void add_ledger_option(Args& args, std::string& target) {
  args.option("--ledger", target,
              "a file, or postgresql://… (default: ledger.db of the card's folder, or here)");
}

void add_ledger(Args& root) {
  Args ledger =
      root.subcommand("ledger", "runs that were judged, kept: added, listed, compared, held to a gate");
  add_ledger_add(ledger);
  add_ledger_list(ledger);
  add_ledger_show(ledger);
  add_ledger_exchange(ledger);
  add_ledger_trend(ledger);
  add_ledger_diff(ledger);
  add_ledger_gate(ledger);
  add_ledger_verify(ledger);
  add_ledger_gc(ledger);
}

}  // namespace plumbline::cli
