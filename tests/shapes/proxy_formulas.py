# SPDX-License-Identifier: Apache-2.0
"""The proxy model's formulas in plain Python, written from docs/model-proxy.md and from nothing else: the second
implementation that the C++ one is held to, bit for bit."""
import math
import pathlib
import tomllib

FIELDS = ["hidden_dim", "num_heads", "num_kv_heads", "head_dim", "ffn_dim", "seq_len", "batch_size", "use_qk_norm",
          "window_size"]


def constants(root, name):
    with open(pathlib.Path(root) / "hardware" / f"{name}.toml", "rb") as file:
        return tomllib.load(file)["proxy"]


def eff(x):
    return x / (128 * math.ceil(x / 128))


def gemm(g, m, n, k):
    t = g["matmul_tflops_small"] if min(m, n, k) < 1024 else g["matmul_tflops"]
    return 2 * m * n * k / (t * (eff(m) * eff(n)) * 1e9)


def predict(g, c):
    b, s, d, h, k = c["batch_size"], c["seq_len"], c["hidden_dim"], c["num_heads"], c["num_kv_heads"]
    w, f, m = c["head_dim"], c["ffn_dim"], c["batch_size"] * c["seq_len"]
    norm = (2 * b * s * d * 2) / ((g["rmsnorm_gbps"] if d >= 2048 else g["rmsnorm_gbps_small"]) * 1e6)
    rope = 2 * b * (h + k) * s * w * 2
    keys = min(s, c["window_size"]) if c["window_size"] and c["window_size"] > 0 else s
    t = g["matmul_tflops_small"] if min(m, d, f) < 1024 else g["matmul_tflops"]
    residual = (3 * b * s * d * 2) / (g["residual_add_gbps"] * 1e6)
    kernels = {"pre_attn_rmsnorm": norm, "qkv_projection": gemm(g, m, (h + 2 * k) * w, d)}
    if c["use_qk_norm"]:
        kernels["qk_norm_rope"] = rope / (g["qk_norm_rope_gbps"] * 1e6)
    else:
        kernels["rope_only"] = rope / (g["qk_norm_rope_separate_gbps"] * 1e6) * 0.5
    kernels["attention"] = (2 * 2 * b * h * s * keys * w) / (g["attention_tflops"] * 1e9)
    kernels["output_projection"] = gemm(g, m, d, h * w)
    kernels["residual_add_1"] = residual
    kernels["pre_mlp_rmsnorm"] = norm
    kernels["geglu_mlp"] = (2 * m * (2 * f) * d / (t * (eff(m) * eff(2 * f)) * 1e9)
                            + 2 * m * d * f / (t * (eff(m) * eff(d)) * 1e9)
                            + ((2 + 1) * b * s * f * 2) / (g["geglu_gbps"] * 1e6))
    kernels["residual_add_2"] = residual
    total = 0
    for ms in kernels.values():
        total = total + ms
    tiles = {key: {"value": c[key], "aligned_128": c[key] % 128 == 0, "efficiency": eff(c[key]),
                   "wasted_work_pct": (1 / eff(c[key]) - 1) * 100} for key in ("hidden_dim", "ffn_dim", "head_dim")}
    return {"total_ms": total, "per_kernel": kernels, "bottleneck": max(kernels, key=kernels.get),
            "tile_penalties": tiles, "ms_per_mparam_proxy": total / (d * f / 1e6)}
