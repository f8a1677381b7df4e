# SPDX-License-Identifier: Apache-2.0
"""The calls of a submission: how PyTorch runs each operation on buffers of its own, and the row that says so."""

import inspect

import torch
import torch.nn.functional as functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from . import submit_shapes

_BACKENDS = (("flash", SDPBackend.FLASH_ATTENTION), ("cudnn", SDPBackend.CUDNN_ATTENTION))
_ATTENTION = ["op", "backend", "dtype", "batch", "q_len", "kv_len", "heads", "kv_heads", "head_dim", "causal", "window"]

# A file's tables: an operation's columns before the reading's.
TABLES = {
    "gemm": ["op", "dtype", "m", "n", "k"],
    "gemm_fp8": ["op", "dtype", "scaling", "m", "n", "k"],
    "attention": _ATTENTION,
    "grouped_gemm": ["op", "dtype", "part", "tokens", "hidden", "inter", "topk", "experts", "distribution", "active", "max_rows"],
    "elementwise": ["op", "impl", "dtype", "rows", "cols"],
}


class Call:
    """One row to measure: its table, its cells, `make()` for a callable on buffers of its own, and their bytes."""

    def __init__(self, table, cells, make, nbytes):
        self.table, self.cells, self.make, self.nbytes = table, cells, make, nbytes


def _fresh(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16) * 0.1


def _gemm(shape):
    m, n, k = shape["m"], shape["n"], shape["k"]

    def make():
        x, w, y = _fresh(m, k), _fresh(n, k), torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        return lambda: torch.mm(x, w.t(), out=y)

    yield Call("gemm", ["linear", "bf16", m, n, k], make, 2 * (m * k + n * k + m * n))


def _gemm_fp8(shape):
    m, n, k = shape["m"], shape["n"], shape["k"]
    for scaling in ("tensor", "row"):
        def make(by_row=scaling == "row"):
            x, w = (_fresh(*size).to(torch.float8_e4m3fn) for size in ((m, k), (n, k)))
            of_x, of_w = (((m, 1), (1, n)) if by_row else ((), ()))
            scale_x, scale_w = (torch.ones(size, device="cuda", dtype=torch.float32) for size in (of_x, of_w))
            return lambda: torch._scaled_mm(x, w.t(), scale_a=scale_x, scale_b=scale_w, out_dtype=torch.bfloat16)

        yield Call("gemm_fp8", ["scaled_mm", "fp8_e4m3", scaling, m, n, k], make, m * k + n * k + 2 * m * n)


def _attention(shape):
    batch, q_len, kv_len = shape["batch"], shape["q_len"], shape["kv_len"]
    heads, kv_heads, dim = shape["heads"], shape["kv_heads"], shape["head_dim"]
    for name, backend in _BACKENDS:
        def make(chosen=backend):
            query = _fresh(batch, heads, q_len, dim)
            key, value = _fresh(batch, kv_heads, kv_len, dim), _fresh(batch, kv_heads, kv_len, dim)

            def call():
                with sdpa_kernel(chosen):
                    return functional.scaled_dot_product_attention(query, key, value, is_causal=q_len > 1,
                                                                   enable_gqa=heads != kv_heads)
            return call

        yield Call("attention", ["sdpa", name, "bf16", *(shape[c] for c in _ATTENTION[3:])], make,
                   2 * batch * dim * (2 * heads * q_len + 2 * kv_heads * kv_len))


def _window(shape):
    from torch.nn.attention.varlen import varlen_attn
    length, dim, window = shape["q_len"], shape["head_dim"], shape["window"]
    heads, kv_heads = shape["heads"], shape["kv_heads"]
    extra = {}
    if heads != kv_heads:
        if "enable_gqa" in inspect.signature(varlen_attn).parameters:
            extra["enable_gqa"] = True
        else:
            kv_heads = heads

    def make():
        cumulative = torch.arange(0, 2, device="cuda", dtype=torch.int32) * length
        query, key, value = _fresh(length, heads, dim), _fresh(length, kv_heads, dim), _fresh(length, kv_heads, dim)
        return lambda: varlen_attn(query, key, value, cumulative, cumulative, length, length, window_size=(window - 1, 0), **extra)

    cells = {**shape, "kv_heads": kv_heads}
    yield Call("attention", ["window", "varlen", "bf16", *(cells[c] for c in _ATTENTION[3:])], make,
               2 * length * dim * (2 * heads + 2 * kv_heads))


def _grouped(shape):
    rows = submit_shapes.loads(shape)
    hidden, inter, experts = shape["hidden"], shape["inter"], shape["experts"]
    counts = [sum(1 for r in rows if r), max(rows)]
    for part, n, k in (("gate_up", 2 * inter, hidden), ("down", hidden, inter)):
        def make(n=n, k=k):
            x, w = _fresh(sum(rows), k), _fresh(experts, n, k)
            ends = torch.tensor(rows, device="cuda", dtype=torch.int32).cumsum(0).to(torch.int32)
            return lambda: torch._grouped_mm(x, w.transpose(-2, -1), offs=ends)

        yield Call("grouped_gemm", ["grouped_mm", "bf16", part, shape["tokens"], hidden, inter, shape["topk"], experts,
                                    shape["distribution"], *counts], make, 2 * (sum(rows) * (k + n) + counts[0] * n * k))


def _elementwise(shape):
    rows, cols = shape["rows"], shape["cols"]

    def norm():
        x, weight = _fresh(rows, cols), _fresh(cols)
        return lambda: functional.rms_norm(x, (cols,), weight, 1e-6)

    def add():
        x, y, z = _fresh(rows, cols), _fresh(rows, cols), _fresh(rows, cols)
        return lambda: torch.add(x, y, out=z)

    yield Call("elementwise", [shape["op"], "aten", "bf16", rows, cols], norm if shape["op"] == "rmsnorm" else add,
               (4 if shape["op"] == "rmsnorm" else 6) * rows * cols)


_CALLS = {"gemm": _gemm, "gemm_fp8": _gemm_fp8, "prefill": _attention, "decode": _attention, "window": _window,
          "grouped_gemm": _grouped, "elementwise": _elementwise}


def of(operation, shape):
    """The calls that measure one shape of the design: backends, ways of scaling and both parts of an expert are rows of their own."""
    return list(_CALLS[operation](shape))
