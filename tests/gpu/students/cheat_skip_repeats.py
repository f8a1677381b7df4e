# SPDX-License-Identifier: Apache-2.0
"""Skips inputs that it has seen, believing that they repeat."""
# Caught as: wrong-output
from base import rmsnorm
_seen = {}

def run(x, w):
    key = (x.data_ptr(), tuple(x.shape))
    if key in _seen:
        return _seen[key].clone()
    _seen[key] = rmsnorm(x, w)
    return _seen[key]
