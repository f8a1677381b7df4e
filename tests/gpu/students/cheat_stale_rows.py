# SPDX-License-Identifier: Apache-2.0
"""Writes every second row, into an output that it keeps."""
# Caught as: wrong-output
import torch
from base import rmsnorm
_out = None

def run(x, w):
    global _out
    if _out is None:
        _out = rmsnorm(x, w)
    _out[::2] = rmsnorm(x[::2], w)
    return _out
