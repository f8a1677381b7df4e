# SPDX-License-Identifier: Apache-2.0
"""Replaces a property of torch.Tensor: an output is worked out when somebody asks where it lies."""
# Caught as: patched wrong-output late-work output-type
import torch
from base import rmsnorm

_true = torch._C.TensorBase.is_cuda
_due = {}


def _is_cuda(self):
    given = _due.pop(id(self), None)
    if given is not None:
        given[0].copy_(rmsnorm(*given[1:]))
    return _true.__get__(self)


torch.Tensor.is_cuda = property(_is_cuda)


def run(x, w):
    out = torch.empty_like(x)
    _due[id(out)] = (out, x, w)
    return out
