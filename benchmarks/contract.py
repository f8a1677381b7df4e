#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reading and checking a window contract beside CPython's tomllib on the same text, in one run.

    benchmarks/contract.py [build/bench/benchmarks/bench_contract]
"""
import json
import pathlib
import subprocess
import sys
import timeit
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main() -> int:
    binary = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/bench/benchmarks/bench_contract")
    text = (ROOT / "benchmarks/data/window.toml").read_text(encoding="utf-8")
    done = subprocess.run([binary, "--benchmark_format=json", "--benchmark_repetitions=5",
                           "--benchmark_report_aggregates_only=true"], capture_output=True, text=True, check=True)
    ours = {b["run_name"]: b["cpu_time"] for b in json.loads(done.stdout)["benchmarks"]
            if b["aggregate_name"] == "median"}
    python = sorted(timeit.repeat(lambda: tomllib.loads(text), number=500, repeat=7))[3] / 500 * 1e6
    print(f"a contract of {len(text)} characters, medians")
    for name, micros in ours.items():
        print(f"  {name:<28}{micros:8.1f} µs")
    print(f"  {'tomllib.loads (CPython)':<28}{python:8.1f} µs")
    print(f"parse and all checks: {python / ours['parse and check']:.1f} times as quick as tomllib alone")
    return 0


if __name__ == "__main__":
    sys.exit(main())
