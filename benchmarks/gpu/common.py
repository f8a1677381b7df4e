# SPDX-License-Identifier: Apache-2.0
"""Kernels and small helpers that the GPU benchmarks share."""
import json
import os
import statistics

import torch

DEVICE = "cuda"


def memory_kernel(microseconds, sets=None, gbps=3.6e12):
    """Callables that stream about `microseconds` worth of memory: fresh inputs in rotation, fixed outputs."""
    elements = max(1024, int(microseconds * 1e-6 * gbps / 2 / 2))
    need = 3 * torch.cuda.get_device_properties(0).L2_cache_size
    sets = sets or max(2, min(200, -(-need // (4 * elements))))
    calls = []
    for _ in range(sets):
        x = torch.randn(elements, device=DEVICE, dtype=torch.bfloat16)
        y = torch.empty_like(x)
        calls.append(lambda x=x, y=y: torch.add(x, 1.0, out=y))
    return calls


def gemm(n=4096, sets=4):
    """Callables for an n-cubed bf16 product, inputs in rotation."""
    calls = []
    for _ in range(sets):
        a = torch.randn(n, n, device=DEVICE, dtype=torch.bfloat16)
        b = torch.randn(n, n, device=DEVICE, dtype=torch.bfloat16)
        c = torch.empty_like(a)
        calls.append(lambda a=a, b=b, c=c: torch.mm(a, b, out=c))
    return calls


def repeat(calls, count):
    """`count` callables, in rotation."""
    return [calls[i % len(calls)] for i in range(count)]


def window_calls(session, calls, target_ms=2.0, most=200):
    """How many calls make a pipelined window of about `target_ms`."""
    ms = statistics.median(session.pipelined(repeat(calls, 10)).ms for _ in range(3))
    return max(4, min(most, int(target_ms / ms)))


def pair(session, a, b, count, **options):
    """One comparison of two callables lists by interleaved pipelined windows."""
    sides = {0: repeat(a, count), 1: repeat(b, count), 2: repeat(a, count)}

    def window(side, _phase, _round):
        session.flush()
        return session.pipelined(sides[side])
    return session.compare(window, **options)[0]


def spread(ratios):
    """p50, p95 and largest |ratio - 1|."""
    off = sorted(abs(r - 1) for r in ratios)
    return {"median": statistics.median(off), "p95": off[min(len(off) - 1, int(0.95 * len(off)))], "max": off[-1],
            "n": len(off)}


class Results:
    """Results that are on disk as soon as they are known."""

    def __init__(self, path, **header):
        self.path, self.data = path, dict(header)
        self.write()

    def put(self, key, value):
        self.data[key] = value
        self.write()

    def write(self):
        os.makedirs(os.path.dirname(os.path.abspath(self.path)), exist_ok=True)
        with open(self.path + ".part", "w", encoding="utf-8") as out:
            json.dump(self.data, out, indent=1)
            out.write("\n")
        os.replace(self.path + ".part", self.path)
