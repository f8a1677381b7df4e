// SPDX-License-Identifier: Apache-2.0
// Banked runs for people and programs.
#pragma once

#include <string>
#include <vector>

#include "plumbline/base/json.h"
#include "plumbline/ledger/ledger.h"
#include "plumbline/report/text_table.h"

namespace plumbline {

/// A line of `ledger list` as a document.
Json run_line_json(const ledger::RunLine& line);

/// The runs as a table, newest first.
std::string run_list_text(const std::vector<ledger::RunLine>& lines, const Look& look);

/// A run with everything but the content of its documents.
Json stored_run_json(const ledger::StoredRun& run);
/// The same for people.
std::string stored_run_text(const ledger::StoredRun& run, const Look& look);

}  // namespace plumbline
