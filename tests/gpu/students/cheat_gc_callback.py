# SPDX-License-Identifier: Apache-2.0
"""The garbage collector's own hook fills in the outputs."""
# Caught as: wrong-output late-work
import gc
import torch
from base import rmsnorm

_todo, _busy = [], []


def _fill(phase, _info):
    if phase == "stop" and len(_todo) >= 8 and not _busy:
        _busy.append(1)
        for x, w, out in _todo:
            out.copy_(rmsnorm(x, w))
        del _todo[:], _busy[:]


gc.callbacks.append(_fill)
gc.set_threshold(200, 1, 1)


def run(x, w):
    out = torch.empty_like(x)
    _todo.append((x, w, out))
    return out
