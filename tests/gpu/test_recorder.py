# SPDX-License-Identifier: Apache-2.0
"""The recorder over CUDA graphs: each node of each replay is a launch, with the times that the same kernels have by
themselves. Needs the binary (PLUMBLINE names it). PLUMBLINE_RECORDER_TABLES names a folder that keeps the tables."""
import json
import os
import subprocess
import sys

import pytest

try:
    import torch
    trouble = None if torch.cuda.is_available() else "PyTorch sees no CUDA GPU"
except ImportError as error:
    trouble = str(error)
HERE = os.path.dirname(os.path.abspath(__file__))
BINARY = os.environ.get("PLUMBLINE")
if trouble is None and not (BINARY and os.path.exists(BINARY)):
    trouble = "PLUMBLINE names no binary"
pytestmark = pytest.mark.skipif(trouble is not None, reason=str(trouble))
CALLS = 20


@pytest.fixture(scope="module")
def keep(tmp_path_factory):
    """Where the tables go."""
    named = os.environ.get("PLUMBLINE_RECORDER_TABLES")
    if named:
        os.makedirs(named, exist_ok=True)
    return named or str(tmp_path_factory.mktemp("tables"))


def record(keep, name, *arguments, options=()):
    out = os.path.join(keep, name + ".table.json")
    done = subprocess.run([BINARY, "record", "-o", out, *options, "--", sys.executable, os.path.join(HERE, "graphs.py"),
                           *arguments], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    with open(out, encoding="utf-8") as stream:
        return json.load(stream)


@pytest.fixture(scope="module")
def eager(keep):
    """The same work without a graph."""
    return record(keep, "eager", "eager", "--calls", str(CALLS))


def launches(table):
    return {row["name"]: row["launches"] for row in table["kernels"]}


def each_us(table):
    return {row["name"]: row["time_ns"] / row["launches"] / 1e3 for row in table["kernels"]}


def graph_nodes(table):
    notes = [n for n in table["notes"] if "nodes of CUDA graphs" in n]
    return int(notes[0].split()[0]) if notes else 0


def same_times(table, eager, tolerance):
    for name, us in each_us(eager).items():
        assert each_us(table)[name] == pytest.approx(us, rel=tolerance), name


def test_without_a_graph(eager):
    assert sum(launches(eager).values()) == 4 * CALLS and eager["calls"] == CALLS and not eager["lossy"]
    assert graph_nodes(eager) == 0 and eager["memcpy"]["count"] == CALLS


def test_each_node_of_each_replay_is_a_launch(keep, eager):
    table = record(keep, "graph", "graph", "--calls", str(CALLS))
    assert launches(table) == launches(eager) and table["memcpy"]["count"] == CALLS and not table["lossy"]
    assert graph_nodes(table) == 4 * CALLS
    same_times(table, eager, 0.1)  # the clock moves from run to run: the product is bound by power
    assert table["busy_ns"] == pytest.approx(eager["busy_ns"], rel=0.1)


def test_a_graph_that_is_captured_within_the_region(keep, eager):
    table = record(keep, "inside", "inside", "--calls", str(CALLS))
    # Its warm-up call, and two fills by which PyTorch prepares a capture.
    assert {name: n for name, n in launches(table).items() if "FillFunctor" not in name} == {
        name: n + 1 for name, n in launches(eager).items()}
    assert graph_nodes(table) == 4 * CALLS
    same_times(table, eager, 0.1)


def test_graphs_and_launches_side_by_side(keep, eager):
    table = record(keep, "mixed", "mixed", "--calls", str(CALLS))
    assert launches(table) == {name: 2 * n for name, n in launches(eager).items()}
    assert graph_nodes(table) == 4 * CALLS
    same_times(table, eager, 0.1)


def test_an_nvtx_range_round_replays(keep, eager):
    table = record(keep, "nvtx", "graph", "--calls", str(CALLS), "--nvtx", options=("--range", "replays"))
    assert launches(table) == launches(eager) and graph_nodes(table) == 4 * CALLS
    assert table["region"] == "nvtx:replays"


def test_branches_of_a_graph_overlap(keep):
    table = record(keep, "streams", "streams", "--calls", str(CALLS))
    assert sum(launches(table).values()) == 2 * CALLS and graph_nodes(table) == 2 * CALLS
    assert table["busy_ns"] <= table["total_ns"]


def test_a_large_graph_loses_nothing(keep, eager):
    nodes, calls = 500, 50
    out = os.path.join(keep, "large.csv")
    table = record(keep, "large", "graph", "--calls", str(calls), "--nodes", str(nodes), options=("--launches", out))
    assert sum(launches(table).values()) == 4 * nodes * calls == graph_nodes(table)
    assert table["memcpy"]["count"] == nodes * calls
    with open(out, encoding="utf-8") as stream:
        rows = stream.read().splitlines()[1:]
    os.remove(out)
    assert len(rows) == 4 * nodes * calls
    last = 0
    for row in rows:  # one branch: in order. A node may begin before the one before it has ended, by less than 1 us
        start, end = map(int, row.rsplit(",", 2)[1:])
        assert last - 2000 < start < end
        last = end
    assert 0 <= table["overlap_ns"] < 0.01 * table["total_ns"]
