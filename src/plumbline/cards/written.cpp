// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cards/written.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "plumbline/base/text.h"

namespace plumbline {
namespace {

std::string toml_list(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(toml_quoted(name));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

constexpr std::string_view kLaunch =
    R"("""Calls of one side, each on inputs of its own, for the recorder or a profiler:

    plumbline record -o student.table.json -- python eval/ncu_run.py student [WORKLOAD]
"""
import os
import sys

import torch
from plumbline import record_calls
from plumbline.problems import input_sets

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
SIDE, WORKLOAD = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None

{prepare}if SIDE == "student":
    from kernel import run
else:
    from reference import run

# As in the timed window: each call has inputs of its own, and what it returns stays, so that no call reads or overwrites
# lines that another one left in L2. The first round compiles and leaves the allocator the memory of the second.
sets = input_sets(make_inputs)
outputs = [run(**inputs) for inputs in sets]
del outputs
torch.cuda.synchronize()
record_calls(len(sets))
torch.cuda.profiler.start()
outputs = [run(**inputs) for inputs in sets]
torch.cuda.synchronize()
torch.cuda.profiler.stop()
)";

}  // namespace

std::string contract_of(const SameBoundary& boundary, std::string_view remark) {
  const std::string inputs = toml_list(boundary.inputs);
  const std::string outputs = toml_list(boundary.outputs);
  return fmt::format(
      "{}schema_version = 1\n\n[reference]\nwindow  = {}\ninputs  = {}\noutputs = {}\n\n"
      "[student]\nwindow  = {}\ninputs  = {}\noutputs = {}\n",
      remark, toml_quoted(boundary.reference_window), inputs, outputs, toml_quoted(boundary.student_window),
      inputs, outputs);
}

std::string launch_script(std::string_view prepare) {
  return fmt::format(fmt::runtime(kLaunch), fmt::arg("prepare", prepare));
}

std::string side_file(std::string_view remark, std::string_view before,
                      const std::vector<std::string>& parameters, std::string_view expression) {
  return fmt::format("\"\"\"{}\"\"\"\n{}\n\ndef run({}):\n    \"\"\"The timed call.\"\"\"\n    return {}\n",
                     remark, before, fmt::join(parameters, ", "), expression);
}

Parsed<SyntaxTree> parse_problem(const std::string& text, const std::string& file) {
  Parsed<PythonSource> source = decode_python(text, file);
  if (!source.ok()) {
    return failed<SyntaxTree>(diagnose("problem-syntax", source.diagnostics.front().message, {file}));
  }
  return parse_python(std::move(source.value->text), file, "problem-syntax");
}

Diagnostic not_converted(const SyntaxTree& tree, const SyntaxNode& at, std::string message) {
  return diagnose("problem-not-converted", std::move(message), tree.locate(at));
}

Diagnostics local_imports(const SyntaxTree& tree, const std::vector<std::string>& siblings) {
  for (const SyntaxNode& alias : tree.nodes()) {
    if (alias.kind != NodeKind::alias) continue;
    const SyntaxNode& import = tree.parent(alias);
    const bool from = import.kind == NodeKind::import_from;
    const std::string_view module = from ? tree.name(import) : tree.name(alias);
    const std::string root(module.substr(0, module.find('.')));
    if ((from && import.as_name > 0) || std::find(siblings.begin(), siblings.end(), root) != siblings.end()) {
      return {not_converted(tree, alias,
                            fmt::format("the problem imports {}, a file beside it; one file is converted",
                                        root.empty() ? std::string(tree.name(alias)) : root))};
    }
  }
  return {};
}

}  // namespace plumbline
