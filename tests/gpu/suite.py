# SPDX-License-Identifier: Apache-2.0
"""Every student in students/ through the isolated harness: cheats must be caught as their file says, honest kernels must
get a ratio. Writes a JSON line of the machine, and one a student as it goes. Usage: suite.py OUT.jsonl [NAME…] [--limit-s N]"""
import argparse
import json
import os
import re
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
STUDENTS = os.path.join(HERE, "students")
LESS_EXACT = 4  # as confirm's eval-less-exact
AHEAD = 4  # child processes that start while another is measured


def expected(name):
    """The codes under which a cheat may be caught; None for an honest student; empty: nothing to catch."""
    if name.startswith("honest_"):
        return None
    with open(os.path.join(STUDENTS, name + ".py"), encoding="utf-8") as stream:
        text = re.search(r"^# Caught as: (.*)$", stream.read(), re.M).group(1)
    return [] if text == "nothing" else text.split()


def most(name):
    """The ratio up to which a cheat counts as one without gain; more only where a student's file names a limit that is documented."""
    with open(os.path.join(STUDENTS, name + ".py"), encoding="utf-8") as stream:
        said = re.search(r"^# Gains at most: ([0-9.]+)$", stream.read(), re.M)
    return float(said.group(1)) if said else 1.02


def workload_of(name):
    """The inputs that a student's file asks for: plain, "heavy" or "scattered"."""
    with open(os.path.join(STUDENTS, name + ".py"), encoding="utf-8") as stream:
        kind = re.search(r"^# Workload: (heavy|scattered)$", stream.read(), re.M)
    return {"heavy": make_heavy, "scattered": make_scattered}[kind.group(1)] if kind else make_inputs


def make_heavy(seed):
    """As make_inputs; the quarters of an output's rows lie decades apart."""
    import torch
    made = make_inputs(seed)
    made["w"] *= torch.tensor([1.0, 1e-1, 1e-3, 1e-4], device="cuda", dtype=torch.bfloat16).repeat_interleave(1024)
    return made


def make_scattered(seed):
    """As make_inputs; every fourth column is decades smaller."""
    import torch
    made = make_inputs(seed)
    made["w"] *= torch.tensor([1.0, 1.0, 1.0, 1e-4], device="cuda", dtype=torch.bfloat16).repeat(1024)
    return made


def make_inputs(seed):
    import torch
    x = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    return {"x": x, "w": 1 + 0.1 * torch.randn(4096, device="cuda", dtype=torch.bfloat16)}


def prep(inputs):
    import torch
    return {"scale": torch.rsqrt(inputs["x"].float().square().mean(-1, keepdim=True) + 1e-6)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--limit-s", type=float, default=300)
    options = parser.parse_args()
    import plumbline
    from plumbline import bench as bench_module
    from plumbline import machine, sides
    names = options.names or sorted(n[:-3] for n in os.listdir(STUDENTS)
                                    if n.startswith(("cheat_", "honest_")) and n.endswith(".py"))
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    started = time.monotonic()

    def start(name):
        return sides.RemoteSide(name + ":run", [STUDENTS], STUDENTS, 45.0)

    waiting = [start(n) for n in names[:AHEAD]]
    bench = bench_module.Bench([plumbline.Workload("rms", make_inputs)], "reference:run", "reference:run", prep, dict(
        noise=0.02, time_limit_s=1.0, cold=True, rounds=3, load_limit_s=45.0, max_calls=12, min_calls=4,
        memory_bytes=4 << 30), [STUDENTS])
    bench.student.close()
    wrong = 0
    with open(options.out, "w", encoding="utf-8") as out:
        out.write(json.dumps({"machine": machine.describe(bench.session, bench.backend),
                              "plumbline": plumbline.version()}) + "\n")
        for index, name in enumerate(names):
            if time.monotonic() - started > options.limit_s:
                out.write(json.dumps({"student": name, "skipped": "time"}) + "\n")
                continue
            if index + AHEAD < len(names):
                waiting.append(start(names[index + AHEAD]))
            bench.student, bench.student_target, bench._loaded = waiting.pop(0), name + ":run", False
            bench.student.limit_s = 6.0 if name == "cheat_hang" else 45.0
            begun = time.monotonic()
            try:
                block = one(bench, plumbline.Workload("rms", workload_of(name)))
            except Exception as error:  # noqa: B902 - a defect of the harness is a result too
                block = {"findings": [{"code": "harness-failed", "message": repr(error)}], "ratio": None}
                bench.student.close()
            row = judge(name, block, time.monotonic() - begun)
            wrong += not row["good"]
            out.write(json.dumps(row) + "\n")
            out.flush()
            print("%-28s %-6s %s %s %.1fs" % (name, "ok" if row["good"] else "WRONG", row["caught"], block["ratio"],
                                              row["seconds"]), flush=True)
    for side in waiting:
        side.close()
    bench.close()
    print("%d students, %d wrong" % (len(names), wrong))
    return 1 if wrong else 0


def one(bench, workload):
    """One student from the quiet reading before it to the one after it."""
    from plumbline import workload_run
    run = workload_run.WorkloadRun(bench, workload)
    run.open()
    run.read_quiet("before")
    run.run()
    bench.student.close()
    run.read_quiet("after")
    block = run.result()
    # How close it came to the limits of what nothing is said of.
    handed, behind = getattr(bench.student, "_handed", None), getattr(run.clock, "_behind", {})
    block["handed_late_ms"] = round(statistics.median(handed), 3) if handed else None
    block["behind_us"] = {side: round(1e3 * statistics.median(all_of), 1) for side, all_of in behind.items() if all_of}
    run.close()
    return block


def judge(name, block, seconds):
    """A cheat is caught, or gains nothing, or forced per-call windows and that is said; an honest student has a ratio."""
    codes, want = sorted(f["code"] for f in block["findings"]), expected(name)
    off = block.get("output_error") or {"student": 0, "reference": 0}
    if want is not None and off["student"] > LESS_EXACT * off["reference"]:
        codes.append("less-exact")
    unknown = block.get("pipelined_verdict") == "unknown"
    if want is None:
        good = not codes and block["ratio"] is not None
    else:
        good = bool(set(codes) & set(want)) or "per-call" in want and unknown or (
            not codes and block["ratio"] is not None and block["ratio"] <= most(name))
    return {"student": name, "expected": want, "caught": codes, "good": good, "ratio": block["ratio"],
            "findings": block["findings"], "sealed_ms": block.get("sealed_ms"), "drained_us": block.get("student_drained_us"),
            "student_ms": block.get("student", {}).get("pipelined_ms"), "ref_ms": block.get("ref", {}).get("pipelined_ms"),
            "aa_ratio": block.get("aa_ratio"), "parent": block.get("parent"), "quiet": block.get("quiet"),
            "output_error": block.get("output_error"), "graph_captured": block.get("graph_captured"),
            "pipelined_verdict": block.get("pipelined_verdict"), "smallest_difference": block.get("smallest_difference"),
            "handed_late_ms": block.get("handed_late_ms"), "behind_us": block.get("behind_us"), "seconds": round(seconds, 2)}


if __name__ == "__main__":
    sys.exit(main())
