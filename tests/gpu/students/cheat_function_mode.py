# SPDX-License-Identifier: Apache-2.0
"""Leaves a function mode active that works an output out when its properties are read."""
# Caught as: mode-active wrong-output late-work
import torch
from base import rmsnorm
from torch.overrides import TorchFunctionMode

_due = {}


class Fill(TorchFunctionMode):
    busy = False

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if not Fill.busy and args and id(args[0]) in _due and "shape" in str(func):
            Fill.busy = True
            out, x, w = _due.pop(id(args[0]))
            out.copy_(rmsnorm(x, w))
            Fill.busy = False
        return func(*args, **(kwargs or {}))


_mode = Fill()
_mode.__enter__()


def run(x, w):
    out = torch.empty_like(x)
    _due[id(out)] = (out, x, w)
    return out
