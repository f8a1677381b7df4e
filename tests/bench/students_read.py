#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `start` says of the students of tests/gpu, read and not run: nothing of the honest ones, and something of at least 30 of those that
cheat (the rest shows only while it is measured):  students_read.py PLUMBLINE"""
import json
import pathlib
import subprocess
import sys
import tempfile

from start_cases import MAKE, WINDOW, bench

STUDENTS = pathlib.Path(__file__).resolve().parent.parent / "gpu" / "students"
LEAST = 30
REFERENCE = "from base import rmsnorm\n\n\ndef run(x, w):\n    return rmsnorm(x, w)\n"
PREP = "def prep(inputs):\n    return {'scale': inputs['x'].float().square().mean(-1, keepdim=True)}\n\n\n"


def said_of(plumbline, student):
    """The codes that start has for a card with this student."""
    text = student.read_text(encoding="utf-8")
    prep = "def run(x, w, scale)" in text  # both sides then receive what prep makes
    window = WINDOW.replace('"y"', '"w", "scale"' if prep else '"w"')
    reference = REFERENCE.replace("def run(x, w)", "def run(x, w, scale)") if prep else REFERENCE
    files = {"window.toml": window, "kernel.py": text, "base.py": (STUDENTS / "base.py").read_text(encoding="utf-8"), "reference.py": reference,
             "eval/bench.py": bench(make=(PREP if prep else "") + MAKE.replace("'y'", "'w'"), more=", prep=prep" if prep else "",
                                    sides="student='kernel:run', reference='reference:run'")}
    with tempfile.TemporaryDirectory() as scratch:
        for name, content in files.items():
            path = pathlib.Path(scratch, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(content, encoding="utf-8")
        run = subprocess.run([plumbline, "start", scratch, "--json"], capture_output=True, text=True, check=False)
    document = json.loads(run.stdout)
    return sorted({one["code"] for one in document["findings"] + document["warnings"]})


def main():
    """1 when an honest student is doubted, or too many of the others pass quietly."""
    plumbline = str(pathlib.Path(sys.argv[1]).resolve())
    found = {path.stem: said_of(plumbline, path) for path in sorted(STUDENTS.glob("*_*.py"))}
    alarms = {name: codes for name, codes in found.items() if name.startswith("honest") and codes}
    cheats = {name: codes for name, codes in found.items() if name.startswith("cheat")}
    seen = sum(bool(codes) for codes in cheats.values())
    for name, codes in alarms.items():
        print(f"false alarm: {name}: {codes}")
    print(f"{len(found) - len(cheats)} honest students, {len(alarms)} false alarms; {seen} of {len(cheats)} cheats are said before they run")
    return 1 if alarms or seen < LEAST or len(found) < 70 else 0


if __name__ == "__main__":
    sys.exit(main())
