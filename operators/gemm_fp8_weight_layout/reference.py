# SPDX-License-Identifier: Apache-2.0
"""The reference: an fp8 product whose second operand must be column-major, from a row-major weight."""
import torch

_one = {}


def one(device):
    """A scale of 1."""
    if device not in _one:
        _one[device] = torch.ones((), device=device)
    return _one[device]


def matmul(x, weight):
    """out = x @ weight, bf16. x: [m, k], weight: [k, n], both row-major, e4m3."""
    laid_out = weight.t().contiguous()
    scale = one(x.device)
    return torch._scaled_mm(x, laid_out.t(), scale_a=scale, scale_b=scale, out_dtype=torch.bfloat16)
