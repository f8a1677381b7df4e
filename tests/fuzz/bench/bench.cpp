// SPDX-License-Identifier: Apache-2.0
// Any bytes as a bench and as its launch script: reading, every rule and every warning end, with places in
// the text.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "plumbline/bench/check.h"
#include "plumbline/bench/warnings.h"

using namespace plumbline;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// The tree's own promises: children lie together, behind their parent and inside the text.
void check_tree(const SyntaxTree& tree) {
  const auto nodes = tree.nodes();
  SyntaxTree::Index next = 1;
  for (const SyntaxNode& node : nodes) {
    require(node.first_child == next);
    next += node.child_count;
    require(node.begin <= node.end && node.end <= tree.source().size());
    (void)tree.name(node);
  }
  require(next == nodes.size());
}

void check_places(const Findings& findings, const SyntaxTree& tree) {
  for (const Finding& finding : findings)
    require(finding.diagnostic.line >= 1 && finding.diagnostic.line <= tree.position(SIZE_MAX).line);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Parsed<PythonSource> source = decode_python(bytes, "bench.py");
  require(source.ok() != has_errors(source.diagnostics) || !source.ok());
  (void)problem_group_length(bytes);
  if (!source.ok()) return 0;
  const Parsed<SyntaxTree> parsed = parse_python(std::move(source.value->text), "bench.py");
  require(parsed.ok() == parsed.diagnostics.empty());
  if (!parsed.ok()) return 0;
  const SyntaxTree& tree = *parsed.value;
  check_tree(tree);
  const PrepAnswer prep = check_prep(tree);
  require(prep.findings.size() <= 1);
  check_places(prep.findings, tree);
  ModuleSet modules("");
  check_places(bench_warnings(tree, prep.name, false, modules), tree);
  check_places(check_workloads(tree, std::string(bytes)).findings, tree);
  const std::string name = prep.name.value_or("prep");
  require(check_ncu_run(tree, name).size() <= 1);
  check_places(script_warnings(tree, &tree, name, {}), tree);
  return 0;
}
