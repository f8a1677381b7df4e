# SPDX-License-Identifier: Apache-2.0
"""An nn.Module's method."""
import torch
from base import rmsnorm


class Norm(torch.nn.Module):
    def forward(self, x, w):
        return rmsnorm(x, w)


_norm = Norm()


def run(x, w):
    with torch.no_grad():
        return _norm(x, w)
