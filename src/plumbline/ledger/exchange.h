// SPDX-License-Identifier: Apache-2.0
// A ledger as JSON Lines, out and in again; as CSV, out.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "plumbline/ledger/ledger.h"

namespace plumbline::ledger {

/// Takes the text of one or several lines; false stops.
using Sink = std::function<bool(std::string_view)>;

/// Every run of `card` ("" for all), oldest first, each after the documents that it names and no line
/// before it held: {"document": HASH, "text"|"hex": …} and {"run": …}. A run imports as what it was.
Diagnostics export_lines(Ledger& ledger, const std::string& card, const Sink& sink);

/// One line a run, with a header: what `list` shows and the series.
Diagnostics export_csv(Ledger& ledger, const std::string& card, const Sink& sink);

/// One line read into `batch`. Errors: ledger-line, json-syntax; a newer format is ledger-newer.
Diagnostics read_line(std::string_view line, const Location& where, Batch& batch);

/// The next line, or false at the end.
using NextLine = std::function<bool(std::string&)>;

/// What an import did.
struct Imported {
  std::size_t added = 0;
  std::size_t already = 0;
};

/// Adds what the lines hold, `batch_runs` runs a transaction (1: each is there before `acknowledge` hears of
/// it and before the next line is read; once `acknowledge` says that it could not pass that on, nothing more
/// is read).
Parsed<Imported> import_lines(Ledger& ledger, const std::string& file, const NextLine& next,
                              std::size_t batch_runs,
                              const std::function<bool(std::int64_t)>& acknowledge = {});

}  // namespace plumbline::ledger
