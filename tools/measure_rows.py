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
import csv
import inspect
import json
import math
import os
import random
import subprocess
import time
import traceback

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

DEVICE = torch.device("cuda")
DTYPE = torch.bfloat16
BACKENDS = (("flash", SDPBackend.FLASH_ATTENTION), ("cudnn", SDPBackend.CUDNN_ATTENTION))
TIMES = ["ms", "ms_min", "ms_max", "calls"]
ATTENTION = ["op", "backend", "dtype", "batch", "q_len", "kv_len", "heads", "kv_heads", "head_dim", "causal", "window"]
LAYER = ["name", "backend", "hidden_dim", "num_heads", "num_kv_heads", "head_dim", "ffn_dim", "seq_len", "batch_size",
         "use_qk_norm", "window_size"]
# (hidden, heads, KV heads, head width, FFN) of published models: the shapes people ask about
MODELS = [(1536, 8, 1, 256, 6144), (5376, 32, 16, 256, 21504), (2048, 16, 2, 128, 8192), (4096, 32, 8, 128, 14336),
          (2048, 32, 4, 64, 8192), (1024, 8, 1, 128, 4096), (3072, 24, 8, 128, 8192), (5120, 40, 8, 128, 17408),
          (3584, 28, 4, 128, 18944), (2560, 32, 8, 128, 9728), (2304, 8, 4, 256, 9216), (3072, 32, 32, 96, 8192),
          (8192, 64, 8, 128, 28672), (2048, 32, 8, 64, 8192)]
VOCABULARIES = [32000, 32064, 49152, 50257, 50264, 50304, 50432, 51200, 65024, 100277, 100352, 128256, 131072, 151936,
                152064, 200064, 256000, 262144]


class Sink:
    """A CSV file that is flushed row by row, so that a stopped run loses nothing."""

    def __init__(self, out, name, columns):
        self.file = open(os.path.join(out, name + ".csv"), "a", newline="")
        self.writer = csv.writer(self.file)
        if self.file.tell() == 0:
            self.writer.writerow(columns + TIMES)
        self.rows = 0

    def row(self, values, times):
        self.writer.writerow([*values, *times])
        self.file.flush()
        self.rows += 1


class Clock:
    """Says when a family's seconds are used up."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    def out(self):
        return time.monotonic() > self.end


def time_calls(make, nbytes, replays=7, target_ms=4.0):
    """make() gives a zero-argument callable on a fresh buffer set of about `nbytes`. -> (median, min, max, R)."""
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    sets = max(2, min(64, math.ceil(2.5 * l2 / max(nbytes, 1))))
    while sets > 2 and sets * nbytes > 40e9:
        sets -= 1
    calls = [make() for _ in range(sets)]
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(stream):
        for call in calls[:3]:
            call()
        stream.synchronize()
        begin.record(stream)
        for call in calls[:3]:
            call()
        end.record(stream)
        stream.synchronize()
        estimate = max(begin.elapsed_time(end) / 3, 1e-3)
    repeats = max(sets, min(400, math.ceil(target_ms / estimate)))
    repeats = math.ceil(repeats / sets) * sets
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(repeats):
            calls[i % sets]()
    graph.replay()
    torch.cuda.synchronize()
    times = []
    for _ in range(replays):
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / repeats)
    del graph
    times.sort()
    return times[len(times) // 2], times[0], times[-1], repeats


def fresh(*shape):
    return torch.randn(*shape, device=DEVICE, dtype=DTYPE) * 0.1


def tidy():
    if torch.cuda.memory_reserved() > 60e9:
        torch.cuda.empty_cache()


def attempt(label, action):
    """Runs one measurement; a refusal (a head width a backend lacks, say) is printed and does not stop the run."""
    try:
        action()
    except Exception as error:  # noqa: BLE001 - whatever a kernel refuses with
        print("skipped", *label, repr(error)[:140], flush=True)
    tidy()


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


def log_uniform(rng, low, high):
    return int(round(2 ** rng.uniform(math.log2(low), math.log2(high))))


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


def varlen(query, key, value, cumulative, length, window):
    """Variable-length flash attention with a sliding window; grouped KV heads where this PyTorch takes them."""
    from torch.nn.attention.varlen import varlen_attn
    extra = {}
    if query.shape[1] != key.shape[1] and "enable_gqa" in inspect.signature(varlen_attn).parameters:
        extra["enable_gqa"] = True
    return varlen_attn(query, key, value, cumulative, cumulative, length, length, window_size=(window - 1, 0), **extra)


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


# ------------------------------------------------------------------ element-wise, fused by Inductor
def rms(x, weight, eps: float = 1e-6):
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)).to(x.dtype) * weight


def add_rms(x, residual, weight):
    total = x + residual
    return total, rms(total, weight)


def swiglu(gate_up):
    gate, up = gate_up.chunk(2, -1)
    return F.silu(gate) * up


def geglu(gate_up):
    gate, up = gate_up.chunk(2, -1)
    return F.gelu(gate, approximate="tanh") * up


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def rope(q, k, cos, sin):
    return rotate(q, cos, sin), rotate(k, cos, sin)


def qknorm_rope(q, k, wq, wk, cos, sin):
    return rotate(rms(q, wq), cos, sin), rotate(rms(k, wk), cos, sin)


torch._dynamo.config.recompile_limit = 4000
torch._dynamo.config.accumulated_recompile_limit = 100000
FUSED = {f.__name__: torch.compile(f, dynamic=False) for f in (rms, add_rms, swiglu, geglu, rope, qknorm_rope)}


def elementwise(out, clock, rng):
    """RMSNorm, residual + RMSNorm, SwiGLU, GeGLU, RoPE and QK-norm + RoPE over 1 to 16k tokens."""
    sink = Sink(out, "elementwise", ["op", "impl", "dtype", "rows", "cols", "heads", "kv_heads", "head_dim"])
    while not clock.out():
        rows = rng.choice([1, 4, 16, 64, 256, 512, 1024, 2048, 4096, 8192, 16384])
        cols = rng.choice([1024, 1536, 2048, 2304, 3072, 4096, 5376, 8192])
        width = rng.choice([4096, 6144, 8192, 9728, 14336, 18944])
        heads, kv_heads, dim = rng.choice([(8, 1, 256), (32, 8, 128), (16, 2, 128), (32, 4, 64), (32, 32, 96),
                                           (40, 8, 128), (24, 8, 128)])
        op = rng.choice(["rmsnorm", "rmsnorm", "add_rmsnorm", "residual_add", "swiglu", "geglu", "rope", "qknorm_rope"])
        shape, heads_columns, impl = (rows, cols), ("", "", ""), "inductor"
        if op == "rmsnorm":
            impl = rng.choice(["aten", "inductor"])
            nbytes = 4 * rows * cols

            def make():
                x, weight = fresh(rows, cols), fresh(cols)
                if impl == "aten":
                    return lambda: F.rms_norm(x, (cols,), weight, 1e-6)
                return lambda: FUSED["rms"](x, weight)
        elif op == "add_rmsnorm":
            nbytes = 8 * rows * cols

            def make():
                x, y, weight = fresh(rows, cols), fresh(rows, cols), fresh(cols)
                return lambda: FUSED["add_rms"](x, y, weight)
        elif op == "residual_add":
            impl, nbytes = "aten", 6 * rows * cols

            def make():
                x, y, z = fresh(rows, cols), fresh(rows, cols), fresh(rows, cols)
                return lambda: torch.add(x, y, out=z)
        elif op in ("swiglu", "geglu"):
            shape, nbytes = (rows, width), 6 * rows * width

            def make():
                x = fresh(rows, 2 * width)
                return lambda: FUSED[op](x)
        else:
            shape, heads_columns = (rows, ""), (heads, kv_heads, dim)
            nbytes = 4 * rows * (heads + kv_heads) * dim

            def make():
                packed = fresh(1, rows, heads + 2 * kv_heads, dim)
                q, k, _ = (t.transpose(1, 2) for t in packed.split([heads, kv_heads, kv_heads], 2))
                cos, sin, wq, wk = fresh(rows, dim // 2), fresh(rows, dim // 2), fresh(dim), fresh(dim)
                if op == "rope":
                    return lambda: FUSED["rope"](q, k, cos, sin)
                return lambda: FUSED["qknorm_rope"](q, k, wq, wk, cos, sin)
        attempt((op, *shape), lambda: sink.row([op, impl, "bf16", *shape, *heads_columns],
                                               time_calls(make, nbytes, 5, 2.0)))
    return sink.rows


# ------------------------------------------------------------------ whole decoder layers
def random_layer(rng, kind):
    """-> (hidden, heads, KV heads, head width, FFN, length, batch, QK norm, window or 0)"""
    if rng.random() < 0.4:
        hidden, heads, kv_heads, dim, ffn = rng.choice(MODELS)
    else:
        dim = rng.choice([64, 96, 128, 128, 256])
        heads = rng.choice([8, 12, 16, 20, 24, 32, 40])
        kv_heads = rng.choice([h for h in (1, 2, 4, 8, heads) if heads % h == 0])
        hidden = rng.choice([heads * dim, rng.randrange(8, 56) * 128, rng.randrange(16, 104) * 64])
        ffn = int(hidden * rng.choice([2.6667, 3, 3.5, 4, 5])) // 64 * 64
    if kind == "decode":
        length, batch, size = rng.choice([512, 1024, 2048, 4096, 8192, 16384]), rng.choice([1, 2, 4, 8, 16, 32, 64]), 0
    elif kind == "window":
        length, batch = rng.choice([1024, 1536, 2048, 4096, 8192]), rng.choice([1, 1, 1, 2])
        size = rng.choice([s for s in (128, 256, 512, 1024, 2048) if s < length])
    else:
        length, batch, size = rng.choice([256, 512, 1024, 2048, 3072, 4096]), rng.choice([1, 1, 1, 2, 4]), 0
    return hidden, heads, kv_heads, dim, ffn, length, batch, rng.random() < 0.5, size


def layer_call(shape, kind, backend):
    hidden, heads, kv_heads, dim, ffn, length, batch, qk_norm, size = shape
    tokens = 1 if kind == "decode" else length
    w_qkv, w_out = fresh((heads + 2 * kv_heads) * dim, hidden).t(), fresh(hidden, heads * dim).t()
    w_gate_up, w_down = fresh(2 * ffn, hidden).t(), fresh(hidden, ffn).t()
    n1, n2, nq, nk = fresh(hidden), fresh(hidden), fresh(dim), fresh(dim)
    cos, sin, x = fresh(tokens, dim // 2), fresh(tokens, dim // 2), fresh(batch, tokens, hidden)
    if kind == "decode":
        keys, values = fresh(batch, kv_heads, length, dim), fresh(batch, kv_heads, length, dim)
    cumulative = torch.arange(0, batch + 1, device=DEVICE, dtype=torch.int32) * length

    def attend(q, k, v):
        if kind == "window":
            q, k, v = (t.transpose(1, 2).reshape(batch * length, -1, dim) for t in (q, k, v))
            try:
                mixed = varlen(q, k, v, cumulative, length, size)
            except Exception:  # noqa: BLE001 - this operator wants as many KV heads as query heads
                group = heads // kv_heads
                mixed = varlen(q, k.repeat_interleave(group, 1), v.repeat_interleave(group, 1), cumulative, length, size)
            return mixed.reshape(batch * length, heads * dim)
        if kind == "decode":
            keys[:, :, -1:].copy_(k)
            values[:, :, -1:].copy_(v)
            k, v = keys, values
        with sdpa_kernel(backend):
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=kind != "decode", enable_gqa=heads != kv_heads)
        return mixed.transpose(1, 2).reshape(batch * tokens, heads * dim)

    def call():
        h = FUSED["rms"](x, n1)
        packed = torch.mm(h.view(batch * tokens, hidden), w_qkv).view(batch, tokens, heads + 2 * kv_heads, dim)
        q, k, v = (t.transpose(1, 2) for t in packed.split([heads, kv_heads, kv_heads], 2))
        q, k = FUSED["qknorm_rope"](q, k, nq, nk, cos, sin) if qk_norm else FUSED["rope"](q, k, cos, sin)
        mixed = torch.mm(attend(q, k, v), w_out).view(batch, tokens, hidden)
        y, h = FUSED["add_rms"](x, mixed, n2)
        inner = FUSED["swiglu"](torch.mm(h.view(batch * tokens, hidden), w_gate_up))
        return y + torch.mm(inner, w_down).view(batch, tokens, hidden)
    return call


def layers(out, clock, rng, kind="prefill"):
    sink = Sink(out, {"prefill": "layers"}.get(kind, "layers_" + kind), LAYER)
    prefix = f"{kind}_{rng.randrange(10 ** 6)}"
    count = 0
    while not clock.out():
        shape = random_layer(rng, kind)
        hidden, heads, kv_heads, dim, ffn, length, batch, qk_norm, size = shape
        cache = 4 * batch * length * kv_heads * dim
        if hidden > 8192 or (kind == "decode" and cache > 6e9) or (kind != "decode" and batch * length > 8192):
            continue
        count += 1
        nbytes = 2 * hidden * ((heads + 2 * kv_heads) * dim + heads * dim + 3 * ffn) + (cache if kind == "decode" else 0)
        for name, backend in ((("varlen", None),) if kind == "window" else BACKENDS):
            attempt((kind, name, *shape), lambda: sink.row(
                [f"{prefix}_{count}", name, hidden, heads, kv_heads, dim, ffn, length, batch, int(qk_norm), size or ""],
                time_calls(lambda: layer_call(shape, kind, backend), nbytes, 5, 5.0)))
    return sink.rows


FAMILIES = {
    "gemm": gemm, "misaligned": misaligned, "lmhead": lmhead, "attention": attention, "window": window,
    "elementwise": elementwise, "layers": layers,
    "layers_window": lambda out, clock, rng: layers(out, clock, rng, "window"),
    "layers_decode": lambda out, clock, rng: layers(out, clock, rng, "decode"),
}


def machine():
    card = torch.cuda.get_device_properties(0)
    query = "name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.limit,temperature.gpu"
    smi = subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv"], capture_output=True, text=True).stdout
    return {"gpu": card.name, "sms": card.multi_processor_count, "l2_bytes": card.L2_cache_size,
            "torch": torch.__version__, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version(), "smi": smi}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=20261130, help="draws other shapes of the same families")
    parser.add_argument("families", nargs="*", default=["gemm:60", "misaligned:60", "attention:80"])
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "machine.json"), "w") as file:
        json.dump(machine(), file, indent=1)
        file.write("\n")
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
