#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole-process times of quick commands: start, read, print. Over 60 alternating runs each: the time on the clock
(median and quartiles; /bin/true beside it is what starting anything costs) and the processor time (median).

    benchmarks/start_up.py [build/release/plumbline]
"""
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = 60
COMMANDS = {
    "plumbline --version": ["--version"],
    "window show attention_backward": ["window", "show", "attention_backward"],
    "start attention_backward": ["start", "attention_backward"],
    "confirm attention_backward": ["confirm", "attention_backward"],
    "arch report, proxy": ["arch", "report", "--hardware", "a100", "--model", "proxy"],
    "arch report, measured": ["arch", "report"],
    "arch predict, measured": ["arch", "predict", "--layer", "llama3_8b"],
}


def once(command):
    """(milliseconds on the clock, milliseconds of processor time)"""
    begin = time.perf_counter()
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):  # confirm: 1 says that the gate was not reached
        raise SystemExit(f"{command} exits {child.returncode}")
    return (time.perf_counter() - begin) * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3


def main() -> int:
    binary = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/plumbline").resolve())
    times = {name: [] for name in [*COMMANDS, "/bin/true"]}
    for _ in range(RUNS):
        for name, arguments in COMMANDS.items():
            times[name].append(once([binary, *arguments]))
        times["/bin/true"].append(once(["/bin/true"]))
    for name, samples in times.items():
        low, middle, high = statistics.quantiles([clock for clock, _ in samples], n=4)
        cpu = statistics.median(cpu for _, cpu in samples)
        print(f"{name:<34}{middle:6.1f} ms   ({low:.1f} .. {high:.1f})   processor {cpu:.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
