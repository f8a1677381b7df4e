# SPDX-License-Identifier: Apache-2.0
"""Computes in 8 bits."""
# Caught as: wrong-output
import torch
from base import rmsnorm

def run(x, w):
    return rmsnorm(x, w).to(torch.float8_e4m3fn).to(x.dtype)
