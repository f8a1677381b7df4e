# SPDX-License-Identifier: Apache-2.0
"""Element-wise operations as a compiler fuses them, and whole decoder layers made of them."""
import torch
import torch.nn.functional as F
from torch.nn.attention import sdpa_kernel

from measure_common import BACKENDS, DEVICE, MODELS, Sink, attempt, fresh, time_calls, varlen

LAYER = ["name", "backend", "hidden_dim", "num_heads", "num_kv_heads", "head_dim", "ffn_dim", "seq_len", "batch_size",
         "use_qk_norm", "window_size"]


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
