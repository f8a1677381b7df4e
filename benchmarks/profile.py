#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`plumbline import` on large files beside what is at hand in Python (csv, json, sqlite3), in one run.

    benchmarks/profile.py [--plumbline build/release/plumbline] [--mib 256] [--rows 2000000] [--trace-mib 2048]

With --launches N only the other importers are read, a file of N launches each, without Python beside them.

Each line: processor time, time by the clock and the rate by it (the hash runs beside the reading), and the most memory; Python sums the same kernels and must get the same total.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

PYTHON = {
    "ncu-raw": """
import csv, sys
total = 0
with open(sys.argv[1], newline='') as f:
    rows = csv.reader(line for line in f if not line.startswith('=='))
    at = next(rows).index('gpu__time_duration.sum'); next(rows)
    for row in rows: total += int(row[at].replace(',', ''))
print(total)""",
    "ncu-details": """
import csv, sys
total = 0
with open(sys.argv[1], newline='') as f:
    rows = csv.reader(f)
    header = next(rows); name, value = header.index('Metric Name'), header.index('Metric Value')
    for row in rows:
        if row[name] == 'Duration': total += round(float(row[value].replace(',', '')) * 1000)
print(total)""",
    "torch": """
import json, sys
trace = json.load(open(sys.argv[1]))
print(round(sum(e['dur'] for e in trace['traceEvents'] if e.get('cat') == 'kernel') * 1000))""",
    "nsys": """
import sqlite3, sys
db = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro&immutable=1', uri=True)
sums = {}
for start, end, name in db.execute('SELECT k.start, k.end, s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName'):
    sums[name] = sums.get(name, 0) + end - start
print(sum(sums.values()))""",
}


def measured(command):
    """(standard output, processor seconds, seconds by the clock, peak MiB) of a command."""
    read, write = os.pipe()
    begun = time.monotonic()
    pid = os.fork()
    if pid == 0:
        os.dup2(write, 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.execvp(command[0], command)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)} failed")
    return text, usage.ru_utime + usage.ru_stime, time.monotonic() - begun, usage.ru_maxrss / 1024


def line(first, who, measured_time, rate, mib):
    return f"{first:<24} {who:<9} {measured_time[0]:7.2f} s processor {measured_time[1]:7.2f} s clock  {rate}  {mib:6.0f} MiB"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plumbline", default=str(ROOT / "build/release/plumbline"))
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--rows", type=int, default=2000000)
    parser.add_argument("--trace-mib", type=int, default=0, help="one more trace of this size, without Python beside it")
    parser.add_argument("--launches", type=int, default=0, help="instead: so many launches through each other importer")
    args = parser.parse_args()
    kinds = [(k, str(args.mib), PYTHON[k]) for k in ("ncu-raw", "ncu-details", "torch")] + [("nsys", str(args.rows), PYTHON["nsys"])]
    if args.trace_mib:
        kinds.append(("torch", str(args.trace_mib), None))
    if args.launches:
        kinds = [(k, str(args.launches), None) for k in ("nsys-trace", "nsys-console", "ncu-text", "rocprofv3", "rocpd", "nvprof",
                                                         "xla", "proton")]
    with tempfile.TemporaryDirectory() as scratch:
        for kind, size, python in kinds:
            path = f"{scratch}/big.{kind}"
            subprocess.run(["/usr/bin/python3", str(ROOT / "tools/make_big_profile.py"), kind, path,
                            "--rows" if kind == "nsys" or args.launches else "--mib", size], check=True)
            size_mb = os.path.getsize(path) / 1e6
            text, processor, seconds, mib = measured([args.plumbline, "--json", "import", path])
            table = json.loads(text)
            rows = table["account"]["rows"]
            rate = f"{rows / seconds / 1e6:6.2f} M rows/s" if kind in ("nsys", "rocpd") else f"{size_mb / seconds:6.0f} MB/s    "
            print(line(f"{kind:<12} {size_mb:7.0f} MB", "plumbline", (processor, seconds), rate, mib), flush=True)
            if python:
                text, processor, seconds, mib = measured(["/usr/bin/python3", "-c", python, path])
                if int(text) != table["total_ns"]:
                    sys.exit(f"{kind}: {text.strip()} in Python, {table['total_ns']} in plumbline")
                rate = f"{rows / seconds / 1e6:6.2f} M rows/s" if kind == "nsys" else f"{size_mb / seconds:6.0f} MB/s    "
                print(line("", "python", (processor, seconds), rate, mib), flush=True)
            os.unlink(path)


if __name__ == "__main__":
    main()
