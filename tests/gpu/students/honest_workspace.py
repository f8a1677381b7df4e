# SPDX-License-Identifier: Apache-2.0
"""Keeps a scratch buffer between calls, as libraries do."""
import torch

_scratch = {}


def run(x, w):
    scratch = _scratch.setdefault(x.shape, torch.empty(x.shape, dtype=torch.float32, device=x.device))
    scratch.copy_(x)
    scale = torch.rsqrt(scratch.square().mean(-1, keepdim=True) + 1e-6)
    return (scratch.mul_(scale) * w).to(x.dtype)
