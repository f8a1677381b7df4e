#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The proxy's formulas in plain Python (tests/shapes/proxy_formulas.py), timed: what bench_proxy is compared with."""
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "shapes"))
import proxy_formulas as proxy  # noqa: E402


def main():
    constants = proxy.constants(ROOT, "a100")
    layers = [{"hidden_dim": 512 + 64 * (n % 97), "num_heads": 8 * (1 + n % 8), "num_kv_heads": 1 << (n % 4),
               "head_dim": 64 << (n % 3), "ffn_dim": 1024 + 32 * (n % 501), "seq_len": 128 + n % 4000,
               "batch_size": 1 + n % 4, "use_qk_norm": n % 2 == 0, "window_size": 1024 if n % 3 == 0 else None}
              for n in range(20_000)]
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        for layer in layers:
            proxy.predict(constants, layer)
        best = min(best, time.process_time() - start)
    print(f"plain Python: {len(layers) / best / 1e6:.3f} M predictions/s")


if __name__ == "__main__":
    main()
