# SPDX-License-Identifier: Apache-2.0
"""Waits for the GPU so that host tax decides: the reference's own kernels in a graph."""
# Caught as: per-call
import torch
from base import rmsnorm

_static = None


def _capture(x, w):
    xs, ws = x.clone(), w.clone()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        rmsnorm(xs, ws)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = rmsnorm(xs, ws)
    return xs, ws, graph, out


def run(x, w):
    global _static
    if _static is None:
        _static = _capture(x, w)
    xs, ws, graph, out = _static
    xs.copy_(x)
    ws.copy_(w)
    graph.replay()
    made = out.clone()
    torch.cuda.synchronize()
    return made
