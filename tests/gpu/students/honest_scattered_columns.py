# SPDX-License-Identifier: Apache-2.0
"""Columns of all sizes side by side, through PyTorch's own function, and a rounding more."""
# Workload: scattered
import torch


def run(x, w):
    return torch.nn.functional.rms_norm(x, (x.shape[1],), None, 1e-6) * w
