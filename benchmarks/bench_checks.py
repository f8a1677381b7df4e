#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the bench checks beside CPython's ast.parse, on one core, in one run.

  benchmarks/bench_checks.py BENCHMARK [PLUMBLINE CARD]

BENCHMARK is build/bench/benchmarks/bench_bench_checks. The benches are the conformance cases that parse, joined
until they have 200 lines; the large file is the standard library, joined likewise to about 5 MB.
"""
import ast
import json
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import time
import warnings

warnings.simplefilter("ignore")
LINES = 200


def parses(text):
    try:
        ast.parse(text)
        return True
    except (SyntaxError, ValueError):
        return False


def benches():
    """200 lines each, out of whole conformance cases; cut back to where the text parses."""
    cases = pathlib.Path(__file__).resolve().parent.parent / "tests/conformance/cases/bench_prep.jsonl"
    texts = [json.loads(line)["bench_py"] for line in cases.read_text(encoding="utf-8").split("\n") if line]
    texts = [text.replace("\r\n", "\n").replace("\r", "\n") for text in texts if parses(text)]
    joined, out = "", []
    for text in texts:
        joined += text.rstrip("\n") + "\n"
        if joined.count("\n") < LINES:
            continue
        lines = joined.split("\n")
        for end in range(LINES, LINES // 2, -1):
            if parses("\n".join(lines[:end]) + "\n"):
                out.append("\n".join(lines[:end] + ["# pad"] * (LINES - end)) + "\n")
                break
        joined = ""
    return out


def large_file():
    text = ""
    for path in sorted(pathlib.Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        source = path.read_text(encoding="utf-8", errors="replace")
        if "from __future__" not in source and parses(source):
            text += source.rstrip("\\\n") + "\n"
        if len(text) > 5_000_000:
            break
    return text


def cpython_rate(texts):
    begin, count = time.perf_counter(), 0
    while time.perf_counter() - begin < 2:
        for text in texts:
            ast.parse(text)
        count += 1
    seconds = time.perf_counter() - begin
    return count * len(texts) / seconds, count * sum(len(t.encode()) for t in texts) / seconds / 1e6


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name, texts, unit, floor in (("benches of 200 lines", benches(), "files_per_s", 1000),
                                         ("one large file", [large_file()], "mb_per_s", 6)):
            paths = []
            for i, text in enumerate(texts):
                paths.append(f"{folder}/{i}.py")
                pathlib.Path(paths[-1]).write_text(text, encoding="utf-8")
            mine = json.loads(subprocess.run([sys.argv[1], *paths], stdout=subprocess.PIPE, check=True).stdout)
            files, megabytes = cpython_rate(texts)
            print(f"{name} ({len(texts)}, {sum(map(len, texts)) / len(texts) / 1000:.1f} kB): all rules "
                  f"{mine['files_per_s']:.1f} files/s, {mine['mb_per_s']:.1f} MB/s; ast.parse alone {files:.1f} files/s, "
                  f"{megabytes:.1f} MB/s")
            failed |= mine[unit] < floor
    if len(sys.argv) > 3:
        times = []
        for _ in range(50):
            begin = time.perf_counter()
            subprocess.run([sys.argv[2], "start", sys.argv[3]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            times.append(1000 * (time.perf_counter() - begin))
        times.sort()
        print(f"plumbline start: median {times[len(times) // 2]:.1f} ms, fastest {times[0]:.1f} ms of {len(times)}")
        failed |= times[len(times) // 2] > 20
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
