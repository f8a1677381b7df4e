# SPDX-License-Identifier: Apache-2.0
"""measure_windows, measure_windows_workloads, the eval JSON: in this process and in children, on the fake device."""
import json
import os
import time

import pytest

import plumbline
from plumbline import Workload, evaljson, measure_windows, measure_windows_workloads, scripted

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = os.path.join(HERE, "..", "..", "docs", "schema", "eval.schema.json")


def compare(students, inputs, student, reference="reference", count=1, **options):
    options.setdefault("load_limit_s", 5)
    options.setdefault("max_calls", 12)
    workloads = [Workload("w%d" % i, inputs, **options.pop("workload", {})) for i in range(count)]
    return measure_windows_workloads(workloads, student="students:" + student, reference="students:" + reference,
                                     paths=[str(students)], min_workloads=count, **options)


def scale(given):
    """A prep step that takes a microsecond."""
    scripted.work(1000)
    return {"scale": given["x"] * 2}


def codes(document):
    return sorted({f["code"] for w in document["performance"]["workloads"] for f in w["findings"]})


def test_one_callable(session, tmp_path):
    session.script_host(2000)
    report = measure_windows(lambda: session.script_work(3000), session=session, out=str(tmp_path / "one.json"))
    assert report["pipelined_ms"] == pytest.approx(0.003)
    assert report["host_tax_ms"] == pytest.approx(0.002)
    assert report["stop"] == "noise" and json.load(open(tmp_path / "one.json"))["sm_mhz"] == 1000


def test_one_callable_that_waits(session):
    def call():
        session.script_work(1000)
        session.script_synchronize()
    report = measure_windows(call, session=session)
    assert report["pipelined_ms"] is None and report["notes"] and report["per_call_ms"] > 0


def test_prep_runs_outside(session):
    seen = []
    report = measure_windows(lambda x: session.script_work(3000), session=session, inputs=[{"x": 1}],
                             prep=lambda given: seen.append(given) or session.script_work(7000) or {"x": 2})
    assert report["prep"]["ms"] == pytest.approx(0.0071) and seen[0] == {"x": 1}
    assert report["pipelined_ms"] == pytest.approx(0.003)


def test_an_isolated_student(students, inputs, tmp_path):
    out = tmp_path / "eval.json"
    document = compare(students, inputs, "good", count=3, out=str(out))
    performance = document["performance"]
    assert performance["ratio"] == pytest.approx(1.25) and performance["n_workloads"] == 3
    assert performance["student_ms"] == pytest.approx(0.004) and performance["window"] == "pipelined"
    assert [w["campaign"] for w in performance["workloads"]] == [True, False, False]
    assert document["harness"]["isolation"] == "process"
    assert all(w["outputs_checked"] > 50 for w in performance["workloads"])
    assert json.loads(out.read_text()) == json.loads(json.dumps(document))


def test_the_document_follows_its_schema(students, inputs):
    jsonschema = pytest.importorskip("jsonschema")
    with open(SCHEMA, encoding="utf-8") as stream:
        schema = json.load(stream)
    jsonschema.Draft7Validator.check_schema(schema)
    good = compare(students, inputs, "takes_scale", prep=scale)
    for document in (good, compare(students, inputs, "by_pointer"), compare(students, inputs, "waits")):
        jsonschema.validate(json.loads(json.dumps(document)), schema)
    assert good["performance"]["prep"]["outputs"]["scale"] == {"shape": [32, 32], "dtype": "float32"}
    wrong = json.loads(json.dumps(good))
    wrong["performance"]["workloads"][0]["student"]["pipelined_ms"] = "4"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schema)


@pytest.mark.parametrize("student, code", [
    ("by_pointer", "wrong-output"), ("other_stream", "late-work"), ("mutate", "input-mutated"),
    ("dies", "worker-died"), ("raises", "student-raised"), ("wrong_shape", "output-shape"),
    ("wrong_type", "output-dtype"), ("wrong_count", "output-count"), ("subclass", "output-type"),
    ("lazy_tuple", "output-type"), ("leaves_a_trace", "mode-active"),
    ("patches_time", "patched"), ("patches_harness", "patched"), ("missing", "target"),
    ("wants_unknown", "signature")])
def test_a_student_that_breaks_a_rule_gets_no_ratio(students, inputs, student, code):
    document = compare(students, inputs, student)
    assert code in codes(document)
    assert document["performance"]["ratio"] is None
    assert any(code in reason for reason in document["performance"]["refused"])


def test_a_hanging_student_is_ended(students, inputs):
    started = time.monotonic()
    document = compare(students, inputs, "hangs", load_limit_s=8)
    assert codes(document) == ["time-limit"] and time.monotonic() - started < 60


def test_who_ends_its_keeper_is_seen_at_once(students, inputs):
    document = compare(students, inputs, "orphans", load_limit_s=600)  # whatever goes on under another name
    assert codes(document) == ["worker-died"]


def test_the_handing_over_is_judged_by_the_student_s_own_windows(students, inputs):
    from plumbline import sides
    side = sides.RemoteSide("students:good", [str(students)], str(students), 60)
    try:
        side._handed = [0.0] * 20  # the reference's windows in this process
        side.load()
        side._handed.append(5.0)
        assert side.handed_late() > 4
    finally:
        side.close()


def test_a_student_that_waits_is_compared_by_per_call_windows(students, inputs):
    document = compare(students, inputs, "waits")
    block = document["performance"]["workloads"][0]
    assert block["window"] == document["performance"]["window"] == "per_call" and block["notes"]
    assert document["performance"]["ratio"] == pytest.approx(5.1 / 4.1)
    assert block["student"]["pipelined_ms"] is None


def test_prep_tensors_are_guarded(students, inputs):
    assert codes(compare(students, inputs, "takes_scale", prep=scale)) == []
    document = compare(students, inputs, "spoils_scale", prep=scale)
    assert codes(document) == ["prep-mutated"]
    assert document["performance"]["prep"]["mutated"] == ["scale"]


def with_output(inputs):
    def make(seed):
        made = inputs(seed)
        return dict(made, out=made["x"] * 0)
    return make


def test_outputs_written_in_place(students, inputs):
    options = dict(reference="reference_in_place", workload={"outputs": ["out"]})
    document = compare(students, with_output(inputs), "in_place", **dict(options))
    assert codes(document) == [] and document["performance"]["ratio"] == pytest.approx(1.25)
    document = compare(students, with_output(inputs), "skips_in_place", **dict(options))
    assert codes(document) == ["wrong-output"]


def test_the_student_does_not_receive_what_only_the_reference_may_see(students, inputs):
    def make(seed):
        made = inputs(seed)
        return dict(made, saved=made["x"] * 2 + made["y"])
    document = compare(students, make, "good", reference="reference_with_saved")
    assert document["performance"]["workloads"][0]["student_receives"] == ["x", "y"]
    assert document["performance"]["ratio"] == pytest.approx(1.25)


def test_callables_are_not_isolated_and_it_is_said(students, inputs):
    import sys
    sys.path.insert(0, str(students))
    import students as module
    document = measure_windows_workloads([Workload("w", inputs)], student=module.good, reference=module.reference,
                                         min_workloads=1, max_calls=12)
    assert document["harness"]["isolation"] == "none" and document["harness"]["notes"]
    assert document["performance"]["ratio"] == pytest.approx(1.25)


def test_too_few_workloads_refuse_the_mean(students, inputs):
    document = measure_windows_workloads([Workload("w", inputs)], student="students:good",
                                         reference="students:reference", paths=[str(students)], max_calls=12)
    assert document["performance"]["ratio"] is None and "at least 3" in document["performance"]["refused"][0]


def test_geometric_mean_refuses():
    assert evaljson.geometric_mean([0.1, 10]) == pytest.approx(1)
    for bad in ([], [1, 0], [1, None], [1, -2], [1, float("nan")], [1, float("inf")]):
        assert evaljson.geometric_mean(bad) is None


def test_usage():
    with pytest.raises(plumbline.PlumblineError):
        measure_windows_workloads([], student="a:b", reference="c:d")


def test_mutual_names_read_without_running(tmp_path):
    from plumbline.workload import names_in_source
    (tmp_path / "kernel.py").write_text("import missing_module\n\ndef f(a, b=1, *, c):\n    pass\n\ndef g(**k):\n    pass\n")
    assert names_in_source("kernel:f", [str(tmp_path)]) == ["a", "b", "c"]
    assert names_in_source("kernel:g", [str(tmp_path)]) is None
    assert names_in_source("kernel:h", [str(tmp_path)]) is None
    assert names_in_source("other:f", [str(tmp_path)]) is None


def test_no_expected_output_lies_where_a_student_could_look(students, inputs, monkeypatch):
    """Also where the contents are too slow to be made anew for each window."""
    from plumbline import workload_run
    # It finds no mailbox at all, and so is honest: 5 us of the reference over 1 us.
    assert compare(students, inputs, "looks_in_the_mailbox")["performance"]["ratio"] == pytest.approx(5)
    monkeypatch.setattr(workload_run, "_REFRESH_LIMIT_S", -1)
    document = compare(students, inputs, "looks_in_the_mailbox")
    assert document["performance"]["workloads"][0]["inputs_refreshed"] == "sealed windows"
    assert codes(document) == [] and document["performance"]["ratio"] == pytest.approx(5)
    assert codes(compare(students, inputs, "by_pointer")) == ["wrong-output"]  # contents change places


def test_a_reference_that_changes_its_input_is_named(students, inputs):
    with pytest.raises(plumbline.PlumblineError, match="changes its input x"):
        compare(students, inputs, "good", reference="changes_its_input")


def test_a_plain_number_that_each_draw_makes_anew_is_that_of_the_first(students):
    import numpy
    document = compare(students, lambda seed: {"x": numpy.full((8, 8), seed % 97, "f4"), "y": float(seed)}, "good")
    assert codes(document) == [] and document["performance"]["ratio"] == pytest.approx(1.25)


CONTRACT = """
schema_version = 1
[reference]
inputs = ["x", "y", "saved"]
outputs = ["out"]
[student]
inputs = ["x", "y"]
outputs = ["out"]
"""


def with_saved(inputs):
    def make(seed):
        made = inputs(seed)
        return dict(made, saved=made["x"] * 2 + made["y"])
    return make


def test_a_side_gets_what_the_contract_lists(students, inputs):
    (students / "window.toml").write_text(CONTRACT)
    document = compare(students, with_saved(inputs), "takes_anything", reference="reference_with_saved")
    block = document["performance"]["workloads"][0]
    assert block["findings"] == [] and block["student_receives"] == ["x", "y"]
    assert block["ref_receives"] == ["x", "y", "saved"]
    document = compare(students, with_saved(inputs), "asks_for_saved", reference="reference_with_saved")
    assert codes(document) == ["undeclared-parameter"] and document["performance"]["ratio"] is None


def test_the_reference_is_held_to_the_contract_too(students, inputs):
    (students / "window.toml").write_text(CONTRACT.replace(', "saved"', ""))
    with pytest.raises(plumbline.PlumblineError, match="the reference takes saved"):
        compare(students, with_saved(inputs), "good", reference="reference_with_saved")


def test_the_eval_says_what_it_was_made_of(students, inputs):
    (students / "window.toml").write_text(CONTRACT.replace(', "saved"', ""))
    document = compare(students, inputs, "good")
    assert set(document["evidence"]["files"]) == {"students.py", "window.toml"}
    block = document["performance"]["workloads"][0]
    assert block["graph_captured"] == {"ref": False, "student": False}
    assert block["parent"]["student_ms"] == pytest.approx(0.004) and block["quiet"]["difference"] == pytest.approx(0, abs=1e-9)
    assert block["output_error"]["student"] == pytest.approx(block["output_error"]["reference"])


def test_a_daemon_is_ended_with_its_student(students, inputs, tmp_path, monkeypatch):
    monkeypatch.setenv("PLUMBLINE_TEST_PID", str(tmp_path / "pid"))
    document = compare(students, inputs, "leaves_a_daemon")
    assert document["performance"]["ratio"] == pytest.approx(1.25)
    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(OSError):
        os.kill(pid, 0)


def test_a_claim_under_what_the_parent_saw_is_refused():
    from plumbline import clocks
    from plumbline._native import Reading

    class Result:
        def __init__(self, seen, said, behind=0.02):
            self.brackets, self.behind, self.readings = [seen], [behind], [Reading(window_ms=said, ms=said / 10)]
    clock = clocks.Clock()
    for _ in range(10):
        clock.add("ref", Result(2.01, 2.0), 10)
        clock.add("student", Result(2.01, 1.985), 10)  # three quarters of a percent under: the clock's own business
    assert clock.judge()[1] is None
    clock.restart()
    for _ in range(10):
        clock.add("ref", Result(2.01, 2.0), 10)
        clock.add("student", Result(2.01, 1.9), 10)
    assert clock.judge()[0] == pytest.approx({"ref_ms": 0.2, "student_ms": 0.2}) and "clock saw" in clock.judge()[1]
    assert clock.behind() is None
    for _ in range(20):
        clock.add("student", Result(2.01, 1.99, behind=0.15), 10)
    assert "behind the closing mark" in clock.behind()
    late = Result(2.01, 2.0, behind=0.52)  # half a millisecond of work behind the mark gains nothing
    clock.add("student", late, 10)
    assert late.readings[0].window_ms == pytest.approx(2.5) and late.readings[0].ms == pytest.approx(0.25)
