# SPDX-License-Identifier: Apache-2.0
"""The sum of squares through einsum."""
import torch


def run(x, w):
    f = x.float()
    scale = torch.rsqrt(torch.einsum("ij,ij->i", f, f)[:, None] / x.shape[1] + 1e-6)
    return (f * scale * w.float()).to(x.dtype)
