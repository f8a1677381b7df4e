#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fresh layers on every run, predicted by the binary and by proxy_formulas.py: every double must be equal.

  tests/shapes/proxy_oracle.py BINARY [COUNT] [SEED]"""
import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import proxy_formulas as proxy

ROOT = pathlib.Path(__file__).resolve().parents[2]


def random_layer(rng):
    kv = rng.choice([1, 1, 2, 4, 8, 16, rng.randint(1, 40)])
    return {"hidden_dim": rng.choice([rng.randint(1, 20000), 128 * rng.randint(1, 128)]),
            "num_heads": kv * rng.choice([1, 2, 3, 4, 7, 8]), "num_kv_heads": kv,
            "head_dim": rng.choice([64, 80, 96, 128, 192, 256, rng.randint(1, 512)]),
            "ffn_dim": rng.choice([rng.randint(1, 60000), 128 * rng.randint(1, 400)]),
            "seq_len": rng.choice([1, 2, 127, 128, 129, 512, 2048, 8192, 131072, rng.randint(1, 40000)]),
            "batch_size": rng.choice([1, 1, 2, 3, 8, 64, 1000]), "use_qk_norm": rng.random() < 0.5,
            "window_size": rng.choice([None, None, 0, -1, 1, 128, 1024, 4096])}


def check(want, got):
    for key in ("total_ms", "per_kernel", "bottleneck", "tile_penalties", "ms_per_mparam_proxy"):
        if got[key] != want[key]:
            return f"{key}: want {want[key]}, got {got[key]}"
    return None


def main():
    binary = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(2**32)
    rng = random.Random(seed)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a100", "t4", "h100"):
            layers = [random_layer(rng) for _ in range(count)]
            constants = proxy.constants(ROOT, name)
            path = pathlib.Path(folder) / "layers.csv"
            with open(path, "w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, proxy.FIELDS)
                writer.writeheader()
                writer.writerows(layers)
            done = subprocess.run([binary, "--json", "arch", "predict", "--hardware", name, "--model", "proxy",
                                   "--configs", path], capture_output=True, text=True, check=True)
            results = json.loads(done.stdout)
            assert len(results) == count, f"{len(results)} results for {count} layers"
            for layer, got in zip(layers, results):
                wrong = check(proxy.predict(constants, layer), got)
                if wrong:
                    failures += 1
                    print(f"{name} {layer}: {wrong}", file=sys.stderr)
    print(f"{3 * count} layers (seed {seed}), {failures} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
