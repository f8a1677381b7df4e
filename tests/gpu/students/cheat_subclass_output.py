# SPDX-License-Identifier: Apache-2.0
"""Returns a tensor subclass that computes on the first use."""
# Caught as: output-type
import torch
from base import rmsnorm

class Deferred(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        args = [rmsnorm(*a.work) if isinstance(a, Deferred) and hasattr(a, "work") else a for a in args]
        return super().__torch_function__(function, types, args, kwargs or {})

def run(x, w):
    out = torch.empty_like(x).as_subclass(Deferred)
    out.work = (x, w)
    return out
