// SPDX-License-Identifier: Apache-2.0
// The one table of diagnostic codes. docs/diagnostics.md is generated from it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "plumbline/base/diagnostics.h"

namespace plumbline {

/// What a code means: `cause` says when it is reported, `fix` what the reader does about it.
struct CodeInfo {
  std::string_view code;
  Severity severity;
  std::string_view area;
  std::string_view cause;
  std::string_view fix;
};

/// Every code, grouped by area in the order of the stages.
std::span<const CodeInfo> all_codes();

/// The entry of `code`, or nullptr.
const CodeInfo* find_code(std::string_view code);

/// Measuring again may remove what this code reports; nothing need be changed first.
bool is_retryable(std::string_view code);

/// The text of docs/diagnostics.md.
std::string codes_markdown();

}  // namespace plumbline
