# SPDX-License-Identifier: Apache-2.0
"""Problems of public boards, in the two layouts that are published, on the fake device."""
import json
import struct

import pytest

import plumbline
from plumbline import PlumblineError, backends, board, leaderboard

REFERENCE = '''
from plumbline import scripted


def own_inputs(axes_and_scalars, device):
    import numpy
    rows, columns = axes_and_scalars["rows"], axes_and_scalars["columns"]
    assert axes_and_scalars["elements"] == rows * columns and device == "cpu"
    return {"y": numpy.random.standard_normal((rows, columns)).astype("f4"),
            "x": numpy.random.standard_normal((rows, columns)).astype("f4")}


def run(x, y):
    scripted.work(5000)
    return x * 2 + y
'''


def definition(**changes):
    made = {"name": "axpy_c32", "op_type": "axpy",
            "axes": {"rows": {"type": "var"}, "columns": {"type": "const", "value": 32},
                     "elements": {"type": "expr", "expression": "rows * columns"}},
            "inputs": {"x": {"shape": ["rows", "columns"], "dtype": "float32"},
                       "y": {"shape": ["rows", "columns"], "dtype": "float32"}},
            "outputs": {"out": {"shape": ["rows", "columns"], "dtype": "float32"}}, "reference": REFERENCE}
    return dict(made, **changes)


def workload(uuid, rows, kind="random"):
    return {"uuid": uuid, "axes": {"rows": rows}, "inputs": {"x": {"type": kind}, "y": {"type": kind}}}


def write_safetensors(path, **arrays):
    header, data = {}, b""
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def run(students, problem, student="good", **options):
    return plumbline.run_leaderboard_bench(problem, student="students:" + student, paths=[str(students)], max_calls=12,
                                           load_limit_s=10, **options)


def codes(document):
    return sorted({f["code"] for w in document["performance"]["workloads"] for f in w["findings"]})


def test_draws():
    draws = leaderboard.judged_draws
    assert draws({"board": "sol-execbench"}) == [(200, 10)]
    assert draws({"board": "sol-execbench", "seed": 100, "rounds": 3}) == [(100, 3)]
    assert draws({"board": "flashinfer-bench"}) == [(0, 1), (0, 2), (0, 3)]
    assert draws({"board": "flashinfer-bench", "draws": 2, "seed": 7}) == [(7, 1), (7, 2)]
    assert draws({"draws": [5, 9]}) == [(5, 1), (9, 1)]
    for bad in ({}, {"board": "other"}, {"draws": ["x"]}, {"draws": [-1]}, {"board": "sol-execbench", "rounds": 0},
                {"board": "sol-execbench", "seed": "200"}, {"board": "flashinfer-bench", "draws": True}):
        with pytest.raises(PlumblineError):
            draws(bad)


def test_a_problem_folder(students, tmp_path):
    """definition.json beside workload.jsonl, bare workloads: SOL-ExecBench."""
    folder = tmp_path / "001_axpy"
    folder.mkdir()
    (folder / "definition.json").write_text(json.dumps(definition()))
    (folder / "workload.jsonl").write_text("\n".join(json.dumps(workload(u, n)) for u, n in (("one", 16), ("two", 32))) + "\n\n")
    document = run(students, str(folder))
    performance = document["performance"]
    assert codes(document) == [] and performance["ratio"] == pytest.approx(1.25) and document["op"] == "axpy_c32"
    assert [w["name"] for w in performance["workloads"]] == ["one", "two"]
    assert performance["workloads"][1]["shape"] == {"rows": 32, "columns": 32, "elements": 1024}
    assert performance["workloads"][0]["draws"] == [[200, 10]]
    assert performance["workloads"][0]["fresh_ratio"] == pytest.approx(1.25)
    chosen = run(students, {"board": "sol-execbench", "definition": definition(), "group": ["two"],
                            "workloads": [workload("one", 16), workload("two", 32)]})
    assert [w["name"] for w in chosen["performance"]["workloads"]] == ["two"]


def test_a_definition_in_a_trace_set(students, tmp_path):
    """definitions/TYPE/NAME.json, workloads/TYPE/NAME.jsonl of traces, tensors in files: FlashInfer-Bench."""
    import numpy
    for name in ("definitions/axpy", "workloads/axpy", "blob"):
        (tmp_path / name).mkdir(parents=True)
    path = tmp_path / "definitions" / "axpy" / "axpy_c32.json"
    path.write_text(json.dumps(definition()))
    y = numpy.arange(16 * 32, dtype="f4").reshape(16, 32)
    write_safetensors(tmp_path / "blob" / "y.safetensors", other=y[:1], y=y)
    one = workload("one", 16)
    one["inputs"]["y"] = {"type": "safetensors", "path": "./blob/y.safetensors", "tensor_key": "y"}
    rows = [{"definition": "axpy_c32", "workload": one, "solution": None, "evaluation": None},
            {"definition": "another", "workload": workload("not mine", 16), "solution": None, "evaluation": None},
            {"definition": "axpy_c32", "workload": one, "solution": "somebody's", "evaluation": {}}]
    (tmp_path / "workloads" / "axpy" / "axpy_c32.jsonl").write_text("\n".join(map(json.dumps, rows)))
    document = run(students, str(path))
    block = document["performance"]["workloads"][0]
    assert codes(document) == [] and document["performance"]["n_workloads"] == 1 and block["name"] == "one"
    assert block["draws"] == [[0, 1], [0, 2], [0, 3]] and block["sets"] % 3 == 0
    assert document["performance"]["ratio"] == pytest.approx(1.25)
    inputs = leaderboard._board_workloads(leaderboard.load_problem(str(path)), [(0, 1)], None)[0]
    assert (inputs.make_inputs()["y"] == y).all() and inputs.make_inputs()["x"].shape == (16, 32)
    assert not (inputs.fresh_inputs()["y"] == y).all() and inputs.fresh_inputs()["y"].sum() == y.sum()


def test_inputs_by_the_boards_own_function(students):
    problem = {"board": "sol-execbench", "definition": definition(custom_inputs_entrypoint="own_inputs"),
               "workloads": [workload("one", 16, "custom")]}
    document = run(students, problem)
    assert codes(document) == [] and document["performance"]["ratio"] == pytest.approx(1.25)
    problem["definition"] = definition()
    with pytest.raises(PlumblineError, match="custom_inputs_entrypoint"):
        run(students, problem)


def test_own_inputs_and_the_seeds_that_they_get(students, inputs):
    seen = []

    def make(entry, seed):
        seen.append((entry["name"], seed))
        return inputs(seed)
    problem = {"board": "flashinfer-bench", "group": [{"name": "a"}, {"name": "b"}]}
    document = run(students, problem, make_inputs=make, reference="students:reference")
    assert document["performance"]["ratio"] == pytest.approx(1.25) and document["performance"]["n_workloads"] == 2
    assert {(name, seed) for name in "ab" for seed in range(3)} <= set(seen)
    for missing in ({"reference": "students:reference"}, {"make_inputs": make}):
        with pytest.raises(PlumblineError, match="no definition"):
            run(students, problem, **missing)


def test_the_last_of_ten_rounds_is_what_is_timed():
    """Contents are those of the tenth draw from one seeding of the generators."""
    import numpy
    from plumbline.case import build_case
    backend = backends.choose()
    drawn = plumbline.Workload("w", lambda: {"x": numpy.random.standard_normal((8, 8)).astype("f4")}, draws=[(200, 10)])
    case = build_case(drawn, backend.open_session(), backend, lambda x: x * 2, None,
                      {"memory_bytes": 1 << 20, "max_calls": 4, "min_calls": 2})
    numpy.random.seed(200)
    for _ in range(10):
        tenth = numpy.random.standard_normal((8, 8)).astype("f4")
    assert not (case.sets_for_student[0]["x"] == tenth).all()  # fresh until the student is there
    case.refresh()
    assert all((one["x"] == tenth).all() for one in case.sets_for_student)
    case.refresh(judged=False)
    assert not (case.sets_for_student[0]["x"] == tenth).all()
    case.close()


def test_who_keeps_results_of_judged_inputs_is_found(students, inputs):
    problem = {"board": "sol-execbench", "group": [{"name": "a"}]}
    document = run(students, problem, "by_content", make_inputs=lambda entry, seed: inputs(seed),
                   reference="students:reference")
    assert codes(document) == ["draws-remembered"] and document["performance"]["ratio"] is None
    assert document["performance"]["workloads"][0]["window"] == "per_call"


@pytest.mark.parametrize("change, message", [
    ({"name": ""}, "no name"), ({"axes": []}, "axes"), ({"inputs": {"x": []}}, "inputs.x"),
    ({"inputs": {"x": {"shape": 3, "dtype": "float32"}}}, "inputs.x"), ({"reference": None}, "no reference"),
    ({"reference": "import nothing_of_that_name"}, "does not load"), ({"reference": "x = 1"}, "no run"),
    ({"axes": {"rows": {"type": "var"}, "columns": {"type": "const", "value": "32"}}}, "columns"),
    ({"axes": {"rows": {"type": "var"}, "columns": {"type": "expr", "expression": "rows ** rows ** rows"}}}, "columns"),
    ({"axes": {"rows": {"type": "var"}, "columns": {"type": "expr", "expression": "__import__('os')"}}}, "columns"),
    ({"axes": {"rows": {"type": "var"}, "columns": {"type": "expr", "expression": "rows / 0"}}}, "columns"),
    ({"axes": {"rows": {"type": "var"}, "columns": {"type": "expr", "expression": "rows / 3"}}}, "columns"),
    ({"axes": {"rows": {"type": "var"}}}, "not defined"), ({"axes": {"other": {"type": "var"}}}, "no value"),
    ({"inputs": {"x": {"shape": ["rows"], "dtype": "float4_e2m1fn_x2"}}}, "float4")])
def test_what_is_wrong_with_a_definition_is_said(students, change, message):
    with pytest.raises(PlumblineError, match=message):
        run(students, {"board": "sol-execbench", "definition": definition(**change), "workloads": [workload("one", 16)]})


@pytest.mark.parametrize("rows, group, message", [
    ([], None, "no workload"), ([3], None, "not an object"), ([{"uuid": 3}], None, "uuid"), ([{"uuid": "u"}], None, "axes"),
    ([dict(workload("u", 16), axes={})], None, "no value"), ([workload("u", -1)], None, "rows"),
    ([workload("u", 16, "telepathy")], None, "telepathy"), ([workload("u", 16, "safetensors")], None, "path"),
    ([workload("u", 16)], ["v"], "group"), ([workload("u", 16)], [], "group"), ([workload("u", 16)], [[]], "group")])
def test_what_is_wrong_with_workloads_is_said(students, rows, group, message):
    problem = {"board": "sol-execbench", "definition": definition(), "workloads": rows}
    if group is not None:
        problem["group"] = group
    with pytest.raises(PlumblineError, match=message):
        run(students, problem)


def test_what_is_wrong_with_a_tensor_file_is_said(tmp_path):
    import numpy
    path = tmp_path / "t.safetensors"
    write_safetensors(path, y=numpy.zeros((2, 2), "f4"))
    assert board.read_safetensors(str(path), "y") == ("float32", [2, 2], bytes(16))
    whole = path.read_bytes()
    for data in (b"", b"\x01", struct.pack("<Q", 1 << 60) + whole[8:], whole[:-1], struct.pack("<Q", 2) + b"[]",
                 whole.replace(b'"F32"', b'"Q32"'), whole.replace(b"[0, 16]", b"[9, 1] ")):
        path.write_bytes(data)
        with pytest.raises(PlumblineError):
            board.read_safetensors(str(path), "y")
    with pytest.raises(PlumblineError):
        board.read_safetensors(str(tmp_path / "none"), "y")


def test_files_that_are_no_problem(tmp_path):
    for text in ("", "[]", "{", '{"board": "sol-execbench", "definition": "gone.json"}'):
        (tmp_path / "problem.json").write_text(text)
        with pytest.raises(PlumblineError):
            leaderboard.load_problem(str(tmp_path / "problem.json"))
    with pytest.raises(PlumblineError):
        leaderboard.load_problem(str(tmp_path))
    (tmp_path / "problem.json").write_text(json.dumps(definition()))
    with pytest.raises(PlumblineError, match="definitions/"):
        leaderboard.load_problem(str(tmp_path / "problem.json"))
