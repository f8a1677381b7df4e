# SPDX-License-Identifier: Apache-2.0
"""Everything on a side stream, joined."""
import torch
from base import rmsnorm

_side = None


def run(x, w):
    global _side
    if _side is None:
        _side = torch.cuda.Stream()
    main = torch.cuda.current_stream()
    _side.wait_stream(main)
    with torch.cuda.stream(_side):
        out = rmsnorm(x, w)
    out.record_stream(main)
    main.wait_stream(_side)
    return out
