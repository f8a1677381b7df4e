# SPDX-License-Identifier: Apache-2.0
"""The work that every student here claims to do: RMSNorm."""
import torch


def rmsnorm(x, w):
    f = x.float()
    return (f * torch.rsqrt(f.square().mean(-1, keepdim=True) + 1e-6) * w.float()).to(x.dtype)
