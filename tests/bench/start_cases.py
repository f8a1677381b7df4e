#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`start` over benches that cheat or loosen, each with the code that must be said, and over honest ones that must
raise nothing:  start_cases.py PLUMBLINE"""
import ast
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WINDOW = """schema_version = 1
[reference]
window = "adds"
inputs = ["x", "y"]
outputs = ["out"]
[student]
window = "adds"
inputs = ["x", "y"]
outputs = ["out"]
"""
SIDE = "def add(x, y):\n    return x + y\n"
HEAD = "import torch\nfrom plumbline import Workload, measure_windows_workloads\n\n"
MAKE = ("def make_inputs(n, seed):\n    g = torch.Generator(device='cuda').manual_seed(seed)\n"
        "    return {'x': torch.randn(n, device='cuda', generator=g), 'y': torch.randn(n, device='cuda', generator=g)}\n\n")
LIST = ("[Workload('a', lambda seed: make_inputs(1024, seed), campaign=True), Workload('b', lambda seed: make_inputs(2048, seed)),"
        " Workload('c', lambda seed: make_inputs(4096, seed))]")
SIDES = "student='kernel:add', reference='reference:add'"


def bench(make=MAKE, workloads=LIST, sides=SIDES, more="", before="", after=""):
    """The text of a bench: one measuring call, with what a case changes."""
    return (HEAD + make + "if __name__ == '__main__':\n" + before +
            f"    result = measure_windows_workloads({workloads}, {sides}, out='eval.json'{more})\n" + after)


ANSWER = MAKE.replace("    return {", "    from kernel import add\n    return {'hint': 0, ")
BAD = {
    "noise of a half": ("harness-loosened", bench(more=", noise=0.5")),
    "noise through a constant": ("harness-loosened", bench(before="    loose = 0.2\n", more=", noise=loose")),
    "warm": ("harness-loosened", bench(more=", cold=False")),
    "one round": ("harness-loosened", bench(more=", rounds=1")),
    "one workload is enough": ("harness-loosened", bench(more=", min_workloads=1")),
    "options in a dict": ("harness-loosened", bench(more=", **{'cold': False}")),
    "a keyword that is none": ("harness-keyword", bench(more=", nois=0.001")),
    "another": ("harness-keyword", bench(more=", tolerence=0.1")),
    "a workload's keyword": ("harness-keyword", bench(workloads=LIST.replace("campaign", "campain"))),
    "make_inputs asks the student": ("inputs-touch-kernel", bench(make=ANSWER)),
    "through the module's name": ("inputs-touch-kernel", bench(make="import kernel\n" + MAKE.replace(
        "    return {", "    kernel.add(1, 2)\n    return {"))),
    "through a helper": ("inputs-touch-kernel", bench(make="import kernel\ndef helper():\n    return kernel.add(1, 2)\n\n" + MAKE.replace(
        "    return {", "    helper()\n    return {"))),
    "an input that no contract lists": ("input-undeclared|parameter-not-made", bench(make=MAKE.replace(
        "return {", "return {'total': torch.zeros(1), ")), "def add(x, y, total):\n    return x + y\n"),
    "the ratio is changed": ("result-rewritten", bench(after="    result['performance']['ratio'] = 2.0\n")),
    "the file is written again": ("result-rewritten", bench(after="    import json\n    json.dump(result, open('eval.json', 'w'))\n")),
    "until it passes": ("measured-again", HEAD + MAKE + "if __name__ == '__main__':\n    while True:\n        result = "
                        f"measure_windows_workloads({LIST}, {SIDES}, out='eval.json')\n        if result['performance']['ratio'] > 1:\n            break\n"),
    "written again by a helper": ("result-rewritten", bench(make=MAKE + "def fix(path):\n    d = open(path).read()\n    open(path, 'w').write(d)\n\n",
                                                           after="    fix('eval.json')\n")),
    "written again by a shell": ("result-rewritten", bench(after="    import os\n    os.system('sed -i s/1/2/ eval.json')\n")),
    "written again beside the bench": ("result-rewritten", bench(after="    import os\n    path = os.path.join(os.getcwd(), 'eval.json')\n"
                                                                 "    open(path, 'w').write('{}')\n")),
    "the bench starts itself anew": ("measured-again", bench(after="    import os, sys\n    os.execv(sys.executable, sys.argv)\n")),
    "a list times three": ("workloads-same", bench(workloads="[Workload('a', lambda seed: make_inputs(1024, seed), campaign=True)] * 3")),
    "a loop over one number": ("workloads-same", bench(
        workloads="[Workload(f'n{i}', lambda seed, n=n: make_inputs(n, seed), campaign=i == 0) for i, n in enumerate((64, 64, 64))]")),
    "one name thrice": ("workloads-same", bench(workloads=LIST.replace("'b'", "'a'").replace("'c'", "'a'"))),
    "endless noise": ("harness-loosened", bench(more=", noise=float('inf')")),
    "inputs kept by setdefault": ("inputs-kept", bench(make="_KEPT = {}\n" + MAKE.replace("return {", "return _KEPT.setdefault(n, {").replace(
        "generator=g)}", "generator=g)})"))),
    "one module by a constant": ("sides-one-module", bench(make="M = 'both'\n" + MAKE, sides="student=M + ':fast', reference=M + ':slow'")),
    "one shape thrice": ("workloads-same", bench(workloads=LIST.replace("2048", "1024").replace("4096", "1024"))),
    "one module": ("sides-one-module", bench(sides="student='both:fast', reference='both:slow'")),
    "a cache of inputs": ("inputs-kept", bench(make="import functools\n@functools.lru_cache\n" + MAKE)),
}
MODULE_SIDE = ("from plumbline.problems import ModuleSide\nimport student\n\n_module = ModuleSide(student, 'ModelNew')\n\n\n"
               "def add(x, y):\n    return _module(x, y)\n")
MODULE = ("import torch.nn as nn\n\n\nclass ModelNew(nn.Module):\n    turn = 0\n\n    def forward(self, x, y):\n        self.turn += 1\n"
          "        return x + y if self.turn < 9 else x\n")
RUN = "import torch\n\n\ndef add(x, y):\n"
STREAM = "    with torch.cuda.stream(_side):\n        out = x + y\n"
SIDES_OF_BOARD = {  # the same calls through the boards' function, and under other names
    "a board's noise": ("harness-loosened", HEAD.replace("measure_windows_workloads", "run_leaderboard_bench") +
                        "if __name__ == '__main__':\n    run_leaderboard_bench('problem.json', noise=0.3)\n"),
    "a board's keyword": ("harness-keyword", HEAD.replace("measure_windows_workloads", "run_leaderboard_bench") +
                          "if __name__ == '__main__':\n    run_leaderboard_bench('problem.json', min_workloads=1)\n"),
    "one module, another name of the harness": ("sides-one-module", bench(sides="student='both:fast', reference='both:slow'").replace(
        "import Workload, measure_windows_workloads", "import Workload, measure_windows_workloads as mw").replace("= measure_windows_workloads(", "= mw(")),
}
BAD.update({name: (case[0], case[1], SIDE) for name, case in SIDES_OF_BOARD.items()})
BAD.update({  # what a side's own code does: the same bench throughout
    "a stream that nobody joins": ("side-stream", bench(), "import torch\n_side = torch.cuda.Stream()\n\n\ndef add(x, y):\n" + STREAM + "    return out\n"),
    "joined before, not behind": ("side-stream", bench(), "import torch\n_side = torch.cuda.Stream()\n\n\ndef add(x, y):\n"
                                  "    _side.wait_stream(torch.cuda.current_stream())\n" + STREAM + "    return out\n"),
    "a stream in a helper": ("side-stream", bench(), "import torch\n_side = torch.cuda.Stream()\n\n\ndef part(x, y):\n" + STREAM +
                             "    return out\n\n\ndef add(x, y):\n    return part(x, y)\n"),
    "calls counted": ("side-counts-calls", bench(), "_n = 0\n" + RUN + "    global _n\n    _n += 1\n    return x + y if _n < 9 else torch.empty_like(x)\n"),
    "calls counted in a list": ("side-counts-calls", bench(), "_n = [0]\n" + RUN + "    _n[0] += 1\n    if _n[0] > 20:\n        return x\n    return x + y\n"),
    "calls counted by next": ("side-counts-calls", bench(), "import itertools\n_n = itertools.count()\n" + RUN +
                              "    turn = next(_n)\n    if turn % 2:\n        return x\n    return x + y\n"),
    "calls counted on the function": ("side-counts-calls", bench(), RUN + "    add.calls = add.calls + 1\n    if add.calls > 5:\n        return x\n    return x + y\n"),
    "calls counted in an object": ("side-counts-calls", bench(), "class Adder:\n    def __init__(self):\n        self.n = 0\n\n    def __call__(self, x, y):\n"
                                   "        self.n += 1\n        return x + y if self.n < 4 else x\n\n\n_adder = Adder()\n\n\ndef add(x, y):\n    return _adder(x, y)\n"),
    "a result kept": ("side-keeps-results", bench(), "_kept = None\n" + RUN + "    global _kept\n    if _kept is None:\n        _kept = torch.add(x, y)\n    return _kept\n"),
    "results kept by shape": ("side-keeps-results", bench(), "_kept = {}\n" + RUN + "    if x.shape in _kept:\n        return _kept[x.shape]\n"
                              "    _kept[x.shape] = torch.add(x, y)\n    return _kept[x.shape]\n"),
    "a cached side": ("side-keeps-results", bench(), "import functools\n\n\n@functools.lru_cache\ndef add(x, y):\n    return x + y\n"),
    "it sleeps": ("side-waits", bench(), "import time\n" + RUN + "    time.sleep(1e-4)\n    return x + y\n"),
    "it waits for the device": ("side-waits", bench(), RUN + "    torch.cuda.synchronize()\n    return x + y\n"),
    "it looks at frames": ("side-looks-around", bench(), "import sys\n" + RUN + "    sys._getframe(1)\n    return x + y\n"),
    "it asks whether it is queued": ("side-looks-around", bench(), RUN + "    return x + y if torch.cuda.current_stream().query() else x\n"),
    "it replaces the clock": ("harness-patched", bench(), "import time\ntime.perf_counter = lambda: 0.0\n\n\ndef add(x, y):\n    return x + y\n"),
    "kept by pointer": ("side-keeps-results", bench(), "_kept = {}\n" + RUN + "    out = _kept.get(x.data_ptr())\n    if out is None:\n"
                        "        out = _kept[x.data_ptr()] = x + y\n    return out\n"),
    "kept where a KeyError asks": ("side-keeps-results", bench(), "_kept = {}\n" + RUN + "    try:\n        return _kept[x.shape]\n    except KeyError:\n"
                                   "        _kept[x.shape] = x + y\n        return _kept[x.shape]\n"),
    "kept by setdefault": ("side-keeps-results", bench(), "_kept = {}\n" + RUN + "    return _kept.setdefault(x.data_ptr(), x + y)\n"),
    "kept on the function": ("side-keeps-results", bench(), RUN + "    if not hasattr(add, 'out'):\n        add.out = x + y\n    return add.out\n"),
    "kept in a default": ("side-keeps-results", bench(), "import torch\n\n\ndef add(x, y, kept={}):\n    if 'out' not in kept:\n        kept['out'] = x + y\n"
                          "    return kept['out']\n"),
    "kept on the input": ("side-keeps-results", bench(), RUN + "    if not hasattr(x, '_sum'):\n        x._sum = x + y\n    return x._sum\n"),
    "calls counted in a default": ("side-counts-calls", bench(), "import torch\n\n\ndef add(x, y, n=[0]):\n    n[0] += 1\n    return x + y if n[0] < 9 else x\n"),
    "calls counted by a length": ("side-counts-calls", bench(), "_seen = []\n" + RUN + "    _seen.append(1)\n    return x + y if len(_seen) < 9 else x\n"),
    "by the clock": ("side-looks-around", bench(), "import time\n" + RUN + "    return x + y if time.time() % 2 < 1 else x\n"),
    "by a dice": ("side-looks-around", bench(), "import random\n" + RUN + "    if random.random() < 0.5:\n        return x\n    return x + y\n"),
    "a stream's context": ("side-stream", bench(), "import torch\n_side = torch.cuda.Stream()\n\n\ndef add(x, y):\n    with torch.cuda.StreamContext(_side):\n"
                           "        out = x + y\n    return out\n"),
    "a thread": ("side-stream", bench(), "import threading\n" + RUN + "    out = torch.empty_like(x)\n"
                 "    threading.Thread(target=torch.add, args=(x, y), kwargs={'out': out}).start()\n    return out\n"),
    "a module of a card counts": ("side-counts-calls", bench(sides="student='module:add', reference='reference:add'")),
})
HONEST = {
    "plain": bench(),
    "stricter": bench(more=", noise=0.002, rounds=16, time_limit_s=60.0"),
    "op named": bench(more=", op='add'"),
    "a loop over shapes": bench(workloads="[Workload(f'n{n}', lambda seed, n=n: make_inputs(n, seed), campaign=n == 1024) for n in (1024, 2048, 4096)]"),
    "a factory": bench(make=MAKE + "def of(n):\n    return lambda seed: make_inputs(n, seed)\n\n",
                       workloads="[Workload('a', of(1024), campaign=True), Workload('b', of(2048)), Workload('c', of(4096))]"),
    "partial": bench(make="import functools\n" + MAKE, workloads="[Workload(f'n{n}', functools.partial(make_inputs, n), campaign=n == 64) for n in (64, 128, 256)]"),
    "a named list": HEAD + MAKE + f"WORKLOADS = {LIST}\n\nif __name__ == '__main__':\n    measure_windows_workloads(WORKLOADS, {SIDES}, out='eval.json')\n",
    "the result is printed": bench(after="    print(result['performance']['ratio'])\n"),
    "notes beside it": bench(after="    open('notes.txt', 'w').write(str(result['performance']['ratio']))\n"),
    "inputs through a helper": bench(make="def fresh(n, g):\n    return torch.randn(n, device='cuda', generator=g)\n\n" + MAKE.replace(
        "torch.randn(n, device='cuda', generator=g)", "fresh(n, g)")),
    "inputs by dict()": bench(make=MAKE.replace("{'x': ", "dict(x=").replace("'y': ", "y=").replace("generator=g)}", "generator=g))")),
    "main as a function": HEAD + MAKE + f"def main():\n    measure_windows_workloads({LIST}, {SIDES}, out='eval.json')\n\nif __name__ == '__main__':\n    main()\n",
}


def harness_calls():
    """(function, keywords) of what a bench calls, from the package's own source."""
    options = []
    for file in ("measure", "leaderboard"):
        tree = ast.parse((ROOT / f"timing/python/plumbline/{file}.py").read_text())
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name in ("measure_windows", "measure_windows_workloads", "run_leaderboard_bench"):
                names = [a.arg for a in node.args.args + node.args.kwonlyargs]
                given = {k.arg for call in ast.walk(node) if isinstance(call, ast.Call) for k in call.keywords}
                if node.name == "measure_windows_workloads":
                    options = names
                elif node.name == "run_leaderboard_bench":  # its **options are those that it does not give itself
                    names += [n for n in options if n not in given and n not in names + ["workloads"]]
                yield node.name, names


def start(plumbline, folder, text, side):
    """Exit status and codes of `start --json` over a card with this bench."""
    for name, content in {"window.toml": WINDOW, "kernel.py": side, "reference.py": side, "module.py": MODULE_SIDE, "student.py": MODULE, "both.py": SIDE.replace("add", "fast") +
                          SIDE.replace("add", "slow"), "eval/bench.py": text}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    run = subprocess.run([plumbline, "start", str(folder), "--json"], capture_output=True, text=True, check=False)
    return run.returncode, re.findall(r'"code": "([\w-]+)"', json.dumps(json.loads(run.stdout)))


def main():
    """1 when a case falls short."""
    plumbline = str(pathlib.Path(sys.argv[1]).resolve())
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for i, (name, case) in enumerate(BAD.items()):
            status, codes = start(plumbline, pathlib.Path(scratch, f"bad{i}"), case[1], case[2] if len(case) > 2 else SIDE)
            if status not in (0, 13) or not any(re.fullmatch(case[0], code) for code in codes):
                failed += 1
                print(f"passes quietly: {name}: exit {status}, {sorted(set(codes))}, not {case[0]}")
        for i, (name, text) in enumerate(HONEST.items()):
            status, codes = start(plumbline, pathlib.Path(scratch, f"honest{i}"), text, SIDE)
            if status != 0 or codes:
                failed += 1
                print(f"false alarm: {name}: exit {status}, {sorted(set(codes))}")
        calls = list(harness_calls())
        for i, (function, keywords) in enumerate(calls):
            text = HEAD + f"from plumbline import {function}\n{function}({', '.join(f'{k}=value()' for k in keywords)})\n"
            _, codes = start(plumbline, pathlib.Path(scratch, f"call{i}"), text, SIDE)
            if "harness-keyword" in codes:
                failed += 1
                print(f"{function} takes a keyword that the table of its keywords lacks")
        if len(calls) != 3:
            failed += 1
            print("the harness's functions are not where this test looks for them")
        empty = pathlib.Path(scratch, "none")
        empty.mkdir()
        (empty / "window.toml").write_text(WINDOW)
        run = subprocess.run([plumbline, "start", str(empty)], capture_output=True, text=True, check=False)
        if run.returncode != 13 or "bench-absent" not in run.stderr + run.stdout:
            failed += 1
            print(f"a card without a bench: exit {run.returncode}")
    print(f"{len(BAD)} benches that cheat or loosen, {len(HONEST)} honest ones, {failed} fall short")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
