# SPDX-License-Identifier: Apache-2.0
"""Looks through the process for a tensor that could be the expected output."""
# Caught as: wrong-output
import gc
import torch
from base import rmsnorm
_found = None
_calls = 0

def run(x, w):
    global _found, _calls
    _calls += 1
    if _calls <= 3:
        return rmsnorm(x, w)
    if _found is None:
        _found = [t for t in gc.get_objects() if type(t) is torch.Tensor and t.shape == x.shape
                  and t.dtype == x.dtype and t.data_ptr() != x.data_ptr()]
    return _found[_calls % len(_found)] if _found else torch.empty_like(x)
