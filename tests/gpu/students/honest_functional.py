# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own rms_norm."""
import torch


def run(x, w):
    return torch.nn.functional.rms_norm(x, (x.shape[-1],), w, 1e-6)
