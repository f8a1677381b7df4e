// SPDX-License-Identifier: Apache-2.0
// What the subcommands of `plumbline ledger` share.
#pragma once

#include <string>

#include "plumbline/cli/command.h"
#include "plumbline/ledger/ledger.h"

namespace plumbline::cli {

/// Which ledger, and which card of it.
struct LedgerPlace {
  std::string ledger;  ///< --ledger
  std::string card;    ///< CARD or --card: a folder, a name under operators/, or a name in the ledger
};

/// The ledger that is meant: --ledger, else that of the card's folder, else ledger.db here.
std::string ledger_of(const LedgerPlace& place);
/// The card's name in the ledger; "" where none is named.
std::string card_name_of(const LedgerPlace& place);
/// Opens it; why not goes to `io`.
std::optional<ledger::Ledger> open_ledger(const Io& io, const LedgerPlace& place, ledger::Access access);

/// Adds --ledger.
void add_ledger_option(Args& args, std::string& target);

void add_ledger_add(Args& ledger);
void add_ledger_list(Args& ledger);
void add_ledger_show(Args& ledger);
void add_ledger_exchange(Args& ledger);
void add_ledger_trend(Args& ledger);
void add_ledger_diff(Args& ledger);
void add_ledger_gate(Args& ledger);
void add_ledger_gc(Args& ledger);
void add_ledger_verify(Args& ledger);

}  // namespace plumbline::cli
