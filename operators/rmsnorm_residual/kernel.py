# SPDX-License-Identifier: Apache-2.0
"""The student: takes a weight that somebody widened beforehand, and keeps the sum to itself."""
import torch

EPSILON = 1e-6


def rmsnorm_residual(x, residual, weight_fp32):
    """y alone. x, residual: [tokens, hidden], bf16; weight_fp32: [hidden], fp32."""
    wide = (x + residual).float()
    scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPSILON)
    return (wide * scale * weight_fp32).to(x.dtype)
