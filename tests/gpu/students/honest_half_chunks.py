# SPDX-License-Identifier: Apache-2.0
"""Row blocks, one after the other."""
import torch
from base import rmsnorm


def run(x, w):
    return torch.cat([rmsnorm(part, w) for part in x.chunk(4)])
