# SPDX-License-Identifier: Apache-2.0
"""Leaves a dispatch mode active that fills an empty output once somebody copies it."""
# Caught as: mode-active wrong-output late-work
import torch
from base import rmsnorm
from torch.utils._python_dispatch import TorchDispatchMode

_due = {}


class Fill(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.copy_.default and len(args) > 1 and isinstance(args[1], torch.Tensor):
            given = _due.pop(args[1].data_ptr(), None)
            if given is not None:
                return func(args[0], rmsnorm(*given))
        return func(*args, **(kwargs or {}))


_mode = Fill()
_mode.__enter__()


def run(x, w):
    out = torch.empty_like(x)
    _due[out.data_ptr()] = (x, w)
    return out
