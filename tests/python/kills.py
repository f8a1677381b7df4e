# SPDX-License-Identifier: Apache-2.0
"""Kills `plumbline run` at random moments on the fake device, itself or its bench, by every signal that ends a process.
After each: no process of the run is left, its student's daemon included, no partial folder, no temporary file.
Usage: kills.py PLUMBLINE [--kills 200] [--seed 1]; PYTHONPATH has the package of the same build."""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid

SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOCK = "plumbline-scripted.lock"  # the empty file at which harnesses wait for each other's turn on a GPU
GONE_S = 3.0  # a process that is being started learns late that its harness is gone
CONTRACT = '''schema_version = 1
[reference]
inputs = ["x", "y"]
outputs = ["out"]
[student]
inputs = ["x", "y"]
outputs = ["out"]
'''
BENCH = '''import numpy
from plumbline import Workload, measure_windows_workloads


def make_inputs(seed):
    made = numpy.random.default_rng(seed)
    return {"x": made.standard_normal((16, 16)), "y": made.standard_normal((16, 16))}


if __name__ == "__main__":
    measure_windows_workloads([Workload(name, make_inputs) for name in ("a", "b", "c")], student="kernel:run",
                              reference="reference:run", out="eval.json", max_calls=8)
'''
SIDE = '''from plumbline import scripted


def run(x, y):
    scripted.work(5000)
    return x * 2 + y
'''
DAEMON = '''import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    time.sleep(600)
'''


def make_card(folder):
    """A card whose student leaves a daemon."""
    os.makedirs(os.path.join(folder, "eval"))
    for name, text in (("window.toml", CONTRACT), ("eval/bench.py", BENCH), ("reference.py", SIDE),
                       ("kernel.py", DAEMON + SIDE)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as stream:
            stream.write(text)
    return folder


def marked(marker):
    """{process: parent} of those whose environment has the marker, zombies left out."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/environ" % name, "rb") as stream:
                if marker.encode() not in stream.read():
                    continue
            with open("/proc/%s/stat" % name, encoding="utf-8", errors="replace") as stream:
                state, parent = stream.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            found[int(name)] = int(parent)
    return found


def start(plumbline, card, name, marker, temporary):
    environment = dict(os.environ, PLUMBLINE_TIMING_DEVICE="scripted", PLUMBLINE_KILL_TEST=marker, TMPDIR=temporary,
                       PYTHONDONTWRITEBYTECODE="1")
    return subprocess.Popen([plumbline, "run", card, "--name", name, "--python", sys.executable, "--no-record"],
                            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def left_of(marker):
    """Processes that are still there when all should be gone."""
    limit = time.monotonic() + GONE_S
    while True:
        left = marked(marker)
        if not left or time.monotonic() > limit:
            return left
        time.sleep(0.02)


def kill_one(plumbline, card, number, after, whom, how, temporary):
    """What is wrong after one kill, as text; "" when nothing is."""
    marker, name = uuid.uuid4().hex, "k%d" % number
    run = start(plumbline, card, name, marker, temporary)
    time.sleep(after)
    target = run.pid
    if whom == "bench":
        target = next((p for p, parent in marked(marker).items() if parent == run.pid), run.pid)
    try:
        os.kill(target, how)
    except ProcessLookupError:
        pass
    try:
        run.wait(timeout=60)
    except subprocess.TimeoutExpired:
        run.kill()
        return "it went on for a minute"
    left = left_of(marker)
    for process in left:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if left:
        return "%d processes left" % len(left)
    folder = os.path.join(card, "runs")
    for entry in os.listdir(folder) if os.path.isdir(folder) else []:
        where = os.path.join(folder, entry)
        if entry.startswith(".") or sorted(os.listdir(where)) != ["eval.json", "machine.json"]:
            return "half a folder: %s" % entry
        for file in os.listdir(where):
            with open(os.path.join(where, file), encoding="utf-8") as stream:
                json.load(stream)
    stray = sorted(set(os.listdir(card)) - {"eval", "kernel.py", "reference.py", "window.toml", "runs", "__pycache__"})
    stray += [name for name in os.listdir(temporary) if name != LOCK]
    if stray:
        return "left behind: %s" % ", ".join(stray)
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plumbline")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance, wrong = random.Random(options.seed), 0
    with tempfile.TemporaryDirectory() as folder:
        card, temporary = make_card(os.path.join(folder, "axpy")), os.path.join(folder, "tmp")
        os.makedirs(temporary)
        begun, marker = time.monotonic(), uuid.uuid4().hex
        if start(options.plumbline, card, "whole", marker, temporary).wait(timeout=120) != 0 or left_of(marker):
            print("a run that nobody kills fails, or leaves a process")
            return 1
        length = time.monotonic() - begun
        for number in range(options.kills):
            after, whom = chance.uniform(0, 1.05 * length), ("run", "bench")[number % 2]
            how = SIGNALS[number // 2 % len(SIGNALS)]
            trouble = kill_one(options.plumbline, card, number, after, whom, how, temporary)
            if trouble:
                wrong += 1
                print("%s to the %s after %.3f s: %s" % (how.name, whom, after, trouble))
        kept = len(os.listdir(os.path.join(card, "runs")))
    print("%d kills over %.1f s, %d runs kept whole, %d wrong" % (options.kills, length, kept, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
