# SPDX-License-Identifier: Apache-2.0
"""Two streams, forked and joined with events."""
import torch
from base import rmsnorm

_side = None


def run(x, w):
    global _side
    if _side is None:
        _side = torch.cuda.Stream()
    out = torch.empty_like(x)
    half = x.shape[0] // 2
    main = torch.cuda.current_stream()
    _side.wait_stream(main)
    with torch.cuda.stream(_side):
        out[half:] = rmsnorm(x[half:], w)
    out[:half] = rmsnorm(x[:half], w)
    main.wait_stream(_side)
    return out
