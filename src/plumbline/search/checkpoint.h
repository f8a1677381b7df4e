// SPDX-License-Identifier: Apache-2.0
// A search's state as a file, and the certificate of a finished one.
#pragma once

#include <string>
#include <string_view>

#include "plumbline/base/json.h"
#include "plumbline/search/engine.h"

namespace plumbline {

/// The state after a round, with the problem's key.
Json checkpoint_json(const Problem& problem, const SearchState& state);

/// Reads it back. Errors: json-syntax, search-checkpoint (not a checkpoint, or of another search).
Parsed<SearchState> parse_checkpoint(std::string_view text, const std::string& file, const Problem& problem,
                                     const Engine& engine);

/// Everything that proves the answer: dimensions, definitions, tables, slabs with bounds, the shapes found.
Json certificate_json(const Problem& problem, const Engine& engine, const SearchState& state);

}  // namespace plumbline
