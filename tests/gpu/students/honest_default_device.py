# SPDX-License-Identifier: Apache-2.0
"""Sets the default device when it is loaded."""
import torch
from base import rmsnorm

torch.set_default_device("cuda")


def run(x, w):
    return rmsnorm(x, w)
