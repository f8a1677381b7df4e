# SPDX-License-Identifier: Apache-2.0
"""Writes its output once and returns it for ever."""
# Caught as: wrong-output
from base import rmsnorm
_out = None

def run(x, w):
    global _out
    if _out is None:
        _out = rmsnorm(x, w)
    return _out
