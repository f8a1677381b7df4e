# SPDX-License-Identifier: Apache-2.0
"""What a recorded call's time depends on, for a kernel bound by memory (operators/rmsnorm_residual_triton): how many input
sets rotate, and whether the outputs of earlier calls stay or their memory is written again. Beside it the pipelined
window with the same launches. Needs the binary (PLUMBLINE names it). Usage: coverage.py OUT.json [--tokens N --hidden N]"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import torch

import plumbline
from plumbline import machine

CARD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "operators", "rmsnorm_residual_triton")
CALLS = 20
VARIANTS = {"4 sets, outputs overwritten": (4, False), "4 sets, outputs kept": (4, True),
            "20 sets, outputs overwritten": (20, False), "20 sets, outputs kept": (20, True)}


def side_of(name):
    sys.path[:0] = [CARD, os.path.join(CARD, "eval")]
    import bench
    import kernel
    import reference
    return {"student": kernel.norm, "reference": reference.norm}[name], bench.make_inputs


def child(options):
    """The launches of one variant, in the profiled region."""
    norm, make_inputs = side_of(options.child)
    sets = [make_inputs(options.tokens, options.hidden, seed) for seed in range(options.sets)]
    calls = [lambda one=sets[i % len(sets)]: norm(**one) for i in range(CALLS)]
    outputs = [call() for call in calls]
    del outputs
    torch.cuda.synchronize()
    plumbline.record_calls(CALLS)
    torch.cuda.profiler.start()
    outputs = []
    for call in calls:
        out = call()
        if options.keep:
            outputs.append(out)
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()


def window(norm, make_inputs, options):
    """The pipelined reading of the same calls, microseconds a call: outputs kept, or overwritten by the next call."""
    session = plumbline.Session.cuda(0)
    rows = {}
    for name, (count, keep) in VARIANTS.items():
        sets = [make_inputs(options.tokens, options.hidden, seed) for seed in range(count)]
        calls = [lambda one=sets[i % len(sets)]: norm(**one) for i in range(CALLS)]
        samples = []
        for _ in range(12):
            kept = [None] * CALLS if keep else None
            session.flush()
            samples.append(session.pipelined(calls, CALLS, kept).ms * 1e3)
            del kept
        rows[name] = statistics.median(samples[2:])
    return rows, session


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?")
    parser.add_argument("--tokens", type=int, default=4096)
    parser.add_argument("--hidden", type=int, default=4096)
    parser.add_argument("--child", choices=["student", "reference"])
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if options.child:
        child(options)
        return
    torch.zeros(1, device="cuda")
    result = {"tokens": options.tokens, "hidden": options.hidden, "calls": CALLS, "sides": {}}
    for name in ("student", "reference"):
        norm, make_inputs = side_of(name)
        windows, session = window(norm, make_inputs, options)
        rows = {}
        for variant, (count, keep) in VARIANTS.items():
            with tempfile.TemporaryDirectory() as folder:
                table = os.path.join(folder, "t.json")
                subprocess.run([os.environ["PLUMBLINE"], "record", "-o", table, "--", sys.executable, __file__, "--child",
                                name, "--sets", str(count), "--tokens", str(options.tokens), "--hidden",
                                str(options.hidden)] + ["--keep"] * keep, check=True, stdout=subprocess.DEVNULL)
                with open(table, encoding="utf-8") as stream:
                    read = json.load(stream)
            rows[variant] = {"kernels_us": read["busy_ns"] / CALLS / 1e3, "gaps_us": read["gaps_ns"] / CALLS / 1e3,
                             "window_us": windows[variant],
                             "each_us": {k["identity"]: k["time_ns"] / k["launches"] / 1e3 for k in read["kernels"]}}
            rows[variant]["covered"] = rows[variant]["kernels_us"] / windows[variant]
            print("%-10s %-30s kernels %7.2f us, window %7.2f us, covered %.3f" % (
                name, variant, rows[variant]["kernels_us"], windows[variant], rows[variant]["covered"]), flush=True)
        result["sides"][name] = rows
        result["machine"] = machine.describe(session)
        session.close()
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump(result, out, indent=1)
        out.write("\n")


if __name__ == "__main__":
    main()
