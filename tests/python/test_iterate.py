# SPDX-License-Identifier: Apache-2.0
"""`plumbline iterate` with the harness itself, on the fake device: whose turn it was reaches the verdict."""
import json
import os
import subprocess
import sys

import pytest

from test_run import BENCH, CONTRACT, SIDE, card  # noqa: F401 - the fixture

BINARY = os.environ.get("PLUMBLINE", "")
pytestmark = pytest.mark.skipif(not os.path.exists(BINARY), reason="PLUMBLINE names no binary")
STUDENTS = {
    "pass": SIDE % 4000,
    "fail-gate": SIDE % 6000,
    "fail-correctness": SIDE % 4000 + "\n\ndef run(x, y):\n    return x\n",
}


def iterate(folder, *words):
    """The verdict of one step."""
    done = subprocess.run([BINARY, "iterate", str(folder), "--python", sys.executable, "--no-record", *words], capture_output=True, text=True,
                          check=False, timeout=600)
    made = json.loads(done.stdout)
    assert made["banked"]["outcome"] == made["class"], done.stdout + done.stderr
    return made


@pytest.mark.parametrize("outcome", sorted(STUDENTS))
def test_readings(card, outcome):  # noqa: F811
    (card / "kernel.py").write_text(STUDENTS[outcome])
    made = iterate(card)
    assert made["class"] == outcome, made
    assert (made["score"] is None) == (outcome == "fail-correctness")


def test_a_student_that_takes_the_memory_is_named(card):  # noqa: F811
    (card / "kernel.py").write_text(SIDE % 4000 + "\nkept = bytearray(900 << 20)\nkept[::4096] = b'x' * len(kept[::4096])\n"
                                    "import time; time.sleep(600)\n")
    made = iterate(card, "--memory", "700")
    assert made["class"] == "fail-correctness" and "student's turn" in made["reasons"][0]["message"], made


def test_a_harness_without_its_device_is_no_fault_of_the_students(card, monkeypatch):  # noqa: F811
    (card / "eval" / "bench.py").write_text(BENCH.replace("if __name__", "import plumbline.bench\n\n\ndef gone(*_):\n    raise "
                                                          "plumbline.PlumblineError('no-device', 'the GPU fell off the bus')\n\n\n"
                                                          "plumbline.bench.WorkloadRun.open = gone\nif __name__"))
    made = iterate(card)
    assert made["class"] == "infrastructure" and made["retryable"] and made["score"] is None, made
    assert "no-device" in made["reasons"][0]["message"] and CONTRACT
