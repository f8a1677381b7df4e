# SPDX-License-Identifier: Apache-2.0
"""The reference: residual add, RMSNorm and scale, written out in PyTorch."""
import torch

EPSILON = 1e-6


def rmsnorm_residual(x, residual, weight):
    """y and the sum that the next layer reads. x, residual: [tokens, hidden], bf16; weight: [hidden], bf16."""
    residual_out = x + residual
    wide = residual_out.float()
    scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPSILON)
    return (wide * scale * weight.float()).to(x.dtype), residual_out
