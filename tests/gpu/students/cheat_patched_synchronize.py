# SPDX-License-Identifier: Apache-2.0
"""Makes torch.cuda.synchronize return at once."""
# Caught as: patched
import torch
from base import rmsnorm
torch.cuda.synchronize = lambda device=None: None

def run(x, w):
    return rmsnorm(x, w)
