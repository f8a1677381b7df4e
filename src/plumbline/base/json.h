// SPDX-License-Identifier: Apache-2.0
// JSON in and out. Reading: nlohmann::json with positions. Writing: sorted keys, Python's layout of numbers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "plumbline/base/diagnostics.h"

namespace plumbline {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

/// A JSON document of at most 200 levels. Errors: json-syntax with line and column, json-too-deep.
Parsed<Json> parse_json(std::string_view text, const std::string& file);

/// The same, keys in document order (a repeated key keeps its first place and its last value).
Parsed<OrderedJson> parse_json_ordered(std::string_view text, const std::string& file);

/// The place of the first key that appears twice in one object, or none; spellings count as what they mean
/// ("\u0061" is "a"). `text` has been parsed. For documents that a verdict depends on: json-duplicate-key.
std::optional<Diagnostic> duplicate_key(std::string_view text, const std::string& file);

/// As Python's json.dumps(value, indent=2, sort_keys=True) and a final newline: the artifact format.
/// A NaN or an infinity is written as null: callers keep such values out (design rule 5).
std::string write_json(const Json& value);

/// One line, no blanks, sorted keys, no newline.
std::string write_json_line(const Json& value);

}  // namespace plumbline
