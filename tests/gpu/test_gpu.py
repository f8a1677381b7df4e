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


@pytest.mark.parametrize("rows", [4096, 900])
def test_an_isolated_reading_is_that_of_memory_of_its_own(tmp_path, rows):
    """Inputs that another process shares are read as fast as any. 900 rows: tensors that begin within a page of the GPU."""
    (tmp_path / "adder.py").write_text("import torch\n\n\ndef run(x, y):\n    return torch.add(x, y)\n")

    def make(seed):
        generator = torch.Generator(device="cuda").manual_seed(seed)
        return {name: torch.randn(rows, 4096, device="cuda", dtype=torch.bfloat16, generator=generator) for name in "xy"}
    document = plumbline.measure_windows_workloads([plumbline.Workload("add", make)], student="adder:run", min_workloads=1,
                                                   reference="adder:run", paths=[str(tmp_path)], time_limit_s=5.0)
    block = document["performance"]["workloads"][0]
    assert block["findings"] == [] and block["l2"] == "cold"
    sets = [make(seed) for seed in range(block["sets"])]
    own = statistics.median(read_kept(sets) for _ in range(20))
    assert 0.93 * own < block["student"]["pipelined_ms"] < 1.05 * own
    assert 0.93 * own < block["ref"]["pipelined_ms"] < 1.05 * own


def read_kept(sets):
    """A pipelined window whose results stay until its end, as they do where they are checked."""
    opened = plumbline.Session.cuda(0, torch.cuda.current_stream().cuda_stream)
    calls = [lambda one=one: torch.add(one["x"], one["y"]) for one in sets]
    kept = [call() for call in calls]
    del kept
    kept = [None] * len(calls)
    opened.flush()
    reading = opened.pipelined(calls, len(calls), kept).ms
    opened.close()
    return reading


REFERENCE = """
import torch


def own_inputs(axes_and_scalars, device):
    return {"x": torch.rand(axes_and_scalars["rows"], axes_and_scalars["columns"], device=device).half(),
            "gain": axes_and_scalars["columns"] / 4096}


@torch.no_grad()
def run(x, gain):
    return torch.softmax(x.float() * gain, -1).half()
"""
STUDENT = """
import torch
_kept = {}


def run(x, gain):
    return torch.softmax(x.float() * gain, -1).half()


def remembers(x, gain):
    key = x[0, :16].cpu().numpy().tobytes()
    if key not in _kept:
        _kept[key] = run(x, gain)
    return _kept[key]
"""


@pytest.fixture
def board_problem(tmp_path):
    """A problem folder as SOL-ExecBench publishes them, with a student beside it."""
    (tmp_path / "board_student.py").write_text(STUDENT)
    definition = {"name": "softmax_c4096", "axes": {"rows": {"type": "var"}, "columns": {"type": "const", "value": 4096}},
                  "inputs": {"x": {"shape": ["rows", "columns"], "dtype": "float16"},
                             "gain": {"shape": None, "dtype": "float32"}},
                  "outputs": {"out": {"shape": ["rows", "columns"], "dtype": "float16"}},
                  "custom_inputs_entrypoint": "own_inputs", "reference": REFERENCE}
    rows = [{"uuid": "drawn", "axes": {"rows": 8192},
             "inputs": {"x": {"type": "random"}, "gain": {"type": "scalar", "value": 0.5}}},
            {"uuid": "made", "axes": {"rows": 4096}, "inputs": {"x": {"type": "custom"}, "gain": {"type": "custom"}}}]
    folder = tmp_path / "problem"
    folder.mkdir()
    (folder / "definition.json").write_text(json.dumps(definition))
    (folder / "workload.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def on_board(problem, student="run"):
    return plumbline.run_leaderboard_bench(problem, student="board_student:" + student, time_limit_s=3.0, noise=0.01,
                                           paths=[os.path.dirname(problem)])


def test_a_problem_folder_of_a_board(board_problem):
    document = on_board(str(board_problem))
    blocks = document["performance"]["workloads"]
    assert [b["findings"] for b in blocks] == [[], []] and [b["name"] for b in blocks] == ["drawn", "made"]
    assert blocks[0]["draws"] == [[200, 10]] and abs(blocks[0]["fresh_ratio"] - 1) < 0.05
    assert abs(document["performance"]["ratio"] - 1) < 0.03


def test_a_trace_set_of_a_board(board_problem, tmp_path):
    for name in ("definitions/softmax", "workloads/softmax"):
        (tmp_path / name).mkdir(parents=True)
    path = tmp_path / "definitions" / "softmax" / "softmax_c4096.json"
    path.write_text((board_problem / "definition.json").read_text())
    values = torch.randn(8192, 4096).half()
    header = json.dumps({"x": {"dtype": "F16", "shape": [8192, 4096], "data_offsets": [0, values.nbytes]}}).encode()
    (tmp_path / "x.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + values.numpy().tobytes())
    one = {"uuid": "filed", "axes": {"rows": 8192}, "inputs": {
        "x": {"type": "safetensors", "path": "./x.safetensors", "tensor_key": "x"}, "gain": {"type": "scalar", "value": 1.0}}}
    (tmp_path / "workloads" / "softmax" / "softmax_c4096.jsonl").write_text(
        json.dumps({"definition": "softmax_c4096", "workload": one, "solution": None, "evaluation": None}))
    document = plumbline.run_leaderboard_bench(str(path), student="board_student:run", time_limit_s=3.0, noise=0.01,
                                               paths=[str(tmp_path)])
    block = document["performance"]["workloads"][0]
    assert block["findings"] == [] and block["draws"] == [[0, 1], [0, 2], [0, 3]] and block["sets"] % 3 == 0
    assert abs(document["performance"]["ratio"] - 1) < 0.03


def test_who_remembers_the_judged_inputs_is_found(board_problem):
    document = on_board(str(board_problem), "remembers")
    assert document["performance"]["ratio"] is None
    assert "draws-remembered" in [f["code"] for f in document["performance"]["workloads"][0]["findings"]]


def test_isolated_pair_of_students(tmp_path):
    out = tmp_path / "suite.jsonl"
    names = ["honest_triton", "honest_two_streams", "cheat_other_stream", "cheat_cache_by_pointer"]
    done = subprocess.run([sys.executable, os.path.join(HERE, "suite.py"), str(out)] + names, check=False, timeout=240)
    first, *rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert done.returncode == 0 and [r["good"] for r in rows] == [True] * 4
    assert first["machine"]["gpu"] == torch.cuda.get_device_name(0)
