// SPDX-License-Identifier: Apache-2.0
// bench_bench_checks FILE…: every rule on each file, over and over, on one core; prints files and megabytes a
// second. benchmarks/bench_checks.py writes the files and times CPython's ast.parse beside it.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "plumbline/base/files.h"
#include "plumbline/bench/check.h"
#include "plumbline/bench/warnings.h"

namespace {

using Clock = std::chrono::steady_clock;
using namespace plumbline;

/// All that `plumbline bench` does with a file's bytes. Returns what it said, so that nothing is optimised
/// away.
std::size_t check_all(const std::string& bytes) {
  Parsed<PythonSource> source = decode_python(bytes, "bench.py");
  if (!source.ok()) return 1;
  const Parsed<SyntaxTree> tree = parse_python(std::move(source.value->text), "bench.py");
  if (!tree.ok()) return 1;
  ModuleSet modules("");
  const PrepAnswer prep = check_prep(*tree.value);
  const WorkloadsAnswer workloads = check_workloads(*tree.value, std::nullopt);
  return prep.findings.size() + workloads.findings.size() +
         bench_warnings(*tree.value, prep.name, workloads.leaderboard, modules).size();
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files;
  std::size_t bytes = 0;
  for (int i = 1; i < argc; ++i) {
    Parsed<std::string> text = read_file(argv[i]);
    if (!text.ok()) {
      fmt::print(stderr, "{}: cannot be read\n", argv[i]);
      return 2;
    }
    bytes += text.value->size();
    files.push_back(std::move(*text.value));
  }
  if (files.empty()) {
    fmt::print(stderr, "usage: bench_bench_checks FILE...\n");
    return 2;
  }
  std::size_t said = 0;
  std::size_t rounds = 0;
  const auto begin = Clock::now();
  double seconds = 0;
  do {
    for (const std::string& file : files) said += check_all(file);
    ++rounds;
    seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  } while (seconds < 2.0);
  const double turns = static_cast<double>(rounds);
  fmt::print("{{\"files_per_s\": {:.1f}, \"mb_per_s\": {:.2f}, \"said\": {}}}\n",
             turns * static_cast<double>(files.size()) / seconds,
             turns * static_cast<double>(bytes) / seconds / 1e6, said / rounds);
  return 0;
}
