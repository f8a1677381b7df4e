# SPDX-License-Identifier: Apache-2.0
"""The student: the same product on a weight that was laid out beforehand."""
import torch

_one = {}


def one(device):
    """A scale of 1."""
    if device not in _one:
        _one[device] = torch.ones((), device=device)
    return _one[device]


def matmul(x, weight_t):
    """out = x @ weight_t.t(), bf16. x: [m, k], weight_t: [n, k], both row-major, e4m3."""
    scale = one(x.device)
    return torch._scaled_mm(x, weight_t.t(), scale_a=scale, scale_b=scale, out_dtype=torch.bfloat16)
