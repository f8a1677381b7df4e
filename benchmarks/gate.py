#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The regression gate on suites of 30 kernels in which nothing changed, and on the same with one kernel slower by 2 %; beside it what CI
tools do: a fixed threshold of 5 %, Welch's t-test and a Mann-Whitney test.

    gate.py PLUMBLINE [--suites 1000] [--sessions 20] [--seed 1]

A suite is resampled from five sessions of the harness on an H200 (measured/h200/timing/sessions.jsonl): the same kernels, not a line of
them changed, each time in other processes and on four occasions of other days. A reading in a session is the kernel's own mean ratio,
a deviation of one of its real sessions (times √(n/(n-1)), as the mean is theirs too), and the noise that the harness claims within one.
Kernels with fewer than four sessions are left out. Each suite has `--sessions` runs of the baseline. The gate sees one run of the candidate,
and two more where it asks for them; the others see what CI tools see: the samples of the baseline's last run and of the
candidate's. Needs scipy."""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

from scipy import stats

KERNELS = 30
SLOWER = 0.02
CODES = ("before", "after")
SAMPLES = 20       # of a kernel in a session
CLAIM = 0.005      # of sessions whose harness did not write it: its default
ROOT = pathlib.Path(__file__).resolve().parent.parent


class Kernel:
    """A kernel and how far its sessions lie apart."""

    def __init__(self, name, rows):
        logs = [math.log(row["ratio"]) for row in rows]
        self.name, self.mean = name, sum(logs) / len(logs)
        self.deviations = [(x - self.mean) * math.sqrt(len(logs) / (len(logs) - 1)) for x in logs]
        # What may not be claimed is about twice the standard error of a session's ratio, and that of the window's median half as large again.
        self.noise = sorted(row["smallest_difference"] or CLAIM for row in rows)[len(rows) // 2] / 4
        self.spread = math.sqrt(sum(d * d for d in self.deviations) / len(logs))

    def session(self, chance, slower=0.0):
        """Logarithms of the student's time over the reference's, sample by sample."""
        level = -self.mean - chance.choice(self.deviations) + math.log1p(slower)
        return [level + chance.gauss(0, self.noise * math.sqrt(SAMPLES)) for _ in range(SAMPLES)]


def load(file):
    rows = collections.defaultdict(list)
    for line in file.read_text().splitlines():
        row = json.loads(line)
        rows[row["kernel"]].append(row)
    return [Kernel(name, found) for name, found in sorted(rows.items()) if len(found) >= 4]


def mean(values):
    return sum(values) / len(values)


def run_line(card, number, name, code, samples):
    readings = [{"workload": "k%02d" % i, "shape": "", "student_ms": math.exp(mean(s)), "ref_ms": 1.0, "ratio": math.exp(-mean(s)),
                 "noise": 0.001} for i, s in enumerate(samples)]
    ratio = math.exp(-mean([mean(s) for s in samples]))
    return json.dumps({"run": {
        "ident": hashlib.sha256(("%s %d" % (card, number)).encode()).hexdigest()[:32], "card": card, "made_at": "2026-01-01T00:00:00Z",
        "name": name, "outcome": "fail-gate", "note": "", "corrects": "", "gate": 1e6, "raw_ratio": ratio, "student_ms": 1.0, "ref_ms": 1.0,
        "code": {"kernel.py": code}, "parts": {}, "readings": readings,
        "series": {"gpu": "NVIDIA H200", "driver": "580", "window": "pipelined", "harness": "plumbline", "boundary": "b"}}}) + "\n"


class Suite:
    """Thirty kernels, their runs, and what the other methods say of them."""

    def __init__(self, number, chance, kernels, sessions):
        self.card = "suite%d" % number
        chosen = [chance.choice(kernels) for _ in range(KERNELS)]
        self.slow = chance.randrange(KERNELS) if number % 2 else None
        codes = [hashlib.sha256(word.encode()).hexdigest() for word in CODES]
        self.first, before = [], None
        for at in range(sessions):
            before = [k.session(chance) for k in chosen]
            self.first.append(run_line(self.card, at, "base%d" % at, codes[0], before))
        after = [[k.session(chance, SLOWER if i == self.slow else 0.0) for i, k in enumerate(chosen)] for _ in range(3)]
        now = [run_line(self.card, sessions + at, "now%d" % at, codes[1], samples) for at, samples in enumerate(after)]
        self.first.append(now[0])
        self.more = now[1:]
        self.called = others(before, after[0])


def others(before, after):
    """What the other methods call slower: {method: set of kernels}."""
    called = {"fixed 5 %": set(), "Welch's t, p < 0.05": set(), "Mann-Whitney, p < 0.05": set()}
    for i, (old, new) in enumerate(zip(before, after)):
        slower = mean(new) > mean(old)
        if mean(new) > mean(old) + math.log(1.05):
            called["fixed 5 %"].add(i)
        if slower and stats.ttest_ind(old, new, equal_var=False).pvalue < 0.05:
            called["Welch's t, p < 0.05"].add(i)
        if slower and stats.mannwhitneyu(old, new, alternative="two-sided").pvalue < 0.05:
            called["Mann-Whitney, p < 0.05"].add(i)
    return called


class Gate:
    """The tool and a ledger."""

    def __init__(self, binary, folder, jobs):
        self.binary, self.ledger, self.jobs = binary, folder + "/gate.db", jobs

    def add(self, lines):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as stream:
            for word in CODES:
                stream.write(json.dumps({"document": hashlib.sha256(word.encode()).hexdigest(), "text": word}) + "\n")
            stream.writelines(lines)
            stream.flush()
            subprocess.run([self.binary, "ledger", "import", stream.name, "--ledger", self.ledger], check=True, stdout=subprocess.DEVNULL)

    def ask(self, suite):
        done = subprocess.run([self.binary, "ledger", "gate", suite.card, "--baseline", "base0", "--run", "now0", "--ledger", self.ledger,
                               "--no-confirm", "--json"], capture_output=True, text=True, check=False)
        answer = json.loads(done.stdout)
        assert done.returncode == (answer["verdict"] == "SLOWER"), (done.returncode, answer["why"])
        return answer

    def ask_all(self, suites):
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(self.ask, suites))


class Count:
    """Of one method."""

    def __init__(self):
        self.alarmed = self.kernels = self.found = 0

    def add(self, called, slow):
        if slow is None:
            self.alarmed += bool(called)
            self.kernels += len(called)
        else:
            self.found += slow in called


def slower_of(answer):
    return {int(u["name"][1:]) for u in answer["units"] if u["verdict"] == "SLOWER"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plumbline")
    parser.add_argument("--suites", type=int, default=1000)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    kernels = load(ROOT / "measured/h200/timing/sessions.jsonl")
    spreads = sorted(100 * k.spread for k in kernels)
    print("%d kernels; a kernel's sessions lie %.2f %% apart (standard deviation, median; %.2f to %.2f)"
          % (len(kernels), spreads[len(spreads) // 2], spreads[0], spreads[-1]))
    chance = random.Random(options.seed)
    suites = [Suite(number, chance, kernels, options.sessions) for number in range(2 * options.suites)]
    counts, asked = collections.defaultdict(Count), 0
    seen = {1: [0, 0], 3: [0, 0]}  # by runs of the candidate: slow-downs that so many could show, and how many of them were found
    with tempfile.TemporaryDirectory() as folder:
        gate = Gate(options.plumbline, folder, options.jobs)
        gate.add(line for suite in suites for line in suite.first)
        first = gate.ask_all(suites)
        doubted = [suite for suite, answer in zip(suites, first) if answer["suspect"]]
        gate.add(line for suite in doubted for line in suite.more)
        second = dict(zip((suite.card for suite in doubted), gate.ask_all(doubted)))
    for suite, answer in zip(suites, first):
        for method, called in suite.called.items():
            counts[method].add(called, suite.slow)
        counts["plumbline, one run"].add(slower_of(answer), suite.slow)
        final = second.get(suite.card, answer)
        mine = slower_of(final) if suite.card in second else set()
        counts["plumbline"].add(mine, suite.slow)
        asked += suite.slow is None and suite.card in second
        if suite.slow is not None:
            unit = next(u for u in answer["units"] if int(u["name"][1:]) == suite.slow)
            for runs, tally in seen.items():
                error = math.sqrt((1 / options.sessions + 1 / runs) / (1 / options.sessions + 1))
                if math.expm1(math.log1p(unit["smallest_seen"]) * error) <= SLOWER:
                    tally[0] += 1
                    tally[1] += suite.slow in mine
    print("%d suites of %d kernels with nothing changed (seed %d), and %d with one kernel slower by %g %%; %d runs of the baseline\n"
          % (options.suites, KERNELS, options.seed, options.suites, 100 * SLOWER, options.sessions))
    print("%-24s %22s %16s %18s" % ("", "suites falsely SLOWER", "kernels falsely", "slow-downs found"))
    for method in ("plumbline", "plumbline, one run", "fixed 5 %", "Welch's t, p < 0.05", "Mann-Whitney, p < 0.05"):
        count = counts[method]
        print("%-24s %20.1f %% %14.2f %% %16.1f %%" % (method, 100 * count.alarmed / options.suites,
              100 * count.kernels / options.suites / KERNELS, 100 * count.found / options.suites))
    print("\nof the suites with nothing changed the gate had %.1f %% measured twice more" % (100 * asked / options.suites))
    for runs, (could, did) in seen.items():
        print("plumbline: %d slow-downs were of kernels of which %d run%s could show %g %%; %.1f %% of them were found"
              % (could, runs, "s"[:runs > 1], 100 * SLOWER, 100 * did / max(1, could)))
    return 0 if counts["plumbline"].alarmed <= 0.01 * options.suites and seen[1][1] >= 0.95 * seen[1][0] else 1


if __name__ == "__main__":
    sys.exit(main())
