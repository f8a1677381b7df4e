// SPDX-License-Identifier: Apache-2.0
// window.toml as text to WindowContract.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plumbline/base/diagnostics.h"
#include "plumbline/contract/contract.h"

namespace plumbline {

/// A window.toml larger than this is refused (file-too-large): the largest honest one is a few kilobytes.
inline constexpr std::uint64_t kMaxContractBytes = 1ULL << 20;

/// Reads the text of a window.toml; `file` names it in diagnostics.
/// Errors, each with line and column: toml-syntax, schema-version, wrong-type, asymmetry-key, shape-type.
/// Warning: unknown-key, with the nearest known key.
Parsed<WindowContract> parse_contract(std::string_view text, const std::string& file);

/// Reads and parses a file. Errors as above and those of read_text_file().
Parsed<WindowContract> load_contract(const std::string& path);

}  // namespace plumbline
