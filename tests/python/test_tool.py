# SPDX-License-Identifier: Apache-2.0
"""The tool from Python: the same documents as the command line, rows for a data frame, errors with their reasons, pages in a notebook."""
import doctest
import inspect
import json
import os
import subprocess
import typing

import pytest

from plumbline import tool

pytestmark = pytest.mark.skipif(not os.environ.get("PLUMBLINE"), reason="the tests of the build name the tool in PLUMBLINE")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CARD = os.path.join(ROOT, "operators", "attention_backward")
RUN = os.path.join(CARD, "runs", "h200_price")


@pytest.fixture(autouse=True)
def in_the_project(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_examples_in_the_docs_are_true():
    failures, tried = doctest.testmod(tool)
    assert failures == 0 and tried >= 10


@pytest.mark.parametrize("report,command", [
    (lambda: tool.confirm(CARD, run="h200_price"), ["confirm", CARD, "--run", "h200_price"]),
    (lambda: tool.rank(["llama3_8b", "llama3_70b"], hardware="h100"),
     ["arch", "rank", "--layer", "llama3_8b", "--layer", "llama3_70b", "--hardware", "h100"]),
    (lambda: tool.import_profile(os.path.join(RUN, "ref.ncu.csv")), ["import", os.path.join(RUN, "ref.ncu.csv")]),
    (lambda: tool.predict(["llama3_8b"]), ["arch", "predict", "--layer", "llama3_8b"]),
    (lambda: tool.check_contract(CARD), ["start", CARD]),
])
def test_the_document_is_the_command_lines(report, command):
    done = subprocess.run([os.environ["PLUMBLINE"], *command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    got = report()
    assert got.document == json.loads(done.stdout)
    assert got.status == done.returncode


def test_rows_are_flat_enough_for_a_data_frame():
    rows = tool.predict(["llama3_8b"]).rows
    assert {"layer", "kernel", "ms", "low_ms", "high_ms", "hardware"} <= set(rows[0])
    assert all(not isinstance(v, (dict, list)) for row in rows for v in row.values())
    assert abs(sum(r["ms"] for r in rows) - tool.rank(["llama3_8b"]).rows[0]["total_ms"]) < 1e-9
    assert [w["name"] for w in tool.confirm(CARD, run="h200_price").rows][0] == "b2_s2048"


def test_layers_are_taken_as_mappings_too():
    fields = {"hidden_dim": 4096, "num_heads": 32, "num_kv_heads": 8, "head_dim": 128, "ffn_dim": 14336, "use_qk_norm": True}
    words = "hidden_dim=4096,num_heads=32,num_kv_heads=8,head_dim=128,ffn_dim=14336,use_qk_norm=true"
    assert tool.rank([fields]).rows[0]["total_ms"] == tool.rank([words]).rows[0]["total_ms"]


def test_an_error_carries_its_reasons():
    with pytest.raises(tool.ToolError) as caught:
        tool.rank(hardware="h2000")
    assert caught.value.reasons[0]["code"] == "hardware-unknown"
    with pytest.raises(tool.ToolError, match="no such file"):
        tool.import_profile("none.csv")


def test_a_refused_contract_is_a_report(tmp_path):
    (tmp_path / "window.toml").write_text("")
    report = tool.check_contract(tmp_path)
    assert report.status == tool.REFUSED and report.rows[0]["code"]


def test_a_notebook_shows_the_page_in_a_frame_of_its_own():
    report = tool.confirm(CARD, run="h200_price")
    page = report.page()
    assert page.startswith("<!DOCTYPE html>") and "Not passed" in page
    shown = report._repr_html_()
    assert shown.startswith("<iframe") and "<!DOCTYPE" not in shown and "&lt;!DOCTYPE" in shown
    assert tool.import_profile(os.path.join(RUN, "ref.ncu.csv"))._repr_html_() is None


def test_runs_are_banked_listed_and_compared(tmp_path):
    ledger = str(tmp_path / "ledger.db")
    for run in ("h200_price", "h200"):
        assert tool.confirm(CARD, run=run, bank=True, ledger=ledger).status == tool.GATE_FAILED
    assert [row["name"] for row in tool.runs(CARD, ledger=ledger).rows] == ["h200", "h200_price"]
    changes = tool.diff("h200_price", "h200", card=CARD, ledger=ledger)
    assert "b2_s2048" in [row["workload"] for row in changes.rows] and "moved" in changes.rows[0]
    trend = tool.trend(CARD, ledger=ledger)
    assert trend.rows[-1]["raw_ratio"] and "over time" in trend.page()


def test_every_public_function_is_typed_and_documented():
    functions = [f for n, f in vars(tool).items() if inspect.isfunction(f) and f.__module__ == tool.__name__ and not n.startswith("_")]
    assert len(functions) >= 12
    for function in functions:
        assert function.__doc__, function.__name__
        hints = typing.get_type_hints(function)
        assert "return" in hints, function.__name__
        for parameter in inspect.signature(function).parameters:
            assert parameter in hints, (function.__name__, parameter)
