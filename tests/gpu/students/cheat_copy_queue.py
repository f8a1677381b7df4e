# SPDX-License-Identifier: Apache-2.0
"""Leaves a queue of copies on a stream of its own, which takes the memory's bandwidth from the reference."""
# Caught as: late-work interference
import torch
from base import rmsnorm

_side = torch.cuda.Stream()
_from, _to = (torch.empty(256 << 20, dtype=torch.uint8, device="cuda") for _ in range(2))
_calls = 0


def run(x, w):
    global _calls
    _calls += 1
    if _calls % 6 == 0:
        with torch.cuda.stream(_side):
            for _ in range(100):
                _to.copy_(_from, non_blocking=True)
    return rmsnorm(x, w)
