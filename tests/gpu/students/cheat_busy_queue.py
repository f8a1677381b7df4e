# SPDX-License-Identifier: Apache-2.0
"""Leaves kernels of many milliseconds on a stream of its own, so that they are still there in the reference's window."""
# Caught as: late-work interference
import torch
from base import rmsnorm

_side = torch.cuda.Stream()
_calls = 0


def run(x, w):
    global _calls
    _calls += 1
    if _calls % 6 == 0:
        with torch.cuda.stream(_side):
            torch.cuda._sleep(60_000_000)
    return rmsnorm(x, w)
