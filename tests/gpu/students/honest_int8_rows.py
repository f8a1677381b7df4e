# SPDX-License-Identifier: Apache-2.0
"""Its input in eight bits a row: less exact than the reference, and said so; no part of the output is lost."""
import torch


def run(x, w):
    f = x.float()
    step = f.abs().amax(-1, keepdim=True) / 127
    f = torch.round(f / step) * step
    return (f * torch.rsqrt(f.square().mean(-1, keepdim=True) + 1e-6) * w.float()).to(x.dtype)
