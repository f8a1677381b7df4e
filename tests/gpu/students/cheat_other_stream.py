# SPDX-License-Identifier: Apache-2.0
"""Does the work on a stream of its own and does not join it."""
# Caught as: late-work wrong-output
import torch
from base import rmsnorm
_side = None

def run(x, w):
    global _side
    if _side is None:
        _side = torch.cuda.Stream()
    with torch.cuda.stream(_side):
        return rmsnorm(x, w)
