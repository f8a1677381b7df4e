#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""At least 95 % of the public names carry a doc comment.

C++: every struct, class, enum, constant and function of an installed header (those that a
stage's CMakeLists names in plumbline_public_headers) has a comment above it or behind it on its line.
Python: every public module, class and function of the package has a docstring.
"""
import ast
import pathlib
import re
import sys

NEEDED = 0.95
ROOT = pathlib.Path(__file__).resolve().parent.parent
DECLARATION = re.compile(
    r"^(?:template\s*<.*>\s*)?(?:(?:struct|class|enum(?: class)?)\s+(?P<type>\w+)[^;]*\{|"
    r"(?:inline\s+)?constexpr\s+[\w:<>, ]+\s+(?P<constant>k\w+)|"
    r"(?!return\b|using\b|namespace\b|static_assert\b|friend\b|else\b)[\w:<>,&*\s\[\]]+?[\s&*](?P<function>\w+)\()")


def public_headers():
    for cmake in sorted((ROOT / "src/plumbline").glob("*/CMakeLists.txt")):
        for block in re.findall(r"plumbline_public_headers\(([^)]*)\)", cmake.read_text()):
            for name in block.split():
                yield cmake.parent / name


def cpp_names(path):
    """(name, line, documented) of each declaration, members included."""
    lines = path.read_text(encoding="utf-8").splitlines()
    types = set()
    for number, line in enumerate(lines):
        match = DECLARATION.match(line)
        if not match:
            continue
        name = match.group("type") or match.group("constant") or match.group("function")
        if match.group("function") in types:  # a constructor or destructor says nothing of its own
            continue
        if match.group("type"):
            types.add(name)
        above = number - 1
        while above >= 0 and lines[above].startswith("template"):
            above -= 1
        documented = (above >= 0 and lines[above].lstrip().startswith("//")) or "//" in line
        yield name, number + 1, documented


def python_names(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield path.stem, 1, ast.get_docstring(tree) is not None

    def walk(body, prefix, inside_class):
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                yield prefix + node.name, node.lineno, ast.get_docstring(node) is not None
                if isinstance(node, ast.ClassDef):
                    yield from walk(node.body, prefix + node.name + ".", True)

    yield from walk(tree.body, "", False)


def main() -> int:
    total, missing = 0, []
    for path in public_headers():
        for name, line, documented in cpp_names(path):
            total += 1
            if not documented:
                missing.append(f"{path.relative_to(ROOT)}:{line}: {name} has no doc comment")
    for path in sorted((ROOT / "timing/python").rglob("*.py")):
        if path.name.startswith("_") and path.name != "__init__.py":
            continue
        for name, line, documented in python_names(path):
            total += 1
            if not documented:
                missing.append(f"{path.relative_to(ROOT)}:{line}: {name} has no docstring")
    share = 1 - len(missing) / total if total else 0
    print("\n".join(missing + [f"{share:.1%} of {total} public names are documented"]))
    return 0 if share >= NEEDED else 1


if __name__ == "__main__":
    sys.exit(main())
