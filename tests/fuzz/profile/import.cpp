// SPDX-License-Identifier: Apache-2.0
// Any bytes as a profiler's file: the importer ends with a table whose sums hold, or with an error, never
// otherwise. PLUMBLINE_FORMAT names the importer.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "plumbline/profile/import.h"

using namespace plumbline;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// The bytes as a file in memory (SQLite wants a path).
std::string written(const std::uint8_t* data, std::size_t size) {
  static const std::string path = "/dev/shm/plumbline-fuzz-" + std::to_string(getpid());
  std::FILE* file = std::fopen(path.c_str(), "wb");
  require(file != nullptr, "a scratch file");
  if (size > 0) require(std::fwrite(data, 1, size, file) == size, "a write");
  std::fclose(file);
  return path;
}

void check(const Parsed<KernelTable>& result) {
  if (!result.ok()) return require(has_errors(result.diagnostics), "a refusal says why");
  const KernelTable& t = *result.value;
  const RowAccount& a = t.account;
  require(a.rows == a.kept + a.dropped + a.ignored, "rows = kept + dropped + ignored");
  require(a.kept >= 0 && a.dropped >= 0 && a.ignored >= 0, "no row counts negatively");
  require(!t.kernels.empty() && t.total_ns > 0, "a table is not empty");
  require(a.dropped == 0 || t.lossy, "dropped rows make a table lossy");
  const std::string text = write_json(to_json(t));
  const auto again = parse_kernel_table(text, "table.json");
  require(again.ok(), "its JSON can be read");
  require(write_json(to_json(*again.value)) == text, "and says the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string path = written(data, size);
  ImportOptions options;
  options.format = PLUMBLINE_FORMAT;
  check(import_profile(path, options));
  options.range = "window";
  check(import_profile(path, options));
  options = {};
  options.ranks = true;
  check(import_profile(path, options));
  return 0;
}
