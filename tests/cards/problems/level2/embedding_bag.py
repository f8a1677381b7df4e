# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn


class Model(nn.Module):
    """Rows of a large table, summed by offsets: all inputs are integers."""

    def __init__(self, rows, width):
        super().__init__()
        self.table = nn.Embedding(rows, width)

    def forward(self, tokens):
        return self.table(tokens).sum(dim=1)


ROWS, WIDTH = 200000, 512


def get_inputs():
    return [torch.randint(0, ROWS, (8192, 64))]


def get_init_inputs():
    return [ROWS, WIDTH]
