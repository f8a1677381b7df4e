# SPDX-License-Identifier: Apache-2.0
"""Keeps results by address and version counter: fooled by no write that PyTorch sees."""
# Caught as: wrong-output
from base import rmsnorm
_kept = {}

def run(x, w):
    key = (x.data_ptr(), x._version, w._version)
    if key not in _kept:
        _kept[key] = rmsnorm(x, w)
    return _kept[key]
