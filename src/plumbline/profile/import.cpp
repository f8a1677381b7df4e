// SPDX-License-Identifier: Apache-2.0
#include "plumbline/profile/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <future>

#include "plumbline/base/hash.h"
#include "plumbline/base/numbers.h"
#include "plumbline/profile/importers.h"
#include "plumbline/profile/known_formats.h"
#include "plumbline/profile/source.h"
#include "plumbline/profile/spool.h"

namespace plumbline {
namespace {

constexpr std::size_t kHeadBytes = 64 << 10;

const std::array kImporters = {profile::kNcuCsv,    profile::kNcuText,     profile::kNsysConsole,
                               profile::kNsysCsv,   profile::kNsysSqlite,  profile::kNvprofCsv,
                               profile::kProton,    profile::kRocpdSqlite, profile::kRocprofCsv,
                               profile::kTableFile, profile::kTorchTrace,  profile::kXlaTrace};

std::string names_of(const std::vector<const Importer*>& which) {
  std::string out;
  for (const Importer* importer : which) out += fmt::format("{}{}", out.empty() ? "" : ", ", importer->name);
  return out;
}

const Importer* by_name(const std::string& name) {
  const auto it =
      std::find_if(kImporters.begin(), kImporters.end(), [&](const Importer& i) { return i.name == name; });
  return it == kImporters.end() ? nullptr : &*it;
}

/// The one importer that the options name, or that claims the file.
Parsed<const Importer*> choose(const std::string& path, const ImportOptions& options) {
  if (options.calls && *options.calls < 1) {
    return failed<const Importer*>(diagnose("usage", "--calls must be at least 1"));
  }
  const auto head = profile::read_head(path, kHeadBytes);
  if (!head.ok()) return {std::nullopt, head.diagnostics};
  if (!options.format.empty()) {
    if (const Importer* importer = by_name(options.format)) return {importer, {}};
    std::vector<const Importer*> all;
    for (const Importer& importer : kImporters) all.push_back(&importer);
    return failed<const Importer*>(
        diagnose("import-unknown-format",
                 fmt::format("no format \"{}\"; known are {}", options.format, names_of(all)), {path}));
  }
  std::vector<const Importer*> claims;
  for (const Importer& importer : kImporters) {
    if (importer.detect(*head.value, path)) claims.push_back(&importer);
  }
  if (claims.empty())
    return failed<const Importer*>(
        diagnose("import-unknown-format", profile::guess_format(*head.value, path), {path}));
  if (claims.size() > 1) {
    return failed<const Importer*>(
        diagnose("import-ambiguous-format",
                 fmt::format("could be {}: choose one with --format", names_of(claims)), {path}));
  }
  return {claims.front(), {}};
}

/// Parses, and names the table by the bytes that it came from; a table that names its profiler's file keeps
/// that. Files of many megabytes are hashed beside the reading.
Parsed<KernelTable> parse_and_name(const Importer& importer, const std::string& path,
                                   const ImportOptions& options) {
  constexpr std::uintmax_t kLarge = 4 << 20;
  std::error_code ignored;
  const bool large = std::filesystem::file_size(path, ignored) > kLarge && !ignored;
  std::future<std::string> hash =
      std::async(large ? std::launch::async : std::launch::deferred, [path] { return sha256_of_file(path); });
  Parsed<KernelTable> table = importer.parse(path, options);
  if (table.value && table.value->file_sha256.empty()) table.value->file_sha256 = hash.get();
  return table;
}

}  // namespace

std::span<const Importer> importers() { return kImporters; }

Parsed<KernelTable> import_profile(const std::string& path, const ImportOptions& options) {
  const auto importer = choose(path, options);
  if (!importer.ok()) return {std::nullopt, importer.diagnostics};
  return parse_and_name(**importer.value, path, options);
}

Parsed<KernelTable> import_stream(int fd, const std::string& name, const ImportOptions& options) {
  auto spool = profile::Spool::of(fd, name);
  if (!spool.ok()) return {std::nullopt, std::move(spool.diagnostics)};
  const std::string& path = spool.value->path();
  const auto importer = choose(path, options);
  Parsed<KernelTable> table{std::nullopt, importer.diagnostics};
  if (importer.ok() && (*importer.value)->needs_file) {
    table = failed<KernelTable>(
        diagnose("file-not-regular",
                 fmt::format("{} is a database, which cannot come through a pipe: name its file",
                             (*importer.value)->name),
                 {path}));
  } else if (importer.ok()) {
    table = parse_and_name(**importer.value, path, options);
  }
  for (Diagnostic& diagnostic : table.diagnostics) {
    if (diagnostic.file == path) diagnostic.file = name;
  }
  return table;
}

KernelTable slowest_rank(std::span<const KernelTable> tables, std::span<const std::string> labels) {
  std::size_t slowest = 0;
  for (std::size_t i = 1; i < tables.size(); ++i) {
    if (tables[i].total_ns > tables[slowest].total_ns) slowest = i;
  }
  KernelTable table = tables[slowest];
  std::string others;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (i == slowest) continue;
    table.lossy = table.lossy || tables[i].lossy;
    others += fmt::format("{}{} {} ms", others.empty() ? "" : ", ", labels[i],
                          format_fixed(tables[i].total_ns / 1e6, 3));
  }
  if (!others.empty()) {
    table.notes.push_back(fmt::format("the slowest of {} ranks, {} ({} ms); the others: {}", tables.size(),
                                      labels[slowest], format_fixed(table.total_ns / 1e6, 3), others));
  }
  return table;
}

}  // namespace plumbline
