# SPDX-License-Identifier: Apache-2.0
"""Reads the clock and prints, as debugging code does."""
import sys
import time
from base import rmsnorm

_calls = 0


def run(x, w):
    global _calls
    _calls += 1
    if _calls == 1:
        print("first call at", time.perf_counter(), file=sys.stderr)
    return rmsnorm(x, w)
