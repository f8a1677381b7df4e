#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`plumbline ledger gate` where the bench can be run: what may be slower is measured again in fresh processes, a baseline comes out of the
ledger and is measured in turn. The bench is the shell script of iterate_test.py; what it reads depends on the student's file.

    gate_test.py PLUMBLINE
"""
import json
import os
import subprocess
import sys
import tempfile

from iterate_test import SIDE, Step, an_eval

FAST, SLOW, ONCE = SIDE + "# fast\n", SIDE + "# slow\n", SIDE + "# slow once\n"


def bench(step):
    """Reads fast or slow, as kernel.py says; "slow once" is slow until a file is there."""
    for name, ratio in (("fast", 1.25), ("slow", 1.1)):
        (step.folder / (name + ".json")).write_text(json.dumps(an_eval(ratio)))
    return step.fake("say student\nread=fast\ngrep -q '# slow$' kernel.py && read=slow\n"
                     "if grep -q '# slow once' kernel.py && [ ! -e ../was_slow ]; then read=slow; touch ../was_slow; fi\n"
                     'cat "%s/$read.json" >&"$PLUMBLINE_EVAL_FD"' % step.folder)


def gate(step, fake, *words, expect, status):
    environment = dict(os.environ, PLUMBLINE_TIMING_DEVICE="scripted")
    done = subprocess.run([step.binary, "ledger", "gate", str(step.card), "--python", str(fake), "--json", *words], env=environment,
                          capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == status, done.stdout + done.stderr
    made = json.loads(done.stdout)
    assert made["verdict"] == expect, made
    return made


def runs(step):
    done = subprocess.run([step.binary, "ledger", "list", str(step.card), "--last", "100", "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["runs"]


def measure(step, fake, text):
    (step.card / "kernel.py").write_text(text)
    process = step.start(fake)
    out, said = process.communicate(timeout=600)
    assert json.loads(out)["class"] == "pass", out + said


def main():
    with tempfile.TemporaryDirectory() as folder:
        step = Step(sys.argv[1], folder)
        fake = bench(step)
        for _ in range(4):
            measure(step, fake, FAST)
        made = gate(step, fake, "--baseline", "1", expect="SAME", status=0)
        assert made["same_code"] and len(runs(step)) == 4, made
        measure(step, fake, SLOW)
        made = gate(step, fake, "--baseline", "1", "--no-confirm", expect="SLOWER", status=1)
        assert abs(made["units"][0]["change"] - (1.25 / 1.1 - 1)) < 0.01 and len(runs(step)) == 5, made
        made = gate(step, fake, "--baseline", "1", expect="SLOWER", status=1)
        assert any("slower there too" in note for note in made["notes"]) and len(runs(step)) == 7, made
        # One bad session: the two that follow take it back.
        measure(step, fake, ONCE)
        made = gate(step, fake, "--baseline", "1", expect="UNKNOWN", status=0)
        assert any("not slower there" in note for note in made["notes"]) and len(runs(step)) == 10, made
        gate(step, fake, "--baseline", "1", "--unknown-fails", "--no-confirm", expect="UNKNOWN", status=1)
        # Another student lies in the folder than the one that is held: it confirms nothing.
        made = gate(step, fake, "--baseline", "1", "--run", "5", expect="SLOWER", status=1)
        assert any("another student" in note for note in made["notes"]), made
        # In turn: the baseline's files come out of the ledger.
        measure(step, fake, SLOW)
        before = len(runs(step))
        made = gate(step, fake, "--baseline", "1", "--rounds", "2", "--no-confirm", expect="SLOWER", status=1)
        new = runs(step)[:len(runs(step)) - before]
        assert sorted(run["note"] for run in new) == ["gate, round %d, %s" % (n, side) for n in (1, 2) for side in ("baseline", "candidate")], new
        assert made["units"][0]["sessions"] == [2, 2], made
        ratios = {run["note"].rsplit(" ", 1)[1]: run["raw_ratio"] for run in new}
        assert abs(ratios["baseline"] - 1.25) < 0.01 and abs(ratios["candidate"] - 1.1) < 0.01, ratios
    print("measured again where it mattered, and in turn")


if __name__ == "__main__":
    main()
