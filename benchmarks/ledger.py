#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A ledger of a million runs: how fast runs are added, one acknowledged after the other and in batches, and what list, show and trend of a card
take then, as whole processes.

    ledger.py PLUMBLINE [--runs 1000000] [--singles 2000] [--postgres]

--postgres does it on a server that is started for it and thrown away. Goals: 500 single and 20,000 batched runs a second; 100 ms."""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/ledger"))
import stress  # noqa: E402


def feed(stream, first, count):
    """`count` runs of ten cards, nine in ten of them of the first."""
    template = json.dumps({"run": stress.record(0, "CARD")})
    ident, ratio = json.dumps(stress.record(0)["ident"]), '"raw_ratio": 0.7,'
    assert ident in template and ratio in template
    with stream:
        for number in range(first, first + count):
            card = "scan" if number % 10 else "card%d" % (number // 10 % 9)
            stream.write(template.replace(ident, '"%012x%020x"' % (1764000000000 + number, number), 1).replace("CARD", card, 1)
                         .replace(ratio, '"raw_ratio": %.6f,' % (0.7 + number % 97 * 1e-3), 1) + "\n")


def processor_s():
    """Processor time of the children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed_import(tool, first, count, *words):
    """(runs a second, runs a second of processor time). The lines lie in a file first, so that what makes them is not timed."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as lines:
        feed(open(lines.name, "w", encoding="utf-8"), first, count)
        begun, used = time.monotonic(), processor_s()
        done = tool.run("import", lines.name, *words)
        took, used = time.monotonic() - begun, processor_s() - used
    assert done.returncode == 0, done.stderr
    return count / took, count / used


def timed_command(tool, *words):
    """Median milliseconds of eleven processes."""
    took = []
    for _ in range(11):
        begun = time.monotonic()
        done = tool.run(*words)
        took.append(1e3 * (time.monotonic() - begun))
        assert done.returncode == 0, done.stderr
    return statistics.median(took)


def measure(tool, options):
    batched, work = timed_import(tool, 0, options.runs)
    print("batched: %.0f runs a second into an empty ledger, up to %d; %.0f a second of processor time" % (batched, options.runs, work),
          flush=True)
    single, work = timed_import(tool, options.runs, options.singles, "--each")
    print("single, each acknowledged: %.0f a second; %.0f a second of processor time" % (single, work), flush=True)
    slow = 0
    for words in (("list", "scan"), ("list", "scan", "--outcome", "fail-gate", "--last", "50"), ("show", "last", "--card", "scan"),
                  ("show", str(options.runs // 2)), ("trend", "scan"), ("list", "card3"), ("trend", "card3")):
        took = timed_command(tool, *words)
        slow = max(slow, took)
        print("%-44s %6.1f ms" % ("ledger " + " ".join(words), took), flush=True)
    if "://" not in tool.ledger:
        print("size: %.0f MB" % (os.path.getsize(tool.ledger) / 1e6))
    return 0 if batched >= 20_000 and single >= 500 and slow <= 100 else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plumbline")
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--singles", type=int, default=2000)
    parser.add_argument("--postgres", action="store_true")
    options = parser.parse_args()
    binary = os.path.abspath(options.plumbline)
    if options.postgres:
        server = stress.Server()
        try:
            return measure(stress.Tool(binary, server.url), options)
        finally:
            server.stop()
    with tempfile.TemporaryDirectory() as folder:
        return measure(stress.Tool(binary, os.path.join(folder, "l.db")), options)


if __name__ == "__main__":
    sys.exit(main())
