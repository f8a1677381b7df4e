#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Golden tests: each folder of tests/golden holds `cmd` (one shell line, $PLUMBLINE is the binary), optional inputs,
and expected/{stdout,stderr,exit} (+ files that the command writes, as expected/files/NAME).

The command runs in a copy of the folder. Each case also runs a second time from another directory, in a locale with
decimal commas and with another thread count, and must give the same bytes.

  tools/golden.py --plumbline build/release/plumbline [NAME...]          check
  tools/golden.py --plumbline build/release/plumbline --update [NAME...] rewrite what differs, print the diff, exit 1

$SOURCE is the project's root; $SHARED a folder of third-party material beside it (cases that need it say so in a file
`needs`, one path a line, and are skipped where a path is absent).
"""
import argparse
import concurrent.futures
import difflib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CASES = ROOT / "tests" / "golden"
TIMEOUT_S = 240
COMMA_LOCALE = "de_DE.UTF-8"  # test.sh makes it; without it the second run keeps C.UTF-8


def comma_locale():
    known = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.lower()
    return COMMA_LOCALE if "de_de.utf" in known else "C.UTF-8"


def expand(text):
    return text.replace("$SOURCE", str(ROOT)).replace("$SHARED", str(ROOT.parent / "shared"))


def run_case(case, binary, extra_env, depth):
    """Runs cmd in a copy of the case; returns {relative expected path: bytes}."""
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(scratch, *["deeper"] * depth, "case")
        shutil.copytree(case, work, ignore=shutil.ignore_patterns("expected", "cmd"), symlinks=True)
        before = {p.relative_to(work) for p in work.rglob("*")}
        env = {**{k: v for k, v in os.environ.items() if k != "COLUMNS"}, "PLUMBLINE": str(binary), "SOURCE": str(ROOT), "SHARED": str(ROOT.parent / "shared"),
               "NO_COLOR": "1", "LC_ALL": "C.UTF-8", **extra_env}
        command = (case / "cmd").read_text(encoding="utf-8")
        done = subprocess.run(["bash", "-c", command], cwd=work, env=env, capture_output=True, timeout=TIMEOUT_S,
                              stdin=subprocess.DEVNULL)

        def neutral(data):
            return data.replace(str(ROOT).encode(), b"$SOURCE").replace(str(work).encode(), b"$WORK")

        results = {"stdout": neutral(done.stdout), "stderr": neutral(done.stderr),
                   "exit": f"{done.returncode}\n".encode()}
        for path in sorted(work.rglob("*")):
            if path.is_file() and path.relative_to(work) not in before:
                results[f"files/{path.relative_to(work)}"] = neutral(path.read_bytes())
        return results


def expected_of(case):
    folder = case / "expected"
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def describe(name, want, got):
    lines = []
    for key in sorted(set(want) | set(got)):
        if want.get(key) == got.get(key):
            continue
        old = want.get(key, b"").decode("utf-8", "replace").splitlines(keepends=True)
        new = got.get(key, b"").decode("utf-8", "replace").splitlines(keepends=True)
        lines += list(difflib.unified_diff(old, new, f"{name}/expected/{key}", f"{name}/now/{key}"))[:60]
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def check(case, binary, update, once):
    """(name, outcome, text)"""
    needs = case / "needs"
    if needs.exists():
        absent = [n for n in needs.read_text().split() if not pathlib.Path(expand(n)).exists()]
        if absent:
            return case.name, "skipped", f"{absent[0]} is absent"
    got = run_case(case, binary, {}, 0)
    want = expected_of(case)
    if got != want:
        if update:
            shutil.rmtree(case / "expected", ignore_errors=True)
            for key, data in got.items():
                path = case / "expected" / key
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        return case.name, "failed", describe(case.name, want, got)
    if once:
        return case.name, "passed", ""
    again = run_case(case, binary, {"LC_ALL": comma_locale(), "PLUMBLINE_THREADS": "8", "TZ": "Asia/Tokyo"}, 3)
    if again != want:
        return case.name, "failed", "differs in another directory and locale:\n" + describe(case.name, want, again)
    return case.name, "passed", ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plumbline", required=True, type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--once", action="store_true", help="leave the second run out: for a build with sanitizers")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    binary = options.plumbline.resolve()
    cases = sorted(p.parent for p in CASES.rglob("cmd"))
    if options.names:
        cases = [c for c in cases if c.name in options.names]
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        results = list(pool.map(lambda case: check(case, binary, options.update, options.once), cases))
    for name, outcome, text in results:
        if outcome != "passed":
            print(f"{outcome}: {name}\n{text}")
    count = {o: sum(r[1] == o for r in results) for o in ("passed", "failed", "skipped")}
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 1 if count["failed"] or not results else 0


if __name__ == "__main__":
    sys.exit(main())
