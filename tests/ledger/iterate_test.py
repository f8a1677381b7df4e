#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`plumbline iterate` on benches that end in every way there is. The bench is a shell script in the interpreter's place: it says whose
turn it is and hands over an eval, or misbehaves. No limit here is short enough that a busy machine could reach it first.

    iterate_test.py PLUMBLINE
"""
import concurrent.futures
import json
import math
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid

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
SIDE = "def run(x, y):\n    return x * 2 + y\n"
SAY = 'say() { printf "%-63s\\n" "$1" >&"$PLUMBLINE_EVAL_PHASE_FD"; }\n'


def side(chance, ms):
    """Readings of one side: no two of a test are alike, as no two clocks' are."""
    samples = [ms * (1 + chance.gauss(0, 4e-4)) for _ in range(15)]
    middle = sorted(samples)[7]
    return {"pipelined_ms": middle, "per_call_ms": middle * 1.1, "host_tax_ms": middle * 1.1 - middle, "samples_ms": samples, "sm_mhz": 1980,
            "temperature_c": 50}


def an_eval(ratio, findings=(), workloads=("a", "b", "c")):
    """An eval with all workloads of about one ratio, and the same findings."""
    chance, blocks = random.Random(ratio), []
    for number, name in enumerate(workloads):
        ref, student = side(chance, 0.3 + 0.01 * number), side(chance, (0.3 + 0.01 * number) / ratio)
        own = ref["pipelined_ms"] / student["pipelined_ms"]
        blocks.append({"name": name, "campaign": number == 0, "ratio": None if findings else own, "ref": ref, "student": student,
                       "findings": [{"code": c, "message": m, "count": 1} for c, m in findings], "window": "pipelined"})
    mean = math.exp(sum(math.log(b["ratio"]) for b in blocks) / len(blocks)) if not findings else None
    performance = {"student_ms": blocks[0]["student"]["pipelined_ms"], "ref_ms": blocks[0]["ref"]["pipelined_ms"], "ratio": mean,
                   "n_workloads": len(blocks), "window": "pipelined", "workloads": blocks}
    if findings:
        performance["refused"] = ["%s: %s [%s]" % (b["name"], m, c) for b in blocks for c, m in findings]
    return {"schema_version": 1, "op": "axpy", "performance": performance,
            "machine": {"gpu": "NVIDIA H200", "driver": "580.95", "gpu_processes": {"before": {"all": 2, "foreign": 1}}},
            "harness": {"name": "hand-written script"}}


class Step:
    """A card, and steps on it."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, pathlib.Path(folder)
        self.card = self.folder / "axpy"
        (self.card / "eval").mkdir(parents=True)
        (self.card / "window.toml").write_text(CONTRACT)
        (self.card / "eval" / "bench.py").write_text(BENCH)
        (self.card / "kernel.py").write_text(SIDE)
        (self.card / "reference.py").write_text(SIDE)
        self.steps = 0

    def fake(self, script, document=None):
        """An interpreter that is not an interpreter."""
        eval_file = self.folder / "eval.json"
        eval_file.write_text(json.dumps(document) if document else "")
        path = self.folder / "fake.sh"
        path.write_text("#!/bin/sh\n" + SAY + script + ('\ncat "%s" >&"$PLUMBLINE_EVAL_FD"\n' % eval_file if document else "\n"))
        path.chmod(0o755)
        return path

    def start(self, fake, *words, **more):
        self.marker = uuid.uuid4().hex
        environment = dict(os.environ, PLUMBLINE_TIMING_DEVICE="scripted", PLUMBLINE_STEP_TEST=self.marker, **more)
        return subprocess.Popen([self.binary, "iterate", str(self.card), "--python", str(fake), "--no-record", *words],
                                env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, expect, script, *words, document=None, banked=True, status=None, python=None, **more):
        """One step that is to come to `expect`: the document."""
        step = self.start(python or self.fake(script, document), *words, **more)
        out, said = step.communicate(timeout=600)
        assert out, said
        made = json.loads(out)
        assert made["class"] == expect, (expect, made, said)
        wanted = {"pass": 0, "refused": 13, "bench-defect": 2, "infrastructure": 2}.get(expect, 1)
        assert step.returncode == (wanted if status is None else status), (step.returncode, made)
        assert len(out.encode()) < 40_000 and len(json.dumps(made, ensure_ascii=False).encode()) <= 32_768
        if expect not in ("pass", "fail-gate", "within-noise"):
            for key in ("score", "raw_ratio", "raw_interval", "credited_ratio", "earlier"):
                assert made[key] is None, (key, made)
            assert "workloads" not in made["evidence"]
        assert made["retryable"] == (expect in ("infrastructure", "within-noise")), made
        assert made["reasons"] or expect == "pass", made
        assert made["read_next"] or expect == "pass", made
        assert not left_of(self.marker), "processes left behind"
        if banked:
            self.steps += 1
            assert made["banked"]["outcome"] == expect and made["banked"]["run"] == self.steps, made
        return made


def left_of(marker):
    """Processes of a step that are still there."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open("/proc/%s/environ" % name, "rb") as stream:
                mine = marker.encode() in stream.read()
            with open("/proc/%s/stat" % name, encoding="utf-8", errors="replace") as stream:
                state = stream.read().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if mine and state != "Z":
            found.append(int(name))
    return found


def readings(step):
    made = step.run("pass", "say student", document=an_eval(1.25))
    assert abs(made["score"] - 1.25) < 0.01 and made["earlier"] is None and len(made["evidence"]["workloads"]) == 3, made
    made = step.run("fail-gate", "say student", document=an_eval(0.9))
    assert abs(made["earlier"]["change"] - (0.9 / 1.25 - 1)) < 0.01 and made["earlier"]["run"] == 1, made
    assert any("confirm" in one["read"] for one in made["read_next"]), made
    step.run("pass", "say student", "--gate", "0.8", document=an_eval(0.9))
    step.run("within-noise", "say student", document=an_eval(1.0001))


def findings(step):
    step.run("fail-correctness", "", document=an_eval(1.1, [("wrong-output", "output 0 is off")]))
    step.run("tampering", "", document=an_eval(1.1, [("late-work", "still busy"), ("wrong-output", "output 0 is off")]))
    step.run("fail-prep", "", document=an_eval(1.1, [("prep-mutated", "the inputs differ after prep")]))
    step.run("infrastructure", "", document=an_eval(1.1, [("interference", "the reference was slowed")]))
    step.run("infrastructure", "", document=an_eval(1.1, [("student-raised", "CUDA out of memory")]))
    step.run("bench-defect", "", document={"performance": {"ratio": "none"}})


def ends(step):
    made = step.run("bench-defect", "echo nothing to say; exit 3")
    assert "nothing to say" in made["evidence"]["output"], made
    step.run("bench-defect", "say student; exit 0")
    step.run("fail-correctness", "say 'student here'; exit 1")
    step.run("fail-correctness", "say 'failed student-raised'; exit 1")
    step.run("infrastructure", "say 'failed no-driver'; exit 1")
    step.run("bench-defect", "say 'failed usage'; exit 1")
    step.run("bench-defect", "say harness; kill -SEGV $$")
    step.run("fail-correctness", "say 'student here'; kill -SEGV $$")
    for number in ("KILL", "TERM", "INT"):
        made = step.run("infrastructure", "say student; kill -%s $$; sleep 5" % number)
        assert "outside" in made["reasons"][0]["message"], made
    step.run("bench-defect", "", python="/nonexistent/python")


HANG = "sleep 100000 & exec sleep 100000"


def hang_of_student(step):
    made = step.run("fail-correctness", "say student; " + HANG, "--limit", "4")
    assert "more than 4 s" in made["reasons"][0]["message"] and "student's turn" in made["reasons"][0]["message"], made


def hang_of_reference(step):
    step.run("bench-defect", "say reference; " + HANG, "--limit", "4")


def hang_in_the_queue(step):
    step.run("infrastructure", "say waiting; " + HANG, "--limit", "4")


def hang_of_nobody(step):
    step.run("bench-defect", HANG, "--limit", "4")


def limits(step):
    made = step.run("fail-correctness", "say student; exec yes 'a gigabyte of this'", "--output", "20")
    assert "of output" in made["reasons"][0]["message"] and made["evidence"]["step"]["output_bytes"] > 20 << 20, made
    made = step.run("fail-correctness", "say student; i=0; while [ $i -lt 60 ]; do setsid sleep 100000 & i=$((i+1)); done; wait",
                    "--processes", "20")
    assert "processes at once" in made["reasons"][0]["message"], made
    memory = "import time; kept = bytearray(600 << 20); kept[::4096] = b'x' * len(kept[::4096]); time.sleep(100000)"
    made = step.run("fail-correctness", "say student; exec %s -c \"%s\"" % (sys.executable, memory), "--memory", "300")
    assert "of memory" in made["reasons"][0]["message"], made
    # One file over the limit is an error of the writer's; the kernel sees to it.
    made = step.run("fail-correctness", "say 'student here'; exec head -c 200000000 /dev/zero >\"$BIG\"", "--disk", "50",
                    BIG=str(step.folder / "big"))
    assert (step.folder / "big").stat().st_size <= 50 << 20, made
    (step.folder / "big").unlink()
    # Many files: what is written is counted, where the file system says so.
    many = 'say student; i=0; while :; do head -c 20000000 /dev/zero >"$BIG.$i"; i=$((i+1)); sleep 0.05; done'
    if counts_writes(step.folder):
        made = step.run("fail-correctness", many, "--disk", "100", BIG=str(step.folder / "big"))
        assert "written" in made["reasons"][0]["message"], made
        for file in step.folder.glob("big.*"):
            file.unlink()


def counts_writes(folder):
    """Does the kernel count what is written there?"""
    def written():
        with open("/proc/self/io", encoding="utf-8") as stream:
            return next(int(line.split()[1]) for line in stream if line.startswith("write_bytes"))
    before = written()
    with open(folder / "probe", "wb") as stream:
        stream.write(bytes(1 << 20))
    (folder / "probe").unlink()
    return written() > before


def leftovers(step):
    made = step.run("pass", "say student; setsid sleep 100000 & (setsid sh -c 'sleep 100000 & sleep 100000' &)", document=an_eval(1.25))
    assert made["class"] == "pass"
    # Half a megabyte that is not a UTF-8, and terminal sequences: the document stays text, and short.
    made = step.run("bench-defect", r"head -c 500000 /dev/urandom; printf '\033[31mred\033[0m'; exit 1")
    assert "\x1b" not in made["evidence"]["output"], made
    step.run("pass", "say student", document=an_eval(1.25, workloads=["workload " + "n" * 200 + str(i) for i in range(60)]))
    loud = an_eval(1.1, [("wrong-output", "off by " + "x" * 3000 + str(i)) for i in range(30)])
    step.run("fail-correctness", "", document=loud)


def refused(step):
    contract = step.card / "window.toml"
    contract.write_text(CONTRACT.replace('inputs = ["x", "y"]', 'inputs = ["x", "y", "saved"]', 1))
    made = step.run("refused", "say student", document=an_eval(1.25))
    assert made["run"] is None and made["evidence"] == {}, made
    contract.write_text("schema_version = [")
    step.run("bench-defect", "say student", document=an_eval(1.25))
    contract.write_text(CONTRACT)


def not_banked(step):
    made = step.run("pass", "say student", "--no-bank", document=an_eval(1.25), banked=False)
    assert made["banked"] is None
    made = step.run("pass", "say student", "--ledger", "/nonexistent/folder/l.db", document=an_eval(1.25), banked=False, status=2)
    assert made["banked"] is None and any(r["code"].startswith("ledger-") for r in made["reasons"]), made


def interrupted(step):
    """A signal to the step itself: nothing is banked, nothing is left."""
    started = step.folder / "started"
    process = step.start(step.fake('say student; setsid sleep 100000 & touch "%s"; exec sleep 100000' % started))
    while not started.exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    out = process.communicate(timeout=600)[0]
    made = json.loads(out)
    assert made["class"] == "infrastructure" and made["banked"] is None and process.returncode == 2, made
    assert not left_of(step.marker)


def watched(step):
    """Again when the student changes, and only then."""
    process = step.start(step.fake("say student", an_eval(1.25)), "--watch", "--steps", "2")
    first = json.loads(process.stdout.readline())
    (step.card / "runs" / "note").write_text("no business of the student's")
    (step.card / "kernel.py").write_text(SIDE + "# changed\n")
    second = json.loads(process.stdout.readline())
    assert process.wait(timeout=600) == 0
    assert first["class"] == second["class"] == "pass" and first["run"] != second["run"]
    assert second["banked"]["run"] == first["banked"]["run"] + 1, (first, second)
    step.steps += 2


TESTS = (hang_of_student, hang_of_reference, hang_in_the_queue, hang_of_nobody, limits, ends, leftovers, findings, readings, refused,
         not_banked, interrupted, watched)


def one(binary, test):
    """A test on a card of its own."""
    with tempfile.TemporaryDirectory() as folder:
        begun, step = time.monotonic(), Step(binary, folder)
        test(step)
        done = subprocess.run([binary, "ledger", "verify", "--ledger", str(step.card / "ledger.db"), "--json"], capture_output=True,
                              text=True, check=False)
        if step.steps:
            assert done.returncode == 0 and json.loads(done.stdout)["runs"] == step.steps, done.stdout + done.stderr
        print("%s: %d steps, %.1f s" % (test.__name__, step.steps, time.monotonic() - begun), flush=True)
        return step.steps


def main():
    with concurrent.futures.ThreadPoolExecutor(len(TESTS)) as pool:
        done = [pool.submit(one, sys.argv[1], test) for test in TESTS]
        steps = sum(future.result() for future in done)
    print("%d steps, each of its class, all banked, nothing left behind" % steps)


if __name__ == "__main__":
    main()
