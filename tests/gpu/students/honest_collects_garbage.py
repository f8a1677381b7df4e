# SPDX-License-Identifier: Apache-2.0
"""Collects garbage as it goes, with cycles to collect."""
import gc
from base import rmsnorm

gc.set_threshold(100)
_calls = 0


def run(x, w):
    global _calls
    _calls += 1
    ring = [x]
    ring.append(ring)
    if _calls % 5 == 0:
        gc.collect(0)
    return rmsnorm(x, w)
