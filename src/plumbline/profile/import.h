// SPDX-License-Identifier: Apache-2.0
// Any profiler's file to a KernelTable.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plumbline/base/diagnostics.h"
#include "plumbline/table/kernel_table.h"

namespace plumbline {

/// What the caller knows of the file. Everything is optional.
struct ImportOptions {
  std::string format;                   ///< an importer's name; "" detects
  std::string range;                    ///< NVTX range, annotation or ProfilerStep# to restrict to
  std::optional<std::int64_t> calls;    ///< window calls in the region
  std::optional<std::int64_t> device;   ///< device index; several devices without it are refused
  std::optional<std::int64_t> process;  ///< process id; several processes without it are refused
  bool ranks = false;                   ///< devices and processes are ranks of one job: the slowest counts
  /// Called now and then with the bytes (or rows) read so far and in all; all is 0 where it is not known.
  std::function<void(std::uint64_t done, std::uint64_t all)> progress;
};

/// The table of `path`, whichever importer claims it. Errors: the file errors, import-unknown-format,
/// import-ambiguous-format, and the importer's own, each with a position in the file.
Parsed<KernelTable> import_profile(const std::string& path, const ImportOptions& options = {});

/// The same of what descriptor `fd` gives to its end, a pipe for one; it is called `name` in diagnostics.
/// Importers read a file more than once (its head, then all of it, then the line of a broken byte), so the
/// bytes are kept in a file without a name meanwhile, not in memory: traces may be larger than that. Errors:
/// import_profile's, and file-not-regular for a format that is read in no order (needs_file).
Parsed<KernelTable> import_stream(int fd, const std::string& name, const ImportOptions& options = {});

/// One importer. detect() sees the head of the file (at most 64 KiB, unpacked and as UTF-8) and answers
/// whether it is this format's; parse() then gives a table, or says where the file is broken.
struct Importer {
  std::string_view name;
  std::string_view describes;  ///< one line for --help
  bool (*detect)(std::string_view head, const std::string& path);
  Parsed<KernelTable> (*parse)(const std::string& path, const ImportOptions& options);
  bool needs_file = false;  ///< a database, opened by its name and read in no order
};

/// Every importer, in the order of their names.
std::span<const Importer> importers();

/// The slowest of several tables, each a rank of one job: a job takes as long as its slowest rank, so ranks
/// are never summed. `tables` is not empty; a note says how many there were and what the others took.
KernelTable slowest_rank(std::span<const KernelTable> tables, std::span<const std::string> labels);

}  // namespace plumbline
