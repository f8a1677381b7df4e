# SPDX-License-Identifier: Apache-2.0
"""`plumbline run` on the fake device, and where there is no GPU."""
import ctypes
import json
import os
import subprocess
import sys
import textwrap
import time

import pytest

from plumbline import turn

BINARY = os.environ.get("PLUMBLINE", "")
pytestmark = pytest.mark.skipif(not os.path.exists(BINARY), reason="PLUMBLINE names no binary")
CONTRACT = '''
schema_version = 1
[reference]
inputs = ["x", "y"]
outputs = ["out"]
[student]
inputs = ["x", "y"]
outputs = ["out"]
'''
BENCH = '''
import numpy
from plumbline import Workload, measure_windows_workloads


def make_inputs(seed):
    made = numpy.random.default_rng(seed)
    return {"x": made.standard_normal((16, 16)), "y": made.standard_normal((16, 16))}


if __name__ == "__main__":
    measure_windows_workloads([Workload("a", make_inputs), Workload("b", make_inputs), Workload("c", make_inputs)],
                              student="kernel:run", reference="reference:run", out="eval.json", max_calls=8)
'''
SIDE = '''
from plumbline import scripted


def run(x, y):
    scripted.work(%d)
    return x * 2 + y
'''


@pytest.fixture
def card(tmp_path):
    """A card whose student takes 4 us and whose reference takes 5."""
    folder = tmp_path / "axpy"
    (folder / "eval").mkdir(parents=True)
    (folder / "window.toml").write_text(textwrap.dedent(CONTRACT))
    (folder / "eval" / "bench.py").write_text(BENCH)
    (folder / "kernel.py").write_text(SIDE % 4000)
    (folder / "reference.py").write_text(SIDE % 5000)
    return folder


def run(*arguments, **changes):
    environment = dict(os.environ, **changes)
    return subprocess.run([BINARY, *map(str, arguments)], env=environment, capture_output=True, text=True, check=False,
                          timeout=120)


def test_a_run_is_kept(card):
    done = run("run", card, "--name", "one", "--python", sys.executable, "--no-record", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["ratio"] == pytest.approx(1.25) and said["tables"] == [] and said["refused"] == []
    folder = card / "runs" / "one"
    assert sorted(os.listdir(folder)) == ["eval.json", "machine.json"]
    assert json.loads((folder / "eval.json").read_text())["op"] == "axpy"
    assert json.loads((folder / "machine.json").read_text())["gpu"]
    again = run("run", card, "--name", "one", "--python", sys.executable, "--no-record")
    assert again.returncode == 2 and "run-exists" in again.stderr


def test_more_input_sets_than_per_call_windows_are_no_mutation(card):
    bench = card / "eval" / "bench.py"
    bench.write_text(bench.read_text().replace("max_calls=8", "max_calls=40"))
    done = run("run", card, "--name", "one", "--python", sys.executable, "--no-record", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["refused"] == [], done.stdout + done.stderr


def test_two_runs_take_turns(card):
    started = time.monotonic()
    with turn.of_gpu("scripted-test") as waited:
        assert waited < 1
        held = subprocess.Popen([sys.executable, "-c", "import sys\nfrom plumbline import turn\n"
                                 "with turn.of_gpu('scripted-test') as waited: print(waited)"], stdout=subprocess.PIPE, text=True)
        time.sleep(1.0)
        assert held.poll() is None
    assert float(held.communicate(timeout=60)[0]) > 0.2 and time.monotonic() - started < 60


def test_a_student_that_breaks_a_rule_fails_the_run(card):
    (card / "kernel.py").write_text(SIDE % 4000 + "\n\ndef run(x, y):\n    return x\n")
    done = run("run", card, "--name", "one", "--python", sys.executable, "--no-record")
    assert done.returncode == 1 and "run-refused" in done.stderr and "wrong-output" in done.stderr


def has_driver():
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


@pytest.mark.skipif(has_driver(), reason="there is a CUDA driver here")
def test_without_a_gpu_it_says_so_and_leaves_nothing(card):
    environment = {"PLUMBLINE_TIMING_DEVICE": ""}
    done = run("run", card, "--name", "one", "--python", sys.executable, **environment)
    assert done.returncode == 2 and "libcuda.so.1" in done.stderr and "run-no-cuda" in done.stderr
    assert not (card / "runs").exists()
    done = run("record", "--", sys.executable, "-c", "pass", **environment)
    assert done.returncode == 2 and ("record-no-cuda" in done.stderr or "record-unavailable" in done.stderr)
