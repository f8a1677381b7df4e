// SPDX-License-Identifier: Apache-2.0
// How long a window contract takes: read from text, every check. benchmarks/contract.py times CPython's
// tomllib on the same text beside it.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include "plumbline/base/files.h"
#include "plumbline/base/toml.h"
#include "plumbline/contract/check.h"
#include "plumbline/contract/parse.h"

namespace plumbline {
namespace {

std::string contract_text() {
  const Parsed<std::string> text = read_file(PLUMBLINE_SOURCE_DIR "/benchmarks/data/window.toml");
  if (!text.ok()) std::abort();
  return *text.value;
}

void bench_toml_alone(benchmark::State& state) {
  const std::string text = contract_text();
  for (auto _ : state) benchmark::DoNotOptimize(parse_toml(text, "window.toml"));
}
BENCHMARK(bench_toml_alone)->Name("toml++ alone")->Unit(benchmark::kMicrosecond);

void bench_parse(benchmark::State& state) {
  const std::string text = contract_text();
  for (auto _ : state) benchmark::DoNotOptimize(parse_contract(text, "window.toml"));
}
BENCHMARK(bench_parse)->Name("parse")->Unit(benchmark::kMicrosecond);

void bench_parse_and_check(benchmark::State& state) {
  const std::string text = contract_text();
  for (auto _ : state) {
    const Parsed<WindowContract> contract = parse_contract(text, "window.toml");
    const ContractVerdict verdict = check_contract(*contract.value);
    if (!verdict.findings.empty()) state.SkipWithError("the contract is not clean");
    benchmark::DoNotOptimize(verdict);
  }
}
BENCHMARK(bench_parse_and_check)->Name("parse and check")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace plumbline

BENCHMARK_MAIN();
