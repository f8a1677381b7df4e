// SPDX-License-Identifier: Apache-2.0
// The answer of a search as JSON, as text, and its winner as a config.json.
#pragma once

#include <string>

#include "plumbline/base/json.h"
#include "plumbline/report/text_table.h"
#include "plumbline/search/answer.h"

namespace plumbline {

/// The artifact: the same bytes for the same space, whatever it ran on.
Json search_json(const Problem& problem, const SearchAnswer& answer);

/// Tables for a terminal.
std::string search_text(const Problem& problem, const SearchAnswer& answer, const Look& look);

/// A Hugging Face config.json of that shape: a Llama-like model, Qwen3-like where queries and keys are
/// normalised; with experts Mixtral-like or Qwen3-MoE-like.
Json config_json(const Problem& problem, const ShapeAnswer& shape);

}  // namespace plumbline
