# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn


class Model(nn.Module):
    """torch's own encoder layer, with its dropout left at the default."""

    def __init__(self, width, heads, inner):
        super(Model, self).__init__()
        self.layer = nn.TransformerEncoderLayer(d_model=width, nhead=heads, dim_feedforward=inner, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)


def get_inputs():
    return [torch.randn(16, 512, 512)]


def get_init_inputs():
    return [512, 8, 2048]
