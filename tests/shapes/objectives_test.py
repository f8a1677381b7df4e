#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every constraint and objective that docs/search.md names, on one small space: objectives_test.py PLUMBLINE

Each objective's first shape must be no worse, by that objective, than the first of every other; each constraint must hold at
the winner and refuse something.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

SPACE = """[dimensions]
hidden_dim = [2048, 3072, 4096]
num_kv_heads = [4, 8]
group = [4, 8]
ffn_dim = { from = 6144, to = 16384, step = 1024 }
num_layers = [24, 32]
tensor_parallel = [1, 2]
[derived]
head_dim = 128
num_heads = "group * num_kv_heads"
vocab_size = 128256
tpot_ms = "token_ms + 32 / 512 * prompt_ms"
gpu_ms_a_token = "tpot_ms * tensor_parallel / 32"
ms_a_billion = "ms_per_billion_parameters"
[constraints]
[[point]]
name = "prompt"
phase = "prefill"
seq_len = 1024
[[point]]
name = "token"
phase = "decode"
seq_len = 1280
batch_size = 32
weight = 16
[[hardware]]
name = "h200"
source = "vllm"
[objective]
GOAL
top = 1
[quality]
law = "besiroglu2024"
tokens = 2e11
"""
LEAST = ["prompt_ms", "token_ms", "weighted_ms", "tpot_ms", "gpu_ms_a_token", "ms_a_billion", "kv_bytes_per_token", "loss"]
# The constraint, and what must hold of the winner's dimensions and quantities.
HELD = {
    "5e9 <= parameters <= 9e9": lambda q: 5e9 <= q["parameters"] <= 9e9,
    "active_parameters >= 4e9": lambda q: q["active_parameters"] >= 4e9,
    "kv_bytes_per_token <= 65536": lambda q: q["kv_bytes_per_token"] <= 65536,
    "memory_bytes <= 0.06 * hbm_bytes": lambda q: q["memory_bytes"] <= 0.06 * 141e9 * 1.1,
    "2 <= ffn_ratio <= 3": lambda q: 2 <= q["ffn_dim"] / q["hidden_dim"] <= 3,
    "num_kv_heads // tensor_parallel >= 4 and num_heads % (8 * tensor_parallel) == 0": lambda q: q["num_kv_heads"] // q["tensor_parallel"] >= 4,
    "token_ms <= 3": lambda q: q["token_ms"] <= 3,
    "ffn_dim % (2048 * tensor_parallel) == 0": lambda q: q["ffn_dim"] % (2048 * q["tensor_parallel"]) == 0,
    "loss_high <= 2.4": lambda q: q["loss_high"] <= 2.4,
}


def main():
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "s.toml"

        def search(goal, constraint=""):
            path.write_text(SPACE.replace("GOAL", goal).replace("[constraints]", f"[constraints]\n{constraint}"), encoding="utf-8")
            done = subprocess.run([sys.argv[1], "--json", "arch", "search", path], capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{goal} {constraint}: {done.returncode}\n{done.stderr}"
            out = json.loads(done.stdout)
            return {**out["best"][0]["dimensions"], **out["best"][0]["quantities"]}, out["shapes"]

        first = {each: search(f'minimise = "{each}"')[0] for each in LEAST}
        for each in LEAST:
            for other in LEAST:
                assert first[each][each] <= first[other][each], f"the first by {other} has less {each} than the first by {each}"
        for constraint, holds in HELD.items():
            quantities, shapes = search('minimise = "prompt_ms"' if "<= p" not in constraint else 'minimise = "weighted_ms"',
                                        f'c = "{constraint}"')
            assert holds(quantities), f"{constraint}: {quantities}"
            assert shapes["rejected"]["c"] > 0, f"{constraint} refuses nothing"
        most, shapes = search('maximise = "parameters"', 'c = "token_ms <= 5"')
        with_band, banded = search('maximise = "parameters"', 'c = { expr = "token_ms <= 5", upper_band = true }')
        assert most["token_ms"] <= 5 and with_band["parameters"] < most["parameters"], (most, with_band)
        assert banded["rejected"]["c"] > shapes["rejected"]["c"], "the upper ends of the bands refuse no more"
    print(f"{len(LEAST)} objectives, {len(HELD)} constraints, the most parameters at a latency, with the band and without")


if __name__ == "__main__":
    main()
