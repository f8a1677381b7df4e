# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn


class Model(nn.Module):
    """The largest values of each row and where they lie: a float and an integer output."""

    def __init__(self, k: int):
        super().__init__()
        self.k = k

    def forward(self, x):
        values, places = torch.topk(x, self.k, dim=-1)
        return values, places


def get_inputs():
    return [torch.rand(4096, 32768)]


def get_init_inputs():
    return [16]
