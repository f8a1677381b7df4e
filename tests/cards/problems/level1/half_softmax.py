# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn


class Model(nn.Module):
    """Softmax in half precision; the inputs are made in it."""

    def __init__(self):
        super().__init__()
        self.act = nn.Softmax(dim=-1)

    def forward(self, x):
        return self.act(x)


def get_inputs():
    return [torch.randn(16384, 8192, dtype=torch.float16)]


def get_init_inputs():
    return []
