#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hostile spaces, qualities, checkpoints and disks: one diagnostic, its exit status, nothing lost. bad_spaces.py PLUMBLINE"""
import json
import pathlib
import subprocess
import sys
import tempfile

BASE = {"dimensions": "hidden_dim = [1024, 2048]\nffn_dim = { from = 2048, to = 8192, step = 512 }",
        "derived": "num_heads = 8\nnum_kv_heads = 4\nhead_dim = 128\nnum_layers = 4\nvocab_size = 1000", "constraints": "",
        "point": 'name = "p"\nphase = "prefill"', "objective": 'minimise = "p_ms"', "more": ""}


def space(**changes):
    part = {**BASE, **changes}
    return (f"[dimensions]\n{part['dimensions']}\n[derived]\n{part['derived']}\n[constraints]\n{part['constraints']}\n"
            f"[[point]]\n{part['point']}\n[objective]\n{part['objective']}\n{part['more']}\n")


WIDE = "\n".join(f"d{i} = {{ from = 1, to = 60000 }}" for i in range(4))  # 1.3e19 shapes
CASES = [
    ("empty file", "", 2, "search-field-missing"),
    ("not TOML", "[dimensions\n", 2, "toml-syntax"),
    ("binary", "\0\0\0", 2, None),
    ("no value", space(dimensions="hidden_dim = []"), 2, "search-field-invalid"),
    ("values that go down", space(dimensions="hidden_dim = [2, 1]\nffn_dim = 4096"), 2, "search-field-invalid"),
    ("a range that ends before it starts", space(dimensions="hidden_dim = { from = 5, to = 1 }"), 2, "search-field-invalid"),
    ("a step of 0", space(dimensions="hidden_dim = { from = 1, to = 9, step = 0 }"), 2, "search-field-invalid"),
    ("a dimension of infinity", space(dimensions="hidden_dim = [1, inf]"), 2, "search-field-invalid"),
    ("too many shapes", space(dimensions=BASE["dimensions"] + "\n" + WIDE), 2, "search-too-large"),
    ("too many values", space(dimensions="hidden_dim = { from = 1, to = 9999999 }"), 2, "search-too-large"),
    ("an unknown key", space(more="[qualty]\nlaw = \"x\""), 2, "search-field-unknown"),
    ("an unknown name", space(constraints='c = "hiden_dim > 3"'), 2, "search-name-unknown"),
    ("an unknown preset", 'presets = ["best"]\n' + space(), 2, "search-field-invalid"),
    ("a cycle", space(derived=BASE["derived"] + '\na = "b"\nb = "a"', constraints='c = "a > 1"'), 2, "search-cycle"),
    ("a name taken", space(derived=BASE["derived"] + "\nparameters = 3"), 2, "search-name-taken"),
    ("an expression without an end", space(constraints='c = "hidden_dim >"'), 2, "search-expression"),
    ("a deep expression", space(constraints=f'c = "{"(" * 200}1{")" * 200}"'), 2, "search-expression"),
    ("a call of something else", space(constraints='c = "__import__(1) > 0"'), 2, "search-expression"),
    ("an objective that overflows", space(objective='minimise = "-1e308 * hidden_dim * ffn_dim"'), 2, "search-overflow"),
    ("an objective that divides by 0", space(objective='minimise = "1 / (hidden_dim - 2048)"'), 2, "search-overflow"),
    ("times that overflow", space(point='name = "p"\nphase = "prefill"\nseq_len = 134217728\nbatch_size = 16777216'), 2,
     "search-overflow"),
    ("a law that is not known", space(more='[quality]\nlaw = "mine"\ntokens = 1e12'), 2, "search-field-invalid"),
    ("a quality file that is absent", space(more='[quality]\ncsv = "no.csv"'), 2, None),
    ("a negative scatter", space(more='[quality]\nlaw = "besiroglu2024"\ntokens = 1e11\nscatter = -1'), 2, "search-field-invalid"),
    ("a scatter of a table", space(more='[quality]\ncsv = "no.csv"\nscatter = 0.1'), 2, "search-field-invalid"),
    ("a relation of nothing", space(more='[[relation]]\nname = "r"\nof = []\ntuples = []'), 2, "search-field-invalid"),
    ("a GPU that nobody knows", space(more='[[hardware]]\nname = "h9000"'), 2, "hardware-unknown"),
    ("ranks by the proxy", space(derived=BASE["derived"] + "\ntensor_parallel = 2",
                                 more='[[hardware]]\nname = "h100"\nmodel = "proxy"'), 2, "search-no-time"),
    ("bits that nobody has", space(derived=BASE["derived"] + "\nweight_bits = 12"), 1, "search-infeasible"),
    ("contradictory", space(constraints='a = "hidden_dim > 1500"\nb = "hidden_dim < 1500"'), 1, "search-infeasible"),
    ("no shape is valid", space(derived=BASE["derived"].replace("num_heads = 8", "num_heads = 7")), 1, "search-infeasible"),
    ("one shape", space(dimensions="hidden_dim = 1024\nffn_dim = 4096"), 0, None),
]
QUALITY = [("NaN", "hidden_dim,loss\n1024,nan\n2048,2\n"), ("infinity", "hidden_dim,loss\n1024,inf\n"),
           ("no header", "1024,2.5\n"), ("a cell too many", "hidden_dim,loss\n1024,2,3\n"), ("twice", "hidden_dim,loss\n1024,2\n1024,3\n"),
           ("a negative error", "hidden_dim,loss,stderr\n1024,2,-1\n"), ("empty", "")]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = folder / "s.toml"

        def search(*options, text=None):
            if text is not None:
                path.write_text(text, encoding="utf-8")
            return subprocess.run([sys.argv[1], "arch", "search", path, *options], capture_output=True, text=True, timeout=120)

        def expect(what, done, status, code):
            found = done.stdout + done.stderr
            assert done.returncode == status, f"{what}: {done.returncode}, not {status}\n{found}"
            assert code is None or f"[{code}]" in done.stderr, f"{what}: no {code}\n{found}"
        for what, text, status, code in CASES:
            expect(what, search(text=text), status, code)
        for what, csv in QUALITY:
            (folder / "q.csv").write_text(csv, encoding="utf-8")
            done = search(text=space(more='[quality]\ncsv = "q.csv"', objective='minimise = "loss"'))
            expect(f"quality: {what}", done, 2, "search-quality-file")
        # 10^18 shapes that two constraints refuse nearly all of, without a value of kernels beyond memory.
        large = space(dimensions=BASE["dimensions"] + "\n" + "\n".join(f"d{i} = {{ from = 1, to = 40000 }}" for i in range(3)) +
                      "\ne = { from = 1, to = 600 }",
                      constraints='a = "d0 == 7"\nb = "d1 + d2 <= 2"\nc = "e == 3"')
        expect("10^18 shapes", search("--json-output", folder / "l.json", text=large), 0, None)
        counts = json.loads((folder / "l.json").read_text(encoding="utf-8"))["shapes"]
        total = counts["seen"] + counts["pruned"] + sum(counts["rejected"].values())
        assert total == counts["space"] > 9e17, counts
        for what, text in (("of nothing", ""), ("of something else", '{"kind": "x"}'), ("cut off", '{"kind": "plumbline-search')):
            (folder / "c.json").write_text(text, encoding="utf-8")
            done = search("--resume", folder / "c.json", text=space())
            assert done.returncode == 2 and done.stderr.count(" error") + done.stderr.count("error:") >= 1, f"checkpoint {what}"
        for option in ("--json-output", "--certificate", "--config", "--checkpoint"):
            done = search(option, "/dev/full", text=space())
            expect(f"{option} on a full disk", done, 2, "file-unwritable")
            assert done.stderr.count("error:") == 1 and not done.stdout, f"{option} on a full disk: {done.stderr}"
        expect("one file for two outputs", search("--json-output", folder / "o.json", "--config", folder / "o.json", text=space()), 2, None)
    print(f"{len(CASES)} spaces, {len(QUALITY)} quality files, checkpoints and full disks")


if __name__ == "__main__":
    main()
