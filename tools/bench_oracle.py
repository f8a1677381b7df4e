#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds Plumbline's Python reader against CPython's own parser.

  bench_oracle.py READER walk FILE_OR_FOLDER…      every node of every file, in ast.walk order
  bench_oracle.py READER mutate N SEED FOLDER…     N files with one token changed: accepted by both or by neither
  bench_oracle.py READER valid FOLDER…             every file that CPython accepts must be accepted

READER is build/…/read_python. The oracle is the interpreter that runs this script: run it with several versions.
Exit status 1 when a walk differs, a valid file is refused, or mutations agree on less than 99 %.
"""
import ast
import io
import pathlib
import random
import subprocess
import sys
import tokenize
import warnings

warnings.simplefilter("ignore")
SKIPPED = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop, ast.Constant, ast.type_ignore)
NAMES = {"Name": "id", "Attribute": "attr", "arg": "arg", "keyword": "arg", "FunctionDef": "name",
         "AsyncFunctionDef": "name", "ClassDef": "name", "alias": "name", "ImportFrom": "module", "TypeVar": "name",
         "ParamSpec": "name", "TypeVarTuple": "name"}


def read_all(reader, sources, walk=False):
    """What the reader says of each source: lists of lines with walk, else one line each."""
    data = b"".join(b"%d\n%s" % (len(source), source) for source in sources)
    out = subprocess.run([reader] + (["--walk"] if walk else []), input=data, stdout=subprocess.PIPE, check=True).stdout
    if not walk:
        return out.decode("utf-8").split("\n")[:-1]
    return [block.split("\n") for block in out.decode("utf-8").split("\n\n")[:-1]]


def parse(source):
    """CPython's tree of the bytes, or None. What its later passes refuse still parses."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def spans_of_fstrings(tree):
    """Nodes inside f-strings: their positions differ between versions of CPython."""
    return {id(inner) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for inner in ast.walk(node)}


def walk_lines(tree):
    inside = spans_of_fstrings(tree)
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, SKIPPED):
            continue
        kind = type(node).__name__
        line = kind
        name = getattr(node, NAMES[kind]) if kind in NAMES else node.name if kind == "MatchAs" and node.pattern else None
        if name:
            line += " " + name
        if kind == "alias" and node.asname:
            line += " " + node.asname
        if kind == "Call":
            line += " ?" if id(node) in inside else f" {node.lineno}"
        lines.append(line)
    return lines


def same(mine, theirs):
    return len(mine) == len(theirs) and all(
        a == b or (b.endswith("?") and a.split(" ")[0] == "Call") for a, b in zip(mine, theirs))


def python_files(paths):
    for path in map(pathlib.Path, paths):
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def check_walk(reader, paths):
    compared = differing = nodes = 0
    batch = []

    def flush():
        nonlocal compared, differing, nodes
        answers = read_all(reader, [source for _, source, _ in batch], walk=True)
        for (path, _, tree), answer in zip(batch, answers):
            theirs = walk_lines(tree)
            nodes += len(theirs)
            compared += 1
            if not same(answer[1:], theirs):
                differing += 1
                at = next((i for i, (a, b) in enumerate(zip(answer[1:], theirs)) if a != b and not b.endswith("?")), -1)
                print(f"{path}: {answer[0]}; node {at}: {answer[1 + at:4 + at]} against {theirs[at:3 + at]}")
        batch.clear()

    for path in python_files(paths):
        source = path.read_bytes()
        tree = parse(source)
        if tree is None:
            continue
        batch.append((path, source, tree))
        if len(batch) == 200:
            flush()
    flush()
    print(f"walk: {compared} files, {nodes} nodes, {differing} files differ")
    return differing == 0 and compared > 0


def check_valid(reader, paths):
    files = list(python_files(paths))
    accepted = refused = invalid = lenient = 0
    for start in range(0, len(files), 200):
        part = files[start:start + 200]
        sources = [path.read_bytes() for path in part]
        for path, source, answer in zip(part, sources, read_all(reader, sources)):
            ok = answer == "ok"
            if parse(source) is not None:
                accepted += ok
                refused += not ok
                if not ok:
                    print(f"{path}: refused: {answer}")
            else:
                invalid += 1
                if ok:
                    lenient += 1
                    print(f"{path}: accepted, CPython refuses it")
    print(f"valid: {accepted + refused} files that CPython accepts, {refused} refused; "
          f"{invalid} that it refuses, {lenient} accepted")
    return refused == 0 and accepted > 0


WORDS = ["if", "else", "def", "class", "return", "lambda", "async", "await", "match", "case", "type", "print", "yield",
         "from", "import", "as", "in", "not", "is", "and", "or", "for", "with", "try", "except", "None", "x", "self",
         "1", "0", "07", "1.5", "2j", "''", "b''", "f'{x}'", "(", ")", "[", "]", "{", "}", ",", ":", ";", ".", "...",
         "=", ":=", "==", "+=", "->", "*", "**", "@", "~", "-", "+", "!", "!=", "<", "<>", "\\", "\n", "    ", "\t", "#"]


def mutate(text, rng):
    """One token deleted, repeated, swapped with the next, replaced or inserted."""
    tokens = [t for t in tokenize.generate_tokens(io.StringIO(text).readline)
              if t.type not in (tokenize.ENDMARKER, tokenize.DEDENT) and t.string]
    if len(tokens) < 2:
        return None
    starts = [0]
    for line in io.StringIO(text):
        starts.append(starts[-1] + len(line))
    i = rng.randrange(len(tokens) - 1)
    begin, end = (starts[tokens[i].start[0] - 1] + tokens[i].start[1], starts[tokens[i].end[0] - 1] + tokens[i].end[1])
    kind = rng.choice(["delete", "repeat", "swap", "replace", "insert"])
    token = text[begin:end]
    if kind == "delete":
        new = ""
    elif kind == "repeat":
        new = token + " " + token
    elif kind == "replace":
        new = rng.choice(WORDS)
    elif kind == "insert":
        new = rng.choice(WORDS) + " " + token
    else:
        after_begin = starts[tokens[i + 1].start[0] - 1] + tokens[i + 1].start[1]
        after_end = starts[tokens[i + 1].end[0] - 1] + tokens[i + 1].end[1]
        return text[:begin] + text[after_begin:after_end] + text[end:after_begin] + token + text[after_end:], kind
    return text[:begin] + new + text[end:], kind


def check_mutations(reader, count, seed, paths):
    rng = random.Random(seed)
    texts = []
    for path in python_files(paths):
        source = path.read_bytes()
        if len(source) > 60_000 or parse(source) is None:
            continue
        try:
            texts.append((path, source.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")))
        except UnicodeDecodeError:
            continue
    mutants = []
    while len(mutants) < count:
        path, text = rng.choice(texts)
        try:
            mutant = mutate(text, rng)
        except (tokenize.TokenError, IndentationError, SyntaxError):
            continue
        if mutant:
            mutants.append((path, *mutant))
    answers = read_all(reader, [text.encode("utf-8") for _, text, _ in mutants])
    broken = agree = lenient = strict = 0
    for (path, text, kind), answer in zip(mutants, answers):
        theirs = parse(text.encode("utf-8")) is not None
        mine = answer == "ok"
        broken += not theirs
        agree += mine == theirs
        if mine and not theirs:
            lenient += 1
            try:
                compile(text, str(path), "exec", ast.PyCF_ONLY_AST)
            except (SyntaxError, ValueError) as error:
                print(f"{path} ({kind}): accepted; CPython: {error}")
        elif theirs and not mine:
            strict += 1
            print(f"{path} ({kind}): refused: {answer}")
    print(f"mutations: {count} (seed {seed}), {broken} broken, agreement {100 * agree / count:.2f} %, "
          f"{lenient} falsely accepted, {strict} falsely refused")
    return agree >= 0.99 * count


def main():
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    reader, what, *rest = sys.argv[1:]
    print(f"CPython {sys.version.split()[0]}")
    if what == "walk":
        return 0 if check_walk(reader, rest) else 1
    if what == "valid":
        return 0 if check_valid(reader, rest) else 1
    if what == "mutate":
        return 0 if check_mutations(reader, int(rest[0]), int(rest[1]), rest[2:]) else 1
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
