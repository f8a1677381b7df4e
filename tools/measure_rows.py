#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures rows for `plumbline hardware calibrate` on the GPU at hand: GEMM, attention, element-wise operations and
whole decoder layers in bf16 through PyTorch. One CSV a family, with the columns of measured/README.md.

    python3 tools/measure_rows.py --out DIR [--seed N] [gemm:60 misaligned:60 attention:80 ...]

NAME:SECONDS are the families to run and how long each may take; every row is written as soon as it is measured.

Method: an operation is captured into one CUDA graph of R calls that rotate over enough buffer sets to overflow L2
2.5 times; replays of the graph are timed with events; `ms` is the median replay over R, `ms_min` and `ms_max` the
range. So the host's cost is out, and weights are cold, as in a model of many layers.
"""
import argparse
import os
import random
import time
import traceback

import torch
import torch.nn.functional as F
from torch.nn.attention import sdpa_kernel

from measure_common import (BACKENDS, DEVICE, DTYPE, VOCABULARIES, Clock, Sink, attempt, fresh, log_uniform, tidy,
                            time_calls, varlen, write_machine)
from measure_layers import elementwise, layers

ATTENTION = ["op", "backend", "dtype", "batch", "q_len", "kv_len", "heads", "kv_heads", "head_dim", "causal", "window"]


# ------------------------------------------------------------------ GEMM: y[m,n] = x[m,k] w[n,k]^T
def measure_gemms(out, shapes, clock):
    sink = Sink(out, "gemm", ["op", "dtype", "m", "n", "k"])
    for m, n, k in shapes:
        if clock.out():
            break

        def make():
            x, w, y = fresh(m, k), fresh(n, k), torch.empty(m, n, device=DEVICE, dtype=DTYPE)
            return lambda: torch.mm(x, w.t(), out=y)

        attempt(("gemm", m, n, k), lambda: sink.row(["linear", "bf16", m, n, k],
                                                    time_calls(make, 2 * (m * k + n * k + m * n), 5, 3.0)))
    return sink.rows


def gemm(out, clock, rng):
    """Aligned sizes off every usual grid."""
    def shapes():
        while True:
            m, n, k = (log_uniform(rng, a, b) for a, b in ((1, 18000), (256, 36000), (256, 32000)))
            step = rng.choice([8, 64, 64, 64, 128, 256])
            n, k = max(64, n // step * step), max(64, k // step * step)
            if 2 * m * n * k < 1.5e13:
                yield m, n, k
    return measure_gemms(out, shapes(), clock)


def misaligned(out, clock, rng):
    """n or k (or both) divisible by 1, 2 or 4 elements only."""
    def shapes():
        while True:
            m, n, k = (log_uniform(rng, a, b) for a, b in ((1, 12000), (256, 24000), (256, 24000)))
            n, k = max(64, n // 64 * 64), max(64, k // 64 * 64)
            which = rng.choice(["n", "n", "k", "k", "nk"])
            if "n" in which:
                n += rng.choice([1, 3, 7, 2, 6, 4, 12])
            if "k" in which:
                k += rng.choice([1, 3, 7, 2, 6, 4, 12])
            if 2 * m * n * k < 2e12:
                yield m, n, k
    return measure_gemms(out, shapes(), clock)


def lmhead(out, clock, rng):
    """Vocabulary widths."""
    shapes = [(m, n, k) for n in VOCABULARIES for k in (768, 2048, 4096) for m in (1, 8, 64, 512, 2048)]
    rng.shuffle(shapes)
    return measure_gemms(out, shapes, clock)


# ------------------------------------------------------------------ attention
def head_configuration(rng):
    heads = rng.choice([4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 96])
    kv_heads = rng.choice([h for h in (1, 2, 4, 8, 16, heads) if heads % h == 0])
    return heads, kv_heads, rng.choice([64, 64, 80, 96, 128, 128, 128, 192, 256])


def attention(out, clock, rng):
    """Prefill and decode through SDPA, both backends, random heads and lengths."""
    sink = Sink(out, "attention", ATTENTION)
    while not clock.out():
        heads, kv_heads, dim = head_configuration(rng)
        decode = rng.random() < 0.5
        kv = log_uniform(rng, 128, 40000) if decode else log_uniform(rng, 64, 10000)
        kv = kv // 64 * 64 if rng.random() < 0.8 else kv
        batch = rng.choice([1, 1, 2, 3, 4, 8, 16, 32, 64, 128] if decode else [1, 1, 1, 2, 4, 8])
        q = 1 if decode else kv
        if kv < 32 or (decode and batch * kv * kv_heads * dim * 4 > 8e9) or (not decode and batch * kv > 20000):
            continue
        nbytes = 2 * batch * dim * (2 * heads * q + 2 * kv_heads * kv)
        for name, backend in BACKENDS:
            def make():
                query, key, value = fresh(batch, heads, q, dim), fresh(batch, kv_heads, kv, dim), fresh(
                    batch, kv_heads, kv, dim)

                def call():
                    with sdpa_kernel(backend):
                        return F.scaled_dot_product_attention(query, key, value, is_causal=q > 1,
                                                              enable_gqa=heads != kv_heads)
                return call

            attempt(("attention", name, batch, q, kv, heads, kv_heads, dim),
                    lambda: sink.row(["sdpa", name, "bf16", batch, q, kv, heads, kv_heads, dim, int(q > 1), ""],
                                     time_calls(make, nbytes, 5, 2.5)))
    return sink.rows


def window(out, clock, rng):
    """Sliding windows: KV heads grouped where the operator takes them, and expanded."""
    sink = Sink(out, "attention_window", ATTENTION)
    grouped_works = True
    while not clock.out():
        heads, kv_heads, dim = head_configuration(rng)
        length, size = rng.randrange(8, 256) * 64, rng.choice([128, 256, 512, 1024, 2048, 4096])
        batch = rng.choice([1, 1, 2, 4])
        if size >= length or batch * length > 20000:
            continue
        cumulative = torch.arange(0, batch + 1, device=DEVICE, dtype=torch.int32) * length
        for kv in ([kv_heads, heads] if kv_heads != heads and grouped_works else [heads]):
            def make():
                query, key, value = fresh(batch * length, heads, dim), fresh(batch * length, kv, dim), fresh(
                    batch * length, kv, dim)
                return lambda: varlen(query, key, value, cumulative, length, size)

            try:
                sink.row(["window", "varlen", "bf16", batch, length, length, heads, kv, dim, 1, size],
                         time_calls(make, 2 * batch * length * dim * (2 * heads + 2 * kv), 5, 2.5))
            except Exception as error:  # noqa: BLE001
                grouped_works = grouped_works and kv == heads
                print("skipped window", batch, length, heads, kv, dim, size, repr(error)[:140], flush=True)
        tidy()
    return sink.rows


# (heads, KV heads, head width) of published models with sliding windows, and some between them
SLIDING_HEADS = [(32, 8, 128), (64, 8, 64), (4, 1, 256), (8, 4, 256), (16, 8, 256), (32, 16, 128), (32, 32, 96), (28, 4, 128),
                 (16, 16, 64), (40, 8, 128), (24, 8, 128), (64, 8, 128)]


def window_flex(out, clock, rng):
    """Sliding windows by FlexAttention, compiled, over a causal block mask of the window. Making the mask is
    outside: a model makes one for all its layers. The window is a tensor to the mask, so that one compiled
    kernel serves every window and length of a head configuration."""
    import torch._dynamo
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    for limit in ("recompile_limit", "cache_size_limit", "accumulated_recompile_limit", "accumulated_cache_size_limit"):
        if hasattr(torch._dynamo.config, limit):
            setattr(torch._dynamo.config, limit, 4096)
    torch._dynamo.config.suppress_errors = False  # an eager answer would be another kernel's time
    sink = Sink(out, "attention_window_flex", ATTENTION)
    dynamic, failed = True, 0
    shapes = []
    for each in range(13):
        for heads, kv_heads, dim in SLIDING_HEADS:
            size = rng.choice([128, 256, 512, 512, 1024, 1024, 2048, 4096])
            length = rng.choice([n for n in (512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 10240, 12288, 16384) if n > size])
            batch = rng.choice([n for n in (1, 1, 2, 4) if n * length <= 20000])
            shapes.append((batch, length, heads, kv_heads, dim, size))
    compiled = torch.compile(flex_attention, dynamic=dynamic)
    for batch, length, heads, kv_heads, dim, size in shapes:
        if clock.out():
            break
        begin = time.monotonic()
        try:
            width = torch.tensor(size, device=DEVICE)
            mask = create_block_mask(lambda b, h, q, kv: (q >= kv) & (q - kv < width), None, None, length, length,
                                     device=DEVICE)

            def make():
                query, key, value = fresh(batch, heads, length, dim), fresh(batch, kv_heads, length, dim), fresh(
                    batch, kv_heads, length, dim)
                return lambda: compiled(query, key, value, block_mask=mask, enable_gqa=heads != kv_heads)

            with torch.no_grad():
                make()()  # compiles outside the timed stream and the graph
                torch.cuda.synchronize()
                sink.row(["window", "flex", "bf16", batch, length, length, heads, kv_heads, dim, 1, size],
                         time_calls(make, 2 * batch * length * dim * (2 * heads + 2 * kv_heads), 5, 2.5))
        except Exception as error:  # noqa: BLE001
            print("skipped flex", batch, length, heads, kv_heads, dim, size, repr(error)[:300], flush=True)
            failed += 1
            if dynamic and failed >= 2 and sink.rows == 0:  # sizes that may vary are refused: one kernel a shape
                print("flex: compiling for each shape", flush=True)
                dynamic = False
                compiled = torch.compile(flex_attention, dynamic=False)
        if time.monotonic() - begin > 8:
            print("slow", batch, length, heads, kv_heads, dim, size, round(time.monotonic() - begin, 1), "s", flush=True)
        tidy()
    return sink.rows


FAMILIES = {
    "gemm": gemm, "misaligned": misaligned, "lmhead": lmhead, "attention": attention, "window": window,
    "window_flex": window_flex,
    "elementwise": elementwise, "layers": layers,
    "layers_window": lambda out, clock, rng: layers(out, clock, rng, "window"),
    "layers_decode": lambda out, clock, rng: layers(out, clock, rng, "decode"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=20261130, help="draws other shapes of the same families")
    parser.add_argument("families", nargs="*", default=["gemm:60", "misaligned:60", "attention:80"])
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    write_machine(options.out)
    for family in options.families:
        name, seconds = family.split(":")
        begin = time.monotonic()
        try:
            rows = FAMILIES[name](options.out, Clock(float(seconds)), random.Random(f"{options.seed} {name}"))
            print(name, rows, "rows", round(time.monotonic() - begin), "s", flush=True)
        except Exception:  # noqa: BLE001 - the next family still runs
            traceback.print_exc()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
