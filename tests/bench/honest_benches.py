#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cards as honest authors write them: other tensors, shapes, names, counts, orders of keys, styles of bench, launch script, student and
reference. `start --strict` has nothing to say of any:  honest_benches.py PLUMBLINE [COUNT] [FIRST]"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

OPERATIONS = [  # tensors (name, shape, dtype), outputs, expression
    ([("x", "(n, d)", "torch.bfloat16"), ("weight", "(d,)", "torch.bfloat16")], ["out"], "x * weight"),
    ([("a", "(n, d)", "torch.float16"), ("b", "(d, n)", "torch.float16")], ["c"], "a @ b"),
    ([("q", "(4, n, d)", "torch.bfloat16"), ("k", "(4, n, d)", "torch.bfloat16"), ("v", "(4, n, d)", "torch.bfloat16")], ["o"],
     "torch.nn.functional.scaled_dot_product_attention(q, k, v)"),
    ([("scores", "(n, d)", "torch.float32"), ("targets", "(n,)", "torch.int64")], ["loss"],
     "torch.nn.functional.cross_entropy(scores, targets)"),
    ([("hidden_states", "(n, d)", "torch.float32"), ("residual", "(n, d)", "torch.float32"), ("gamma", "(d,)", "torch.float32")],
     ["out", "residual_out"], "torch.nn.functional.rms_norm(hidden_states + residual, (gamma.shape[0],), gamma), hidden_states + residual"),
    ([("tokens", "(n,)", "torch.int32"), ("table", "(d, 64)", "torch.bfloat16")], ["rows"], "table[tokens]"),
    ([("x", "(n, d)", "torch.float32")], ["y"], "torch.nn.functional.gelu(x)"),
    ([("gate", "(n, d)", "torch.bfloat16"), ("up", "(n, d)", "torch.bfloat16"), ("mask", "(n, d)", "torch.bool")], ["act"],
     "torch.where(mask, torch.nn.functional.silu(gate) * up, 0)"),
]
SIZES = [512, 640, 768, 1000, 1024, 1536, 2048, 3072, 4096, 5120, 7168, 8192]
HEADS = ["import torch\nfrom plumbline import Workload, measure_windows_workloads\n",
         "import torch\nimport plumbline\nfrom plumbline import Workload, measure_windows_workloads\n",
         '"""A bench."""\nfrom __future__ import annotations\n\nimport math\nimport torch\nfrom plumbline import (\n    Workload,\n'
         "    measure_windows_workloads,\n)\n"]


def value(rng, shape, dtype):
    """An expression that makes one tensor."""
    if dtype == "torch.bool":
        return f"torch.rand({shape}, device=DEVICE, generator=g) < 0.5"
    if "int" in dtype:
        return f"torch.randint(0, d, {shape}, device=DEVICE, dtype={dtype}, generator=g)"
    made = rng.choice(["torch.randn({s}, device=DEVICE, dtype={t}, generator=g)", "torch.rand({s}, device=DEVICE, generator=g).to({t})",
                       "0.5 * torch.randn(size={s}, generator=g, device=DEVICE).to(dtype={t})", "fresh({s}, {t}, g)",
                       "torch.empty({s}, device=DEVICE, dtype={t}).normal_(generator=g)"])
    return made.format(s=shape, t=dtype)


def maker(rng, tensors):
    """The text of make_inputs(n, d, seed) in one of several styles."""
    values = {name: value(rng, shape, dtype) for name, shape, dtype in tensors}
    order = list(values)
    rng.shuffle(order)
    style = rng.randrange(6)
    if style == 0:
        body = "    return {" + ", ".join(f"'{n}': {values[n]}" for n in order) + "}\n"
    elif style == 1:
        body = "    return dict(" + ", ".join(f"{n}={values[n]}" for n in order) + ")\n"
    elif style == 2:
        body = "    made = {}\n" + "".join(f"    made['{n}'] = {values[n]}\n" for n in order) + "    return made\n"
    elif style == 3:
        body = "".join(f"    {n} = {values[n]}\n" for n in order) + "    return {" + ", ".join(f'"{n}": {n}' for n in order) + "}\n"
    elif style == 4:
        first, rest = order[0], order[1:]
        body = f"    inputs = {{'{first}': {values[first]}}}\n    inputs.update({', '.join(f'{n}={values[n]}' for n in rest)})\n    return inputs\n"
    else:
        body = "    inputs: dict[str, torch.Tensor] = {\n" + "".join(f'        "{n}": {values[n]},\n' for n in order) + "    }\n    return inputs\n"
    doc = rng.choice(["", '    """Fresh inputs of one shape."""\n', "    # fresh contents for each seed\n"])
    helper = "def fresh(shape, dtype, g):\n    return torch.randn(shape, device=DEVICE, generator=g).to(dtype)\n\n\n"
    generator = rng.choice(["    g = torch.Generator(device=DEVICE).manual_seed(seed)\n",
                            "    g = torch.Generator(DEVICE)\n    g.manual_seed(seed)\n"])
    signature = rng.choice(["def make_inputs(n, d, seed):", "def make_inputs(n: int, d: int, seed: int) -> dict:"])
    return helper + signature + "\n" + doc + generator + body


def workloads(rng, shapes):
    """(text before, expression) of the list of workloads, in one of several styles."""
    name = rng.choice(["n{0}_d{1}", "{0}x{1}", "shape-{0}-{1}", "m{0}.k{1}"])
    campaign = rng.randrange(len(shapes))
    with_shape = rng.random() < 0.5

    def one(i, n, d):
        more = (", campaign=True" if i == campaign else "") + (f", shape={{'n': {n}, 'd': {d}}}" if with_shape else "")
        return f"Workload('{name.format(n, d)}', lambda seed: make_inputs({n}, {d}, seed){more})"
    style = rng.randrange(7)
    if style == 0:
        return "", "[" + ", ".join(one(i, *s) for i, s in enumerate(shapes)) + "]"
    if style == 1:
        return "WORKLOADS = (\n" + "".join(f"    {one(i, *s)},\n" for i, s in enumerate(shapes)) + ")\n\n", "WORKLOADS"
    if style == 2:
        return (f"def workload(n, d, campaign=False):\n    return Workload('{name}'.format(n, d), lambda seed: make_inputs(n, d, seed),"
                " campaign=campaign)\n\n\n",
                "[" + ", ".join(f"workload({n}, {d}" + (", campaign=True)" if i == campaign else ")") for i, (n, d) in enumerate(shapes)) + "]")
    if style == 3:
        return (f"SHAPES = {shapes}\n\n",
                f"[Workload(f'n{{n}}_d{{d}}', lambda seed, n=n, d=d: make_inputs(n, d, seed), campaign=(n, d) == {shapes[campaign]}) for n, d in SHAPES]")
    if style == 4:
        return (f"import functools\n\nSHAPES = {shapes}\n\n",
                "[Workload(f'n{n}_d{d}', functools.partial(make_inputs, n, d)) for n, d in SHAPES]")
    if style == 5:
        return ("class Maker:\n    def __init__(self, n, d):\n        self.n, self.d = n, d\n\n    def __call__(self, seed):\n"
                "        return make_inputs(self.n, self.d, seed)\n\n\n",
                "[" + ", ".join(f"Workload('{name.format(*s)}', Maker({s[0]}, {s[1]}))" for s in shapes) + "]")
    return ("def maker(n, d):\n    def make(seed):\n        return make_inputs(n, d, seed)\n    return make\n\n\n",
            "[" + ", ".join(f"Workload(name='{name.format(*s)}', make_inputs=maker({s[0]}, {s[1]}))" for s in shapes) + "]")


def measuring(rng, expression, student, reference):
    """The measuring call, its keywords in any order."""
    options = [f"student='{student}'", f'reference="{reference}"', "out='eval.json'"]
    options += rng.sample(["noise=0.004", "rounds=12", "time_limit_s=40.0", "op='an_op'", "load_limit_s=300", "max_calls=150", "cold=True",
                           "min_workloads=3", "noise=NOISE", "prep=None"], rng.randrange(3))
    rng.shuffle(options)
    names = {o.split("=")[0]: o for o in options}
    first = rng.choice([expression, "workloads=" + expression])
    return f"measure_windows_workloads({', '.join([first, *names.values()])})"


def main_of(rng, call):
    """How the bench is started."""
    style = rng.randrange(5)
    if style == 0:
        return f"\n\nif __name__ == '__main__':\n    {call}\n"
    if style == 1:
        return f"\n\ndef main():\n    result = {call}\n    print(result['performance']['ratio'])\n\n\nif __name__ == '__main__':\n    main()\n"
    if style == 2:
        return (f"\n\ndef main() -> int:\n    document = {call}\n    return 0 if document['performance']['ratio'] else 1\n\n\n"
                "if __name__ == \"__main__\":\n    raise SystemExit(main())\n")
    if style == 3:
        return f"\n\nif __name__ == '__main__':\n    torch.backends.cuda.matmul.allow_tf32 = False\n    {call}\n"
    return ("\n\nif __name__ == '__main__':\n    import json\n    result = " + call + "\n"
            "    with open('summary.txt', 'w') as out:\n        out.write(json.dumps(result['performance']['ratio']))\n")


STUDENTS = [
    "def {f}({p}):\n    return {e}\n",
    '"""A student."""\n\n\ndef {f}({p}):\n    """The call."""\n    result = {e}\n    return result\n',
    "_step = torch.compile(lambda {p}: {e})\n\n\ndef {f}({p}):\n    return _step({p})\n",
    "_side = None\n\n\ndef {f}({p}):\n    global _side\n    if _side is None:\n        _side = torch.cuda.Stream()\n"
    "    main = torch.cuda.current_stream()\n    _side.wait_stream(main)\n    with torch.cuda.stream(_side):\n        made = {e}\n"
    "    main.wait_stream(_side)\n    return made\n",
    "_scratch = {{}}\n\n\ndef scratch(shape, device):\n    if shape not in _scratch:\n        _scratch[shape] = torch.empty(shape, device=device)\n"
    "    return _scratch[shape]\n\n\ndef {f}({p}):\n    scratch((16, 16), {first}.device)\n    return {e}\n",
    "class Kernel:\n    def __init__(self):\n        self.calls = 0\n\n    def __call__(self, {p}):\n        self.calls += 1\n"
    "        return {e}\n\n\n_kernel = Kernel()\n\n\ndef {f}({p}):\n    return _kernel({p})\n",
    "import functools\n\n\n@functools.lru_cache(maxsize=None)\ndef block(width):\n    return 1 << (width - 1).bit_length()\n\n\n"
    "def {f}({p}):\n    block({first}.shape[0])\n    return {e}\n",
    "def inner({p}):\n    return {e}\n\n\ndef {f}({p}, *, block=128):\n    if {first}.shape[0] % block == 0:\n        return inner({p})\n    return inner({p})\n",
    "_graphs = {{}}\n\n\ndef {f}({p}):\n    kept = _graphs.get({first}.shape)\n    if kept is None:\n        _graphs[{first}.shape] = torch.cuda.CUDAGraph()\n    return {e}\n",
    "_warned = False\n\n\ndef {f}({p}):\n    global _warned\n    if not _warned:\n        print('first call')\n        _warned = True\n    return {e}\n",
]
LAUNCH = """import os
import sys

import torch
from bench import make_inputs
from plumbline import record_calls

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import {sm} as student  # noqa: E402
import {rm} as reference  # noqa: E402

CALLS = {calls}
call = {{"student": student.{sf}, "reference": reference.{rf}}}[sys.argv[1]]
sets = [make_inputs({n}, {d}, seed) for seed in range(CALLS)]
for inputs in sets:
    call(**inputs)
torch.cuda.synchronize()
record_calls(CALLS)
torch.cuda.profiler.start()
kept = [call(**inputs) for inputs in sets]
torch.cuda.synchronize()
torch.cuda.profiler.stop()
"""


def contract(rng, names, outputs):
    """window.toml, its tables and keys in any order."""
    def side(title):
        keys = [f'window = "{rng.choice(["the call", "one call, its kernels alone", "the timed call — as it is"])}"',
                f"inputs = {json.dumps(rng.sample(names, len(names)))}", f"outputs = {json.dumps(outputs)}"]
        rng.shuffle(keys)
        return f"[{title}]\n" + "\n".join(keys) + "\n"
    sides = [side("reference"), side("student")]
    rng.shuffle(sides)
    return rng.choice(["schema_version = 1\n\n", "# the boundary\nschema_version = 1\n", ""]) + "\n".join(sides)


def card(folder, seed):
    """One honest card."""
    rng = random.Random(seed)
    tensors, outputs, expression = rng.choice(OPERATIONS)
    names = [t[0] for t in tensors]
    shapes = []
    while len(shapes) < rng.randrange(3, 7):
        shape = (rng.choice(SIZES), rng.choice(SIZES))
        if shape not in shapes:
            shapes.append(shape)
    student_module, reference_module = rng.choice([("kernel", "reference"), ("fast", "baseline"), ("mine", "eager"), ("kernel", "theirs")])
    student, reference = rng.choice(["run", "forward", "call"]), rng.choice(["run", "reference", "torch_version"])
    parameters = rng.sample(names, len(names))
    before, listed = workloads(rng, shapes)
    bench = (rng.choice(HEADS) + "\nDEVICE = 'cuda'\nNOISE = 0.003\n\n\n" + maker(rng, tensors) + "\n\n" + before +
             main_of(rng, measuring(rng, listed, f"{student_module}:{student}", f"{reference_module}:{reference}")))
    side = rng.choice(STUDENTS).format(f=student, p=", ".join(parameters), e=expression, first=names[0])
    files = {"window.toml": contract(rng, names, outputs), "eval/bench.py": bench, f"{student_module}.py": "import torch\n\n\n" + side,
             f"{reference_module}.py": f"import torch\n\n\ndef {reference}({', '.join(names)}):\n    return {expression}\n"}
    if rng.random() < 0.6:
        files["eval/ncu_run.py"] = LAUNCH.format(sm=student_module, rm=reference_module, sf=student, rf=reference, calls=rng.choice([5, 20, 50]),
                                                 n=shapes[0][0], d=shapes[0][1])
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main():
    """1 when a card is not let through without a word."""
    plumbline = str(pathlib.Path(sys.argv[1]).resolve())
    count, first = [int(a) for a in sys.argv[2:] + ["120", "0"][len(sys.argv) - 2:]][:2]
    alarms = 0
    for seed in range(first, first + count):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch, f"card_{seed}")
            card(folder, seed)
            for file in folder.rglob("*.py"):
                compile(file.read_text(encoding="utf-8"), str(file), "exec")
            run = subprocess.run([plumbline, "start", str(folder), "--strict", "--json"], capture_output=True, text=True, check=False)
            said = json.loads(run.stdout)
            reasons = said["findings"] + said["warnings"]
            if run.returncode != 0 or reasons:
                alarms += 1
                print(f"false alarm: seed {seed}: exit {run.returncode}, {[(r['code'], r['file'][-14:], r['line'], r['message'][:80]) for r in reasons]}")
    print(f"{count} honest cards, {alarms} false alarms")
    return 1 if alarms or count < 1 else 0


if __name__ == "__main__":
    sys.exit(main())
