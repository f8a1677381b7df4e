// SPDX-License-Identifier: Apache-2.0
// Files: read within a size limit, written beside and renamed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plumbline/base/diagnostics.h"

namespace plumbline {

inline constexpr std::uint64_t kMaxTextBytes = 64ULL << 20;  ///< default limit of a file read whole: 64 MiB

/// The whole content of a regular file ("-" reads standard input).
/// Errors: file-missing, file-unreadable, file-not-regular, file-too-large.
Parsed<std::string> read_file(const std::string& path, std::uint64_t max_bytes = kMaxTextBytes);

/// read_file, then UTF-8 is required (file-not-utf8 names the byte). A BOM is kept.
Parsed<std::string> read_text_file(const std::string& path, std::uint64_t max_bytes = kMaxTextBytes);

/// Writes beside `path` and renames, so that a reader sees the old file or the whole new one.
/// Errors: file-unwritable.
Diagnostics write_file(const std::string& path, std::string_view content);

}  // namespace plumbline
