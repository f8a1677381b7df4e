# SPDX-License-Identifier: Apache-2.0
"""Measurements of a stranger's card: the script on a stand-in for PyTorch, and the file that comes of it, read by the tool."""

import hashlib
import itertools
import json
import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
FAKE = os.path.join(HERE, "fake_torch")
TOOL = os.environ.get("PLUMBLINE", "")
pytestmark = pytest.mark.skipif(not TOOL, reason="the tests of the build name the tool in PLUMBLINE")

sys.path.append(FAKE)
from plumbline import graph_timing, submit, submit_calls, submit_shapes  # noqa: E402


def tool(*arguments, **environment):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, env={**os.environ, **environment}, check=False)


def check(path, *more):
    return tool("hardware", "check", str(path), *more)


@pytest.fixture(scope="module")
def text():
    rows = submit.Rows()
    submit.measure(1e6, lambda: 1755, rows, submit_calls.of, itertools.islice(submit_shapes.design(), 70), tuple(submit_shapes.MAKERS))
    submit.name_kernels(rows, 1e6)
    import torch
    nvml = graph_timing.Nvml("none")
    return submit.text_of(submit.head(torch.cuda.get_device_properties(0), nvml, 0), rows, submit_calls.TABLES)


def signed(text):
    above = text.rsplit("# sha256", 1)[0]
    return above + "# sha256: %s\n" % hashlib.sha256(above.encode()).hexdigest()


def test_every_operation_is_measured_and_named(text):
    tables = [line[9:] for line in text.splitlines() if line.startswith("# table: ")]
    assert tables == ["gemm", "gemm_fp8", "attention", "grouped_gemm", "elementwise"]
    rows = [line for line in text.splitlines() if not line.startswith("#") and not line.startswith("op,")]
    assert len(rows) == 100
    assert all(",1755" in row and ",fake_" in row for row in rows)


def test_the_tool_believes_it(tmp_path, text):
    path = tmp_path / "card.txt"
    submit.write_whole(str(path), text)
    done = check(path, "--json")
    table = json.loads(done.stdout)[0]
    assert done.returncode == 0 and table["usable"] and table["hardware"] == "h200" and table["rows"] == 100
    assert table["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert os.listdir(tmp_path) == ["card.txt"]


@pytest.mark.parametrize("change, code", [
    (lambda t: t.replace("linear,bf16,128,", "linear,bf16,129,", 1), "submission-damaged"),
    (lambda t: t[:len(t) // 2], "submission-damaged"),
    (lambda t: signed(t.replace("window.host: outside", "window.host: inside")), "submission-window"),
    (lambda t: signed(t.replace("window.quantisation: outside", "window.quantisation: partly")), "submission-window"),
    (lambda t: signed(t.replace("# flush: buffers", "# flushed: buffers")), "submission-incomplete"),
    (lambda t: signed(t[:t.index("# table: ")]), "submission-incomplete"),
])
def test_what_cannot_be_believed_is_refused(tmp_path, text, change, code):
    path = tmp_path / "card.txt"
    path.write_text(change(text))
    done = check(path, "--json")
    assert done.returncode == 1
    assert [f["code"] for f in json.loads(done.stdout)[0]["findings"]] == [code]
    assert tool("hardware", "calibrate", str(path), "--name", "h200", "-o", str(tmp_path / "h200.toml")).returncode == 2
    assert os.listdir(tmp_path) == ["card.txt"]


def test_unsteady_rows_are_set_apart(tmp_path, text):
    lines = text.splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith("linear,"))
    for row, cells in ((at, (-4, "2")), (at + 1, (-2, "45.5"))):  # replays; spread_pct
        parts = lines[row].rstrip("\n").split(",")
        parts[cells[0]] = cells[1]
        lines[row] = ",".join(parts) + "\n"
    path = tmp_path / "card.txt"
    path.write_text(signed("".join(lines)))
    table = json.loads(check(path, "--json").stdout)[0]
    assert [(f["code"], f["line"]) for f in table["findings"]] == [("row-unsteady", at + 1), ("row-unsteady", at + 2)]
    assert table["usable"] and table["rejected"] == 2


def test_another_card_is_told_apart(tmp_path, text):
    path = tmp_path / "card.txt"
    path.write_text(signed(text.replace("# sms: 132", "# sms: 114")))
    assert check(path).returncode == 2
    done = check(path, "--hardware", "h200", "--json")
    assert done.returncode == 0
    assert [f["code"] for f in json.loads(done.stdout)[0]["findings"]] == ["submission-other-card"]


def test_the_command_measures_and_checks(tmp_path):
    path = tmp_path / "card.txt"
    done = tool("hardware", "submit", "-o", str(path), "--minutes", "0.01", "--json", PYTHONPATH=FAKE)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["usable"]
    assert "not measured: window" in done.stderr  # this PyTorch has none
    assert path.read_text().startswith("# plumbline-submission/1\n")


def test_the_command_says_why_it_cannot(tmp_path):
    output = str(tmp_path / "card.txt")
    for arguments in (["-o", output, "--minutes", "11"], ["-o", output, "--minutes", "0"], ["-o", str(tmp_path / "no" / "card.txt")], []):
        assert tool("hardware", "submit", *arguments).returncode == 2
    broken = tmp_path / "torch"
    broken.mkdir()
    (broken / "__init__.py").write_text("raise ImportError('no torch')\n")
    done = tool("hardware", "submit", "-o", output, "--minutes", "0.01", PYTHONPATH=str(tmp_path))
    assert done.returncode == 2 and "submit-failed" in done.stderr and "no torch" in done.stderr
    assert not os.path.exists(output)


def test_every_prefix_of_the_design_has_all_operations():
    first = list(itertools.islice(submit_shapes.design(), len(submit_shapes.TURN)))
    assert {operation for operation, _ in first} == set(submit_shapes.MAKERS)
    shapes = [tuple(s.values()) for o, s in itertools.islice(submit_shapes.design(), 3000) if o == "gemm"]
    assert len(set(shapes)) > 0.75 * len(shapes)
    for operation, shape in itertools.islice(submit_shapes.design(), 3000):
        assert all(value > 0 for key, value in shape.items() if isinstance(value, int) and key not in ("window", "causal"))
        if operation == "grouped_gemm":
            rows = submit_shapes.loads(shape)
            assert sum(rows) == shape["tokens"] * shape["topk"] and max(rows) <= shape["tokens"]
        if operation in ("prefill", "decode", "window"):
            assert shape["heads"] % shape["kv_heads"] == 0


def test_names_are_plain():
    assert graph_timing.plain("void cutlass::Kernel2<cutlass_80_tensorop>(Params)") == "cutlass_80_tensorop"
    assert graph_timing.plain("void fake_gemm<128, 64>(float const*)") == "fake_gemm"
