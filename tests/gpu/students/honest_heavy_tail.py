# SPDX-License-Identifier: Apache-2.0
"""A heavy-tailed output through PyTorch's own function, and a rounding more."""
# Workload: heavy
import torch


def run(x, w):
    return torch.nn.functional.rms_norm(x, (x.shape[1],), None, 1e-6) * w
