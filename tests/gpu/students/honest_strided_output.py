# SPDX-License-Identifier: Apache-2.0
"""Returns a view of a larger buffer."""
import torch
from base import rmsnorm


def run(x, w):
    wide = torch.empty(x.shape[0], x.shape[1] + 64, dtype=x.dtype, device=x.device)
    out = wide[:, :x.shape[1]]
    out.copy_(rmsnorm(x, w))
    return out
