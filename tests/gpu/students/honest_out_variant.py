# SPDX-License-Identifier: Apache-2.0
"""Writes into a preallocated fresh tensor with out=."""
import torch


def run(x, w):
    f = x.float()
    scale = torch.rsqrt(f.square().mean(-1, keepdim=True) + 1e-6)
    out = torch.empty_like(x)
    torch.mul((f * scale).to(x.dtype), w, out=out)
    return out
