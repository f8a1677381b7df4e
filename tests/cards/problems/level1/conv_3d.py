# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn


class Model(nn.Module):
    """A convolution in three dimensions with a bias."""

    def __init__(self, in_channels, out_channels, kernel_size, bias=True):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size, stride=2, padding=1, bias=bias)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.rand(8, 16, 32, 64, 64)]


def get_init_inputs():
    return [16, 32, 3]
