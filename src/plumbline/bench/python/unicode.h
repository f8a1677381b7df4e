// SPDX-License-Identifier: Apache-2.0
// The three questions that Python's grammar asks of Unicode.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace plumbline::python {

/// Is `text` (valid UTF-8) an identifier: XID_Start or "_", then XID_Continue (PEP 3131)?
bool is_identifier(std::string_view text);

/// The NFKC form of an identifier, under which Python compares names.
std::string normalize_identifier(std::string_view text);

/// Does `name` name a character in "\N{name}"? Any case; names, corrections and control-code aliases.
bool is_character_name(std::string_view name);

/// `bytes` in the named encoding as UTF-8, or none when it is unknown or a byte has no meaning in it.
/// Encodings that are not a superset of ASCII (UTF-16, EBCDIC) are refused, as Python refuses them for source
/// files.
std::optional<std::string> decode(std::string_view bytes, const std::string& encoding);

}  // namespace plumbline::python
