#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Twenty steps of `plumbline iterate` on a real card, each with another student, bench or machine: what class each comes to, what it took, and
whether a process is left. Writes a line of JSON each to OUT.

    iterations.py PLUMBLINE OUT [--card operators/rmsnorm_residual_triton]
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HOLD = "import sys, time\nfrom plumbline import Session, turn\nwith turn.of_gpu(Session.cuda().info()['uuid']):\n    print('held', flush=True)\n" \
       "    time.sleep(600)\n"


def student(body):
    """The card's own student, called by another that does something more."""
    return "\n\n_norm = norm\n\n\ndef norm(x, residual, weight):\n" + "".join("    %s\n" % line for line in body) + "    return _norm(x, residual, weight)\n"


ONCE = ["if not globals().get('done'):", "    globals()['done'] = True"]
# name, the class that is expected, what is appended to kernel.py, further words
STEPS = [
    ("as it is", "pass", "", []),
    ("the work twice", "fail-gate", student(["_norm(x, residual, weight)"]), []),
    ("the reference's own code", "within-noise", None, []),
    ("wrong values", "fail-correctness", "\n\n_norm = norm\n\n\ndef norm(x, residual, weight):\n    out, kept = _norm(x, residual, weight)\n"
     "    return out * 1.1, kept\n", []),
    ("raises", "fail-correctness", student(["raise ValueError('no')"]), []),
    ("does not parse", "fail-correctness", "\n\ndef broken(:\n", []),
    ("hangs", "fail-correctness", student(["while True:", "    pass"]), ["--limit", "60"]),
    ("dies", "fail-correctness", student(["import os", "os._exit(3)"]), []),
    ("dies by a signal", "fail-correctness", student(["import os", "os.kill(os.getpid(), 11)"]), []),
    ("takes 40 GB of memory", "fail-correctness", "\n\nkept = bytearray(40 << 30)\nkept[::4096] = b'x' * len(kept[::4096])\n", ["--memory", "20000"]),
    ("forks 400 times", "fail-correctness", student(ONCE + ["    import os, time", "    for _ in range(400):", "        if os.fork() == 0:",
                                                            "            time.sleep(600)", "            os._exit(0)"]), ["--processes", "200"]),
    ("prints a gigabyte", "fail-correctness", student(ONCE + ["    import os", "    for _ in range(1 << 14):", "        os.write(2, b'x' * 65536)"]), []),
    ("writes 4 GB", "fail-correctness", student(ONCE + ["    import tempfile", "    with tempfile.TemporaryFile() as file:",
                                                        "        for _ in range(4096):", "            file.write(bytes(1 << 20))"]), ["--disk", "1000"]),
    ("leaves a daemon", "pass", student(ONCE + ["    import os, time", "    if os.fork() == 0:", "        os.setsid()", "        time.sleep(600)",
                                                "        os._exit(0)"]), []),
    ("works on a stream that nobody joins", "tampering", "\n\n_norm, _side = norm, None\n\n\ndef norm(x, residual, weight):\n    global _side\n"
     "    _side = _side or torch.cuda.Stream()\n    made = _norm(x, residual, weight)\n    with torch.cuda.stream(_side):\n"
     "        torch.cuda._sleep(40_000_000)\n    return made\n", []),
    ("an undeclared input", "refused", "", []),
    ("a bench that breaks", "bench-defect", "", []),
    ("the bench killed from outside", "infrastructure", "", []),
    ("another measurement on the GPU", "infrastructure", "", ["--limit", "60"]),
    ("as it is, again", "pass", "", []),
]


def left_of(marker):
    found = 0
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                found += marker.encode() in pathlib.Path("/proc", name, "environ").read_bytes()
            except OSError:
                pass
    return found


def prepare(card, name, text):
    """A fresh copy of the card's files, with the step's change."""
    kernel = card / "kernel.py"
    kernel.write_text((card / "reference.py").read_text() if text is None else kernel.read_text() + text)
    if name == "an undeclared input":
        contract = card / "window.toml"
        contract.write_text(contract.read_text().replace('inputs  = ["x", "residual", "weight"]', 'inputs  = ["x", "residual", "weight", "scale"]', 1))
    if name == "a bench that breaks":
        bench = card / "eval" / "bench.py"
        bench.write_text(bench.read_text().replace("def make_inputs(tokens, hidden, seed):", "def make_inputs(tokens, hidden, seed):\n    raise OSError('gone')\n"))


def kill_bench(process):
    """SIGKILL to the bench, some seconds in: a step that goes well takes about 13."""
    time.sleep(6)
    children = pathlib.Path("/proc/%d/task/%d/children" % (process.pid, process.pid)).read_text().split()
    if children:
        os.kill(int(children[0]), signal.SIGKILL)


def step(binary, card, ledger, name, words):
    marker = uuid.uuid4().hex
    environment = dict(os.environ, PLUMBLINE_STEP_TEST=marker)
    holder = None
    if name == "another measurement on the GPU":
        holder = subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True)
        holder.stdout.readline()
    begun = time.monotonic()
    process = subprocess.Popen([binary, "iterate", str(card), "--python", sys.executable, "--no-record", "--ledger", ledger, *words],
                               stdout=subprocess.PIPE, env=environment, text=True)
    if name == "the bench killed from outside":
        threading.Thread(target=kill_bench, args=(process,), daemon=True).start()
    made = json.loads(process.communicate()[0])
    if holder:
        holder.kill()
        holder.wait()
    return made, time.monotonic() - begun, left_of(marker)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plumbline")
    parser.add_argument("out")
    parser.add_argument("--card", type=pathlib.Path, default=ROOT / "operators/rmsnorm_residual_triton")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder, open(options.out, "w", encoding="utf-8") as out:
        for name, expect, text, words in STEPS:
            card = pathlib.Path(folder, options.card.name)
            shutil.rmtree(card, ignore_errors=True)
            shutil.copytree(options.card, card, ignore=shutil.ignore_patterns("runs", "__pycache__"))
            prepare(card, name, text)
            made, took, left = step(options.plumbline, card, folder + "/ledger.db", name, words)
            good = made["class"] == expect and left == 0 and (made["score"] is None) == (expect not in ("pass", "fail-gate", "within-noise"))
            wrong += not good
            print("%-38s %-18s %s%6.1f s  %s" % (name, made["class"], "" if good else "expected %s, %d left " % (expect, left), took, made["verdict"][:90]),
                  flush=True)
            out.write(json.dumps({"step": name, "expected": expect, "good": good, "left": left, "seconds": round(took, 1), "document": made}) + "\n")
    print("%d steps, %d not as expected" % (len(STEPS), wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
