# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn


class Model(nn.Module):
    """A running sum along one dimension under a boolean mask."""

    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x, mask):
        return torch.cumsum(x * mask, dim=self.dim)


shape = (4096, 16384)


def get_inputs():
    return [torch.randn(*shape), torch.randint(0, 2, shape).bool()]


def get_init_inputs():
    return [1]
