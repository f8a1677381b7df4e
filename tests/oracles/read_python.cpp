// SPDX-License-Identifier: Apache-2.0
// Reads length-prefixed Python sources from standard input ("LENGTH\n", then that many bytes) and says of
// each whether it parses; with --walk also every node in breadth-first order. tools/bench_oracle.py holds the
// answers against CPython's.
#include <fmt/format.h>

#include <array>
#include <iostream>
#include <string>

#include "plumbline/bench/syntax.h"

namespace {

using plumbline::NodeKind;

constexpr std::array kNames{"Module",
                            "FunctionDef",
                            "AsyncFunctionDef",
                            "ClassDef",
                            "Return",
                            "Delete",
                            "Assign",
                            "TypeAlias",
                            "AugAssign",
                            "AnnAssign",
                            "For",
                            "AsyncFor",
                            "While",
                            "If",
                            "With",
                            "AsyncWith",
                            "Match",
                            "Raise",
                            "Try",
                            "TryStar",
                            "Assert",
                            "Import",
                            "ImportFrom",
                            "Global",
                            "Nonlocal",
                            "Expr",
                            "Pass",
                            "Break",
                            "Continue",
                            "BoolOp",
                            "NamedExpr",
                            "BinOp",
                            "UnaryOp",
                            "Lambda",
                            "IfExp",
                            "Dict",
                            "Set",
                            "ListComp",
                            "SetComp",
                            "DictComp",
                            "GeneratorExp",
                            "Await",
                            "Yield",
                            "YieldFrom",
                            "Compare",
                            "Call",
                            "FormattedValue",
                            "JoinedStr",
                            "Constant",
                            "Attribute",
                            "Subscript",
                            "Starred",
                            "Name",
                            "List",
                            "Tuple",
                            "Slice",
                            "comprehension",
                            "ExceptHandler",
                            "arguments",
                            "arg",
                            "keyword",
                            "alias",
                            "withitem",
                            "match_case",
                            "MatchValue",
                            "MatchSingleton",
                            "MatchSequence",
                            "MatchMapping",
                            "MatchClass",
                            "MatchStar",
                            "MatchAs",
                            "MatchOr",
                            "TypeVar",
                            "ParamSpec",
                            "TypeVarTuple"};
static_assert(kNames.size() == static_cast<std::size_t>(NodeKind::type_var_tuple) + 1);

void print_walk(const plumbline::SyntaxTree& tree) {
  std::string out;
  for (const plumbline::SyntaxNode& node : tree.nodes()) {
    if (node.kind == NodeKind::constant) continue;
    out += kNames[static_cast<std::size_t>(node.kind)];
    if (node.name != 0) out.append(" ").append(tree.name(node));
    if (node.kind == NodeKind::alias && node.as_name != 0) out.append(" ").append(tree.as_name(node));
    if (node.kind == NodeKind::call) out += fmt::format(" {}", tree.position(node.begin).line);
    out += '\n';
  }
  std::cout << out;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const bool walk = argc > 1 && std::string_view(argv[1]) == "--walk";
  for (std::string line; std::getline(std::cin, line);) {
    std::string bytes(std::stoul(line), '\0');
    std::cin.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    auto source = plumbline::decode_python(bytes, "input.py");
    if (!source.ok()) {
      std::cout << "error " << source.diagnostics[0].message << "\n";
      if (walk) std::cout << "\n";
      continue;
    }
    const auto tree = plumbline::parse_python(std::move(source.value->text), "input.py");
    if (tree.ok()) {
      std::cout << "ok\n";
      if (walk) print_walk(*tree.value);
    } else {
      const plumbline::Diagnostic& d = tree.diagnostics[0];
      std::cout << fmt::format("error {}:{} {}\n", d.line, d.column, d.message);
    }
    if (walk) std::cout << "\n";
  }
  return 0;
}
