# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn


class Model(nn.Module):
    """A learned bias and two buffers, one of them an integer table."""

    def __init__(self, features, groups):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features) * 0.02)
        self.register_buffer("scale", torch.rand(groups) + 0.5)
        self.register_buffer("group_of", torch.randint(0, groups, (features,)))

    def forward(self, x):
        return torch.clamp((x + self.bias) * self.scale[self.group_of], -2.0, 2.0)


def get_inputs():
    return [torch.randn(16384, 8192)]


def get_init_inputs():
    return [8192, 64]
