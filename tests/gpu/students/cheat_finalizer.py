# SPDX-License-Identifier: Apache-2.0
"""Hangs the work on the output: it is done when the output is let go."""
# Caught as: wrong-output late-work
import torch
from base import rmsnorm


class Work:
    def __init__(self, *given):
        self.given = given

    def __del__(self):
        out, x, w = self.given
        out.copy_(rmsnorm(x, w))


def run(x, w):
    out = torch.empty_like(x)
    out.work = Work(out.detach(), x, w)
    return out
