# SPDX-License-Identifier: Apache-2.0
"""Returns its output in a list, transposed in memory."""
import torch
from base import rmsnorm


def run(x, w):
    out = torch.empty(x.shape[1], x.shape[0], dtype=x.dtype, device=x.device).t()
    return [out.copy_(rmsnorm(x, w))]
