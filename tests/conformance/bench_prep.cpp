// SPDX-License-Identifier: Apache-2.0
// kinds bench_prep and bench_grammar: a bench -> the prep step that it passes, and what is wrong with it.
#include "bench.h"

namespace plumbline::conformance {

Source read_source(const std::string& text, const char* code) {
  Parsed<PythonSource> source = decode_python(text, "bench.py");
  Parsed<SyntaxTree> tree = source.ok() ? parse_python(std::move(source.value->text), "bench.py", code)
                                        : failed<SyntaxTree>(source.diagnostics.front());
  Source out;
  for (const Diagnostic& diagnostic : tree.diagnostics) out.findings.push_back({diagnostic});
  out.tree = std::move(tree.value);
  return out;
}

namespace {

std::string check(const Json& test) {
  Source source = read_source(test.at("bench_py").get<std::string>(), "bench-syntax");
  PrepAnswer answer;
  answer.findings = source.findings;
  if (source.tree) answer = check_prep(*source.tree);
  std::string difference = compare_findings(test.at("findings"), answer.findings);
  if (!difference.empty()) return difference;
  return compare_text(test.at("prep"), answer.name ? Json(*answer.name) : Json(nullptr), "prep");
}

const Kind kPrep{"bench_prep", check};
const Kind kGrammar{"bench_grammar", check};

}  // namespace
}  // namespace plumbline::conformance
