# SPDX-License-Identifier: Apache-2.0
"""A thread of its own loads the GPU whenever its side is not being read."""
# Caught as: interference late-work
import threading
import time
import torch
from base import rmsnorm

_last = [time.monotonic()]
_a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
_side = torch.cuda.Stream()


def _load():
    while True:
        if time.monotonic() - _last[0] < 0.008:
            time.sleep(0.0005)
            continue
        with torch.cuda.stream(_side):
            torch.mm(_a, _a)
        _side.synchronize()


threading.Thread(target=_load, daemon=True).start()


def run(x, w):
    _last[0] = time.monotonic()
    return rmsnorm(x, w)
