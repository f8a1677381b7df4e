#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every console sample of README.md and docs/*.md is run. A sample is a fenced block with a line "$ plumbline ..."; what follows, up to
the next such line, is what it prints (standard output, standard error, or both). A line of "…" stands for any lines. "# in FOLDER" behind
the command names where it runs, "# with SCRIPT" a script whose output is imported into a ledger.db of an empty folder, where it then runs; else
the root of the project. Usage: samples_test.py PLUMBLINE [--update]"""
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FENCE = re.compile(r"^```\w*\n(.*?)^```$", re.M | re.S)


def samples(text):
    """(command, folder, expected lines, span of the expected text) of each sample."""
    for fence in FENCE.finditer(text):
        starts = list(re.finditer(r"^\$ (plumbline [^\n#]*?)(?:\s+# ?((?:in|with) \S+)?[^\n]*)?$\n?", fence.group(1), re.M))
        for i, start in enumerate(starts):
            end = starts[i + 1].start() if i + 1 < len(starts) else len(fence.group(1))
            base = fence.start(1)
            yield start.group(1), start.group(2), fence.group(1)[start.end():end].splitlines(), (base + start.end(), base + end)


def agrees(expected, got):
    """Are these the lines, "…" being any number of them?"""
    if not expected:
        return not got
    if expected[0].strip() == "…":
        return any(agrees(expected[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and expected[0].rstrip() == got[0].rstrip() and agrees(expected[1:], got[1:])


def run(plumbline, command, where):
    """What it prints: standard output, standard error, and both."""
    how, _, place = (where or "in .").partition(" ")
    if how == "with":
        with tempfile.TemporaryDirectory() as folder:
            banked = subprocess.run([sys.executable, ROOT / place], capture_output=True, check=True).stdout
            (pathlib.Path(folder) / "runs.jsonl").write_bytes(banked)
            subprocess.run([plumbline, "ledger", "import", "runs.jsonl", "--ledger", "ledger.db"], cwd=folder, capture_output=True, check=True)
            return printed(plumbline, command, folder)
    return printed(plumbline, command, ROOT / place)


def printed(plumbline, command, folder):
    line = shlex.quote(plumbline) + command[len("plumbline"):]  # by a shell: a sample may name *.csv
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, timeout=120,
                          env=dict(os.environ, NO_COLOR="1", COLUMNS="100"))
    return [t.splitlines() for t in (done.stdout, done.stderr, done.stdout + done.stderr,
                                          done.stderr + done.stdout)]


def main():
    plumbline, update = os.path.abspath(sys.argv[1]), "--update" in sys.argv
    failures, count = [], 0
    for path in [ROOT / "README.md"] + sorted((ROOT / "docs").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        edits = []
        for command, folder, expected, span in samples(text):
            count += 1
            got = run(plumbline, command, folder)
            if any(agrees(expected, lines) for lines in got):
                continue
            got = got[0] or got[1]
            failures.append("%s: '%s' prints otherwise\n%s" % (path.relative_to(ROOT), command, "\n".join(
                difflib.unified_diff(expected, got, "page", "printed", lineterm="", n=1))))
            if not any(line.strip() == "…" for line in expected):
                edits.append((span, "".join(line + "\n" for line in got)))
        if update:
            for (begin, end), new in reversed(edits):
                text = text[:begin] + new + text[end:]
            path.write_text(text, encoding="utf-8")
    print("\n".join(failures + ["%d samples, %d out of date" % (count, len(failures))]))
    return 1 if failures or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
