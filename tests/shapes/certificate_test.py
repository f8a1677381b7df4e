#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A search's certificate verifies; with one number of it changed it is rejected. certificate_test.py PLUMBLINE"""
import copy
import importlib.util
import json
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPACE = """
[dimensions]
hidden_dim = { from = 1024, to = 2048, step = 512 }
head_dim = [64, 128]
num_kv_heads = [2, 4]
group = [1, 2, 4]
ffn_dim = { from = 3072, to = 8192, step = 512 }
num_layers = { from = 8, to = 16, step = 4 }
[derived]
num_heads = "group * num_kv_heads"
vocab_size = 32000
[constraints]
parameters = "3e8 <= parameters <= 7e8"
ratio = "2 <= ffn_ratio <= 5"
[[point]]
name = "prefill"
phase = "prefill"
[objective]
minimise = "weighted_ms"
top = 5
front = ["weighted_ms", { maximise = "parameters" }]
"""


def checker():
    """tools/check_certificate.py, imported: a process a changed certificate would take most of the time."""
    spec = importlib.util.spec_from_file_location("check_certificate", ROOT / "tools/check_certificate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def verdict(module, certificate):
    """"verified", or why the certificate is rejected. What is not a certificate raises."""
    try:
        module.check(certificate, 1_000_000, random.Random(1))
        return "verified"
    except module.Rejected as error:
        return f"rejected: {error}"


def changes(c):
    """The certificate with one thing changed, and what."""
    rng = random.Random(3)
    for i in rng.sample(range(len(c["slabs"])), 6):
        for factor in (1.0000001, 0.9999999, 2):
            d = copy.deepcopy(c)
            d["slabs"][i][0] *= factor
            yield f"bound of slab {i}", d
    for i in range(len(c["top"])):
        d = copy.deepcopy(c)
        d["top"][i]["value"] += 0.001
        yield f"value of shape {i}", d
        d = copy.deepcopy(c)
        del d["top"][i]
        yield f"shape {i} left out", d
    for i in (0, len(c["front"]) // 2):
        d = copy.deepcopy(c)
        del d["front"][i]
        yield f"front point {i} left out", d
    searched = [i for i, s in enumerate(c["slabs"]) if s[1] == "searched"]
    d = copy.deepcopy(c)
    d["slabs"][searched[0]][1] = "bounded"
    yield "a searched slab said to be bounded", d
    d = copy.deepcopy(c)
    d["tally"]["seen"] += 1
    yield "a count", d


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "s.toml").write_text(SPACE, encoding="utf-8")
        subprocess.run([sys.argv[1], "arch", "search", folder / "s.toml", "--certificate", folder / "whole.json"], check=True,
                       capture_output=True)
        whole = json.loads((folder / "whole.json").read_text(encoding="utf-8"))
        told = subprocess.run([sys.executable, ROOT / "tools/check_certificate.py", folder / "whole.json"],
                              capture_output=True, text=True)
        assert told.returncode == 0 and " 0 of them samples" in told.stdout, told.stderr + told.stdout
        (folder / "changed.json").write_text(json.dumps({**whole, "limit": 10**6}), encoding="utf-8")
        told = subprocess.run([sys.executable, ROOT / "tools/check_certificate.py", folder / "changed.json"],
                              capture_output=True, text=True)
        assert told.returncode == 1 and told.stderr.startswith("rejected: "), told.stderr + told.stdout
    module, count = checker(), 0
    for what, changed in changes(whole):
        told = verdict(module, changed)
        assert told.startswith("rejected: "), f"{what}: {told}"
        count += 1
    print(f"verified, and {count} changed ones rejected")


if __name__ == "__main__":
    main()
