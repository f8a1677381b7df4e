#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`card init`: a scaffold, and problems of the public boards, start as they are; what cannot be converted gets one diagnostic with
its place:  init_test.py PLUMBLINE"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DEFINITION = {
    "name": "scale_d512", "axes": {"n": {"type": "var"}, "d": {"type": "const", "value": 512}, "m": {"type": "expr", "expression": "n * 2"}},
    "inputs": {"x": {"shape": ["n", "d"], "dtype": "bfloat16"}, "eps": {"shape": None, "dtype": "float32"}},
    "outputs": {"y": {"shape": ["n", "d"], "dtype": "bfloat16"}},
    "reference": "import torch\n\n\ndef run(a, b):\n    return (a * torch.rsqrt(a.float().pow(2).mean() + b)).to(a.dtype)"}
WORKLOAD = {"uuid": "one", "axes": {"n": 64}, "inputs": {"x": {"type": "random"}, "eps": {"type": "scalar", "value": 1e-6}}}
MODULE = """import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.line = nn.Linear(n, n)

    def forward(self, x):
        return self.line(x)


def get_inputs():
    return [torch.rand(8, 64)]


def get_init_inputs():
    return [64]
"""
STUDENT = """import helper_of_nobody
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return x
"""
REFUSED = {  # name: (what is written, code, line that is named)
    "no_model.py": (MODULE.replace("class Model(", "class Net("), "problem-not-converted", 1),
    "no_inputs.py": (MODULE.replace("get_inputs", "make_inputs"), "problem-not-converted", 1),
    "no_forward.py": (MODULE.replace("def forward", "def apply"), "problem-not-converted", 5),
    "star.py": (MODULE.replace("forward(self, x)", "forward(self, *tensors)"), "problem-not-converted", 10),
    "count.py": (MODULE.replace("[torch.rand(8, 64)]", "[torch.rand(8, 64), torch.rand(8)]"), "problem-not-converted", 14),
    "nothing.py": (MODULE.replace("        self.line = nn.Linear(n, n)\n", "").replace("(self, x)", "(self)").replace(
        "[torch.rand(8, 64)]", "[]"), "problem-not-converted", 9),
    "syntax.py": (MODULE.replace("return [64]", "return [64"), "problem-syntax", None),
    "beside.py": ("from layers import Wide\n" + MODULE, "problem-not-converted", 1),
    "relative.py": ("from . import layers\n" + MODULE, "problem-not-converted", 1),
    "text.txt": (MODULE, "problem-not-converted", None),
    "no_object.json": ("[1]", "problem-not-converted", None),
    "broken.json": ("{", "json-syntax", 1),
    "no_reference.json": (dict(DEFINITION, reference=""), "problem-not-converted", None),
    "no_run.json": (dict(DEFINITION, reference="x = 1\n"), "problem-not-converted", 1),
    "arguments.json": (dict(DEFINITION, reference="def run(a):\n    return a\n"), "problem-not-converted", 1),
    "axis.json": (dict(DEFINITION, outputs={"y": {"shape": ["k"], "dtype": "float32"}}), "problem-not-converted", None),
    "dtype.json": (dict(DEFINITION, inputs={"x": {"shape": ["n"], "dtype": "float4_e2m1"}}), "problem-not-converted", None),
    "number.json": (dict(DEFINITION, outputs={"y": {"shape": None, "dtype": "float32"}}), "problem-not-converted", None),
    "constraints.json": (dict(DEFINITION, constraints=["n % 8 == 0"]), "problem-not-converted", None),
    "indices.json": (dict(DEFINITION, inputs={"x": {"shape": ["n"], "dtype": "int32"}, "eps": DEFINITION["inputs"]["eps"]}),
                     "problem-not-converted", None),
}
FAILURES = []


def check(good, what):
    if not good:
        FAILURES.append(what)
        print("falls short:", what)


def call(plumbline, *arguments, cwd):
    return subprocess.run([plumbline, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=60, check=False)


def whole(plumbline, cwd, name, *arguments):
    """A new card: it is written, its Python parses, and it starts without a word. Returns its contract's text."""
    made = call(plumbline, "card", "init", name, *arguments, cwd=cwd)
    check(made.returncode == 0 and not made.stderr, f"{name}: card init says {made.stderr or made.returncode}")
    folder = pathlib.Path(cwd, name)
    if not folder.is_dir():
        return ""
    for file in folder.rglob("*.py"):
        try:
            compile(file.read_text(encoding="utf-8"), str(file), "exec")
        except SyntaxError as error:
            check(False, f"{name}: {file.name}: {error}")
    started = call(plumbline, "start", name, "--strict", cwd=cwd)
    check(started.returncode == 0 and not started.stderr, f"{name}: start says {started.stderr or started.returncode}")
    for needed in ("window.toml", "kernel.py", "reference.py", "eval/bench.py", "eval/ncu_run.py"):
        check((folder / needed).is_file(), f"{name} has no {needed}")
    return (folder / "window.toml").read_text(encoding="utf-8")


def boards(plumbline, cwd):
    """Problem folders of SOL-ExecBench, trace sets of FlashInfer-Bench, and definitions without workloads."""
    sol = pathlib.Path(cwd, "sol")
    sol.mkdir()
    (sol / "definition.json").write_text(json.dumps(DEFINITION))
    (sol / "workload.jsonl").write_text("".join(json.dumps(dict(WORKLOAD, uuid=f"w{i}")) + "\n" for i in range(40)))
    text = whole(plumbline, cwd, "from_sol", "--from", "sol")
    check('inputs  = ["x"]' in text and 'outputs = ["y"]' in text, "from_sol: the contract lists other tensors")
    board = json.loads((pathlib.Path(cwd, "from_sol/eval/leaderboard/problem.json")).read_text())
    check(board["board"] == "sol-execbench" and len(board["group"]) == 16, f"from_sol: {board}")
    separate = pathlib.Path(cwd, "separate")
    separate.mkdir()
    (separate / "definition.json").write_text(json.dumps({k: v for k, v in DEFINITION.items() if k != "reference"}))
    (separate / "reference.py").write_text(DEFINITION["reference"])
    (separate / "workload.jsonl").write_text(json.dumps(WORKLOAD) + "\n")
    whole(plumbline, cwd, "from_separate", "--from", "separate")
    trace = pathlib.Path(cwd, "trace")
    for kind in ("definitions", "workloads"):
        (trace / kind / "norm").mkdir(parents=True)
    (trace / "definitions/norm/scale_d512.json").write_text(json.dumps(DEFINITION))
    rows = [{"definition": name, "workload": dict(WORKLOAD, uuid=name), "solution": None} for name in ("scale_d512", "another")]
    rows[0]["workload"] = dict(rows[0]["workload"], inputs={"x": {"type": "safetensors", "path": "blob/x.safetensors", "tensor_key": "x"},
                                                            "eps": WORKLOAD["inputs"]["eps"]})
    (trace / "workloads/norm/scale_d512.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    whole(plumbline, cwd, "from_trace", "--from", "trace/definitions/norm/scale_d512.json")
    kept = pathlib.Path(cwd, "from_trace/eval/leaderboard")
    check(json.loads((kept / "problem.json").read_text()).get("root") == str(trace.resolve()), "from_trace: its files are not found")
    check(len((kept / "workload.jsonl").read_text().splitlines()) == 1, "from_trace: it keeps another definition's workload")
    pathlib.Path(cwd, "lone.json").write_text(json.dumps(DEFINITION))
    whole(plumbline, cwd, "from_lone", "--from", "lone.json")
    made = pathlib.Path(cwd, "from_lone/eval/leaderboard/workload.jsonl").read_text().splitlines()
    check([json.loads(m)["axes"] for m in made] == [{"n": 4096}, {"n": 2048}, {"n": 1024}], f"from_lone: {made}")


def refusals(plumbline, cwd):
    """One diagnostic with its place; nothing is written."""
    folder = pathlib.Path(cwd, "refused")
    folder.mkdir()
    (folder / "layers.py").write_text("Wide = None\n")
    for name, (text, code, line) in REFUSED.items():
        (folder / name).write_text(text if isinstance(text, str) else json.dumps(text))
        done = call(plumbline, "card", "init", "never", "--from", f"refused/{name}", "--json", cwd=cwd)
        reasons = json.loads(done.stdout)["reasons"]
        check(done.returncode == 2 and [r["code"] for r in reasons] == [code], f"{name}: {done.returncode}, {reasons}")
        check(line is None or reasons[0]["line"] == line, f"{name}: line {reasons[0].get('line')}, not {line}")
        check(not pathlib.Path(cwd, "never").exists(), f"{name}: a card was written")
    (folder / "empty").mkdir()
    for problem in ("refused/empty", "refused/absent.py"):
        done = call(plumbline, "card", "init", "never", "--from", problem, cwd=cwd)
        check(done.returncode == 2 and done.stderr.count("error:") == 1, f"{problem}: {done.stderr}")
    done = call(plumbline, "card", "init", "plain", cwd=cwd)
    check(done.returncode == 2 and "card-exists" in done.stderr, "a card was written over another")
    for name in ("", "a b", ".hidden", "x/..", "é"):
        check(call(plumbline, "card", "init", name, cwd=cwd).returncode == 2, f"the name {name!r} is taken")


def main():
    plumbline = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as cwd:
        text = whole(plumbline, cwd, "plain")
        check('inputs  = ["x", "weight"]' in text, "plain: the contract lists other tensors")
        problems = sorted((HERE / "problems").rglob("*.py"))
        for problem in problems:
            whole(plumbline, cwd, problem.stem, "--from", problem)
        window = pathlib.Path(cwd, "scaled_by_buffer/window.toml").read_text()
        check('inputs  = ["x", "parameters", "buffers"]' in window, "scaled_by_buffer: its state is not declared")
        window = pathlib.Path(cwd, "matmul_fp32/window.toml").read_text()
        check('inputs  = ["a", "b"]' in window, "matmul_fp32: what has no state declares some")
        reference = pathlib.Path(cwd, "student_in_the_file/problem.py").read_text()
        check("ModelNew" not in reference and "def fused" not in reference, "the student's code is in the reference's file")
        check(reference.count("def get_init_inputs") == 1 and "TOKENS, WIDTH" in reference, "the reference's file lacks its own")
        pathlib.Path(cwd, "new.py").write_text(STUDENT)
        pathlib.Path(cwd, "module.py").write_text(MODULE)
        whole(plumbline, cwd, "with_student", "--from", "module.py", "--student", "new.py")
        check("import problem" in pathlib.Path(cwd, "with_student/kernel.py").read_text(), "the student's module gets no arguments")
        boards(plumbline, cwd)
        refusals(plumbline, cwd)
    with tempfile.TemporaryDirectory() as cwd:
        pathlib.Path(cwd, "operators").mkdir()
        call(plumbline, "card", "init", "mine", cwd=cwd)
        check(pathlib.Path(cwd, "operators/mine/window.toml").is_file(), "a plain name does not go under operators/")
    print(f"{len(problems)} modules, {len(REFUSED) + 2} refusals, {len(FAILURES)} fall short")
    return 1 if FAILURES or len(problems) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
