# SPDX-License-Identifier: Apache-2.0
"""Under inference_mode."""
import torch
from base import rmsnorm


@torch.inference_mode()
def run(x, w):
    return rmsnorm(x, w)
