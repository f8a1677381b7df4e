# SPDX-License-Identifier: Apache-2.0
"""Leaves the small quarter of a heavy-tailed output at zero."""
# Caught as: wrong-output
# Workload: heavy
import torch
from base import rmsnorm


def run(x, w):
    f = x[:, :3072].float()
    out = torch.zeros_like(x)
    scale = torch.rsqrt(x.float().square().mean(-1, keepdim=True) + 1e-6)
    out[:, :3072] = (f * scale * w[:3072].float()).to(x.dtype)
    return out
