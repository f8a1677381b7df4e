// SPDX-License-Identifier: Apache-2.0
// Files: read within a size limit, written beside and renamed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "plumbline/base/diagnostics.h"

namespace plumbline {

inline constexpr std::uint64_t kMaxTextBytes = 64ULL << 20;  ///< default limit of a file read whole: 64 MiB

/// The whole content of a regular file ("-" reads standard input).
/// Errors: file-missing, file-unreadable, file-not-regular, file-too-large.
Parsed<std::string> read_file(const std::string& path, std::uint64_t max_bytes = kMaxTextBytes);

/// `text` itself where it is UTF-8; else file-not-utf8 names the byte.
Parsed<std::string> require_utf8(std::string text, const std::string& path);

/// read_file, then UTF-8 is required. A BOM is kept.
Parsed<std::string> read_text_file(const std::string& path, std::uint64_t max_bytes = kMaxTextBytes);

/// Writes beside `path` and renames, so that a reader sees the old file or the whole new one. An existing
/// file keeps its mode and owner; a link stays and the file it leads to is replaced; into a pipe that is
/// being read, or a character device such as /dev/null, the content is written and the node stays what it is.
/// Errors: file-unwritable.
Diagnostics write_file(const std::string& path, std::string_view content);

/// write_file() for content that comes piece by piece. What was not committed leaves nothing behind.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Appends; false once something has gone wrong, which commit() then tells.
  bool write(std::string_view content);
  /// Puts the whole file into its place. Errors: file-unwritable.
  Diagnostics commit();

 private:
  bool refuse(const std::string& what);

  std::string path_;
  std::string target_;  ///< where a link leads
  std::string beside_;  ///< the file being written; "" where there is nothing to replace
  int file_ = -1;
  bool exists_ = false;
  unsigned mode_ = 0, user_ = 0, group_ = 0;  ///< of what is replaced
  Diagnostics trouble_;
};

/// Outputs of one command that would overwrite each other: file-same-output for each path that names the same
/// file as one before it. Empty paths are not asked for and do not count.
Diagnostics distinct_outputs(std::span<const std::string> paths);

}  // namespace plumbline
