#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No false alarm: what honest work writes raises nothing. 144 comparisons: six styles of harness, four contracts, four profilers,
other GPUs, shapes, names, sample counts and orders of keys. Usage: honest_test.py PLUMBLINE"""
import json
import subprocess
import sys
import tempfile

import world

# The bench says itself that it claims no difference; that is a doubt, and true.
GPUS = list(world.PEAK_GBPS)


def main():
    plumbline, failures, count = sys.argv[1], [], 0
    with tempfile.TemporaryDirectory() as root:
        for seed in range(144):
            w = world.World(seed, style=world.STYLES[seed % 6], contract=list(world.CONTRACTS)[seed // 6 % 4],
                            tool=world.TOOLS[seed // 24 % 4], gpu=GPUS[seed % 4], count=3 + seed % 3)
            if w.contract == "ref_pays":
                w.eval["performance"]["prep"] = w.prep()
            if seed % 5 == 0:
                w.files["eval/bench.py"] = bench(w)
            card = w.write(root)
            done = subprocess.run([plumbline, "confirm", card, "--json", "--run", "r1"], capture_output=True, text=True, timeout=60)
            count += 1
            document = json.loads(done.stdout)
            expected = 0 if w.eval["performance"]["ratio"] >= 1 else 1
            said = [r for r in document["reasons"] if r["code"] != "gate-not-reached"]
            if done.returncode != expected or said or document["ok"] != (expected == 0):
                failures.append("seed %d, %s, %s: exit %d: %s" % (seed, w.style, w.contract, done.returncode,
                                                                 "; ".join("%s: %s" % (r["code"], r["message"]) for r in said)))
    print("\n".join(failures + ["%d honest comparisons, %d raise something" % (count, len(failures))]))
    return 1 if failures or count < 100 else 0


def bench(w):
    """A bench that spells its workloads out."""
    lines = ["    Workload(%r, make)," % each["name"] for each in w.eval["performance"]["workloads"]]
    return ("from plumbline import Workload, measure_windows_workloads\n\ndef make(seed):\n    return {}\n\n"
            "measure_windows_workloads([\n%s\n], student='kernel:run', reference='reference:run')\n" % "\n".join(lines))


if __name__ == "__main__":
    sys.exit(main())
