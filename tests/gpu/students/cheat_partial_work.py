# SPDX-License-Identifier: Apache-2.0
"""Leaves the last row out."""
# Caught as: wrong-output
import torch
from base import rmsnorm

def run(x, w):
    out = torch.empty_like(x)
    out[:-1] = rmsnorm(x[:-1], w)
    return out
