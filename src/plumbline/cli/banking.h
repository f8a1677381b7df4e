// SPDX-License-Identifier: Apache-2.0
// A judged comparison put into a ledger.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "plumbline/base/diagnostics.h"
#include "plumbline/base/json.h"
#include "plumbline/cli/judge.h"
#include "plumbline/ledger/ledger.h"

namespace plumbline::cli {

/// How a run is banked.
struct BankOptions {
  std::string ledger;  ///< a file or a URL; "" is ledger.db in the card's folder
  std::string note;
  std::string corrects;  ///< the run that this one takes the place of; "" for none
  std::string outcome;   ///< in place of what the judgement alone comes to; "" keeps that
};

/// Where it went.
struct Banked {
  std::int64_t id = 0;
  std::string ident;
  std::string outcome;
  std::string where;  ///< as it may be shown
};
/// {"run", "ident", "outcome", "ledger"}.
Json to_json(const Banked& banked);

/// The ledger of a card where none is named.
std::string card_ledger(const Card& card);

/// A new ident and the time now, "2026-12-03T01:02:03Z".
void stamp(ledger::RunRecord& record);

/// Puts the card's files into the record and the batch: those that the eval names, as they ran; what has
/// changed since is kept by its hash. Without an eval that names any, the files as they stand.
void put_code(const Card& card, const std::map<std::string, std::string>& ran, ledger::RunRecord& record,
              ledger::Batch& batch);

/// Puts the documents of a judged comparison into the record and the batch.
void put_parts(const Judged& judged, ledger::RunRecord& record, ledger::Batch& batch);

/// Adds the one run of a batch. Errors: those of the ledger.
Parsed<Banked> bank_record(ledger::RunRecord record, ledger::Batch batch, const BankOptions& options,
                           const Card& card);

/// Banks what was judged or refused. Errors: ledger-not-judged where the input could not be read, and those
/// of the ledger.
Parsed<Banked> bank(const Judged& judged, const BankOptions& options);

/// Banks what was not measured: an outcome without numbers, and the verdict's document.
Parsed<Banked> bank_unmeasured(const Card& card, const std::string& outcome, const Json& verdict,
                               const BankOptions& options);

}  // namespace plumbline::cli
