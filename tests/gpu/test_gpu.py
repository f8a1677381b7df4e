# SPDX-License-Identifier: Apache-2.0
"""What only a GPU can show. Skipped, with the reason printed, where there is none."""
import json
import os
import statistics
import struct
import subprocess
import sys

import pytest

try:
    import torch
    import plumbline
    session_error = None if torch.cuda.is_available() else "PyTorch sees no CUDA GPU: " + plumbline.describe()
except ImportError as error:
    session_error = str(error)
pytestmark = pytest.mark.skipif(session_error is not None, reason=str(session_error))
HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.fixture(scope="module")
def session():
    torch.zeros(1, device="cuda")
    opened = plumbline.Session.cuda(0)
    yield opened
    opened.close()


def test_spin_is_read_right(session):
    stamps = session.alloc(64)
    session.spin(40_000_000, stamps)
    session.drain()
    start, end, first, last = struct.unpack("4Q", session.read(stamps, 32))
    mhz = (end - start) / (last - first) * 1e3
    session.free(stamps)
    floor = statistics.median(session.pipelined([lambda: session.spin(0)] * 100).ms for _ in range(5)) * 1e3
    for microseconds in (20, 100, 1000):
        ticks = int(microseconds * mhz)
        calls = max(4, 2000 // microseconds)
        read = statistics.median(session.pipelined([lambda: session.spin(ticks)] * calls).ms for _ in range(5)) * 1e3
        assert abs((read - floor) / (ticks / mhz) - 1) < 0.01


def test_a_call_that_waits_has_no_pipelined_window(session):
    x = torch.ones(16, device="cuda")
    reading = session.pipelined([lambda: x.sum().item()] * 4)
    assert reading.flags & 1 and reading.ms != reading.ms


def test_work_on_another_stream_is_seen(session):
    side = torch.cuda.Stream()
    x = torch.randn(64 << 20, device="cuda")

    def call():
        with torch.cuda.stream(side):
            x.mul_(1.0)
    reading = session.pipelined([call] * 20)
    assert reading.flags & 2 and reading.drained_ms > 1


def test_measure_windows():
    x = torch.randn(64 << 20, device="cuda", dtype=torch.bfloat16)
    y = torch.empty_like(x)
    report = plumbline.measure_windows(lambda: torch.add(x, 1.0, out=y))
    least = 2 * x.nbytes / 5.5e12 * 1e3
    assert least < report["pipelined_ms"] < 4 * least
    assert report["per_call_ms"] > report["pipelined_ms"] and report["stop"] == "noise"


def add_inputs(seed):
    generator = torch.Generator(device="cuda").manual_seed(seed)
    x = torch.randn(1 << 24, device="cuda", dtype=torch.bfloat16, generator=generator)
    return {"x": x, "y": torch.empty_like(x)}


def add_into(x, y):
    torch.add(x, 1.0, out=y)


def add_lazily(x, y):
    if not getattr(add_lazily, "done", set()) & {y.data_ptr()}:
        add_lazily.done = getattr(add_lazily, "done", set()) | {y.data_ptr()}
        torch.add(x, 1.0, out=y)


def test_outputs_written_in_place():
    workloads = [plumbline.Workload("add", add_inputs, outputs=["y"])]
    document = plumbline.measure_windows_workloads(workloads, student=add_into, reference=add_into, min_workloads=1)
    block = document["performance"]["workloads"][0]
    assert block["findings"] == [] and abs(document["performance"]["ratio"] - 1) < 0.02
    assert document["harness"]["isolation"] == "none"
    document = plumbline.measure_windows_workloads(workloads, student=add_lazily, reference=add_into, min_workloads=1)
    assert document["performance"]["ratio"] is None
    assert "wrong-output" in [f["code"] for f in document["performance"]["workloads"][0]["findings"]]


def test_leaderboard(tmp_path):
    seen = []

    def make_inputs(shape, seed):
        seen.append(seed)
        return add_inputs(seed)
    problem = tmp_path / "problem.json"
    problem.write_text(json.dumps({"board": "sol-execbench", "group": [{"name": "a"}, {"name": "b"}]}))
    document = plumbline.run_leaderboard_bench(str(problem), student=lambda x: x + 1, reference=lambda x: x + 1,
                                               make_inputs=make_inputs, time_limit_s=2.0)
    assert set(seen) == {9} and document["performance"]["n_workloads"] == 2
    assert abs(document["performance"]["ratio"] - 1) < 0.05


def test_isolated_pair_of_students(tmp_path):
    out = tmp_path / "suite.jsonl"
    names = ["honest_triton", "honest_two_streams", "cheat_other_stream", "cheat_cache_by_pointer"]
    done = subprocess.run([sys.executable, os.path.join(HERE, "suite.py"), str(out)] + names, check=False, timeout=240)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert done.returncode == 0 and [r["good"] for r in rows] == [True] * 4
